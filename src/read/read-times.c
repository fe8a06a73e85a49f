/* SPDX-License-Identifier: BSD-3-Clause */
/* read-times.c: the time of every call. */
#include "config.h"

#include <math.h>

#include "lib/sides/sequence-times.h"
#include "read-private.h"

struct ReadTimes {
    WendSequenceTimes *times; /* NULL: there are none, or no more */
    gboolean polls;           /* the walk gives unsuccessful polls */
    gboolean damaged;
    gboolean known; /* TIME is that of the last call */
    WendCallTime time;
    gdouble tick, origin; /* the origin in seconds from the start of the run */
};

/* The start of the run, in nanoseconds since the epoch, as all worlds count it. */
static gint64 run_start(const WendProgram *p)
{
    g_autofree char *text =
        g_key_file_get_string(wend_program_world_meta(p, 0), "run", "start", NULL);
    gdouble seconds = text ? g_ascii_strtod(text, NULL) : 0;
    return seconds > 0 && seconds < 9e9 ? (gint64)(seconds * 1e9) : 0;
}

int read_times_new(WendRead *r, guint32 rank, guint32 sequence, gboolean polls, ReadTimes **times)
{
    GError *error = NULL;
    WendSequenceTimes *t = wend_sequence_times_new(r->program, rank, sequence, &error);
    if (error != NULL)
        return read_fail_error(r, error);
    *times = g_new0(ReadTimes, 1);
    (*times)->times = t;
    (*times)->polls = polls;
    if (t != NULL) {
        const WendDurationsHead *head = wend_sequence_times_head(t);
        gint64 origin;
        if (__builtin_sub_overflow(head->origin, run_start(r->program), &origin))
            origin = 0;
        (*times)->tick = head->tick;
        (*times)->origin = (gdouble)origin * 1e-9;
        (*times)->damaged = wend_sequence_times_damaged(t);
    }
    return WEND_READ_OK;
}

gboolean read_times_any(const ReadTimes *t)
{
    return t->times != NULL;
}

gdouble read_times_error(const ReadTimes *t)
{
    return t->times != NULL ? wend_sequence_times_head(t->times)->form.percent / 100.0 : 0;
}

void read_times_next(ReadTimes *t, const WendCall *call)
{
    t->known = FALSE;
    guint64 before = t->polls ? 0 : call->polls_before;
    for (guint64 i = 0; t->times != NULL && i <= before; i++) {
        t->known = wend_sequence_times_next(t->times, &t->time);
        if (!t->known) {
            t->damaged = wend_sequence_times_damaged(t->times);
            g_clear_pointer(&t->times, wend_sequence_times_free);
        }
    }
}

void read_times_free(ReadTimes *t)
{
    if (t == NULL)
        return;
    wend_sequence_times_free(t->times);
    g_free(t);
}

int read_times_get(WendRead *r, const ReadTimes *t, WendReadTime *time)
{
    if (t == NULL)
        return read_fail(r, WEND_READ_ERROR_USAGE, "the calls are read without their times");
    if (t->damaged)
        return read_fail(r, WEND_READ_ERROR_INPUT, "the times of a sequence are damaged");
    if (!t->known)
        return read_fail(r, WEND_READ_ERROR_NONE, "the recording has no time of the call");
    time->start = t->origin + (gdouble)t->time.start * t->tick;
    time->duration =
        t->time.duration == WEND_DURATION_UNKNOWN ? NAN : (gdouble)t->time.duration * t->tick;
    return WEND_READ_OK;
}
