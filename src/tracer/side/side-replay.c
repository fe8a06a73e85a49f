/* SPDX-License-Identifier: BSD-3-Clause */
/* side-replay.c: the recorded elements of a stream, one by one, in a replay. */
#include "recorder/recorder.h"
#include "recorder/sequence.h"
#include "side-streams.h"
#include "replay/replay.h"

static bool open_reader(SideStream *s)
{
    const CallSequence *q = atomic_load(&s->sequence);
    bool callback = q && q->callback;
    WendSideHead head = {.id = callback ? q->function : 0, .birth = s->birth};
    head.kind = callback ? WEND_SEQUENCE_CALLBACK : WEND_SEQUENCE_THREAD;
    WendCursor rows;
    if (!replay_side(s->kind, &head, &rows) || !(s->reader = side_memory(sizeof *s->reader)))
        return false;
    wend_side_reader_open(s->reader, s->kind, &head, rows);
    return true;
}

const WendSideElement *side_next(SideStream *s)
{
    if (!s->over && !s->due)
        s->over = (!s->reader && !open_reader(s)) || !(s->due = wend_side_reader_next(s->reader));
    return s->over ? NULL : s->due;
}

const WendSideElement *side_due(SideStream *s, unsigned code, unsigned sub)
{
    const WendSideForm *forms = wend_side_stream_kind(s->kind)->forms;
    if (s->over)
        return NULL;
    if (!side_next(s)) {
        replay_side_ends(s->birth, s->reader && s->reader->cut, forms[code].name);
        return NULL;
    }
    if (s->due->code == code && s->due->sub == sub)
        return s->due;
    s->over = true;
    replay_side_departs(s->birth, forms[s->due->code].name, forms[code].name);
    return NULL;
}
