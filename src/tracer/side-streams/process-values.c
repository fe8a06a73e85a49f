/* SPDX-License-Identifier: BSD-3-Clause */
/* process-values.c: records and replays values. value-functions.c has the functions. */
#include "process-values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "process/process.h"
#include "recorder/recorder.h"
#include "recorder/sequence.h"
#include "process/settings.h"
#include "side-streams.h"
#include "replay/replay.h"

_Atomic bool process_values_on;
static bool recording, replaying;
static _Atomic long own_pid; /* as the program got it; 0: it did not ask */

/* -- life -- */

void process_values_open(void)
{
    recording = settings()->values && !state()->unwritten;
    replaying = replay_has_side(WEND_SIDE_VALUES);
    if (!recording && !replaying)
        return;
    application_modules_look(value_function, false);
    application_modules_follow(value_function);
    atomic_store(&process_values_on, true);
}

void process_values_before_start(void)
{
    if (atomic_load(&process_values_on))
        application_modules_look(value_function, false);
}

void process_values_after_start(void)
{
    if (!atomic_load(&process_values_on))
        return;
    application_modules_look(value_function, true);
    if (recording)
        side_stream_open();
}

void process_values_close(void)
{
    atomic_store(&process_values_on, false);
}

void process_values_in_child(void)
{
    atomic_store(&process_values_on, false);
}

/* -- one value -- */

SideStream *process_value_begin(bool within_call)
{
    if (!atomic_load_explicit(&process_values_on, memory_order_relaxed)
        || (!within_call && this_thread && this_thread->inside))
        return NULL;
    SideStream *s = side_stream(WEND_SIDE_VALUES);
    return s && side_stream_enter(s) ? s : NULL;
}

void process_value_end(SideStream *s)
{
    side_stream_leave(s);
}

void process_value_numbers(SideStream *s, WendValueCode code, unsigned sub, int64_t *numbers,
                           size_t n)
{
    const WendSideElement *e = replaying ? side_stream_due(s, code, sub) : NULL;
    if (e) {
        memcpy(numbers, e->numbers, n * sizeof *numbers);
        s->due = NULL;
    }
    if (recording)
        side_stream_append(s, code, sub, numbers, n * sizeof *numbers);
}

/* Bytes are in pieces, of which the last alone is shorter than WEND_SIDE_BYTES. */
static void take_bytes(SideStream *s, WendValueCode code, uint8_t *data, size_t *n, size_t room)
{
    const WendSideElement *e = side_stream_due(s, code, 0);
    if (!e)
        return;
    for (*n = 0; e; e = side_stream_due(s, code, 0)) {
        size_t some = e->n_bytes < room - *n ? e->n_bytes : room - *n;
        bool more = e->n_bytes == WEND_SIDE_BYTES;
        memcpy(data + *n, e->bytes, some);
        *n += some;
        s->due = NULL;
        if (!more)
            return;
    }
}

void process_value_bytes(SideStream *s, WendValueCode code, void *data, size_t *n, size_t room)
{
    if (replaying)
        take_bytes(s, code, data, n, room);
    for (size_t at = 0; recording && at <= *n; at += WEND_SIDE_BYTES) {
        size_t some = *n - at < WEND_SIDE_BYTES ? *n - at : WEND_SIDE_BYTES;
        side_stream_append(s, code, 0, (const uint8_t *)data + at, some);
    }
}

double process_value_seconds(double now)
{
    SideStream *s = process_value_begin(true);
    int64_t bits;
    if (!s)
        return now;
    memcpy(&bits, &now, sizeof bits);
    process_value_numbers(s, WEND_VALUE_WTIME, 0, &bits, 1);
    memcpy(&now, &bits, sizeof now);
    process_value_end(s);
    return now;
}

/* The name is an outcome of the call: its length, its bytes, and the length again. */
void process_value_processor_name(const ActiveCall *c, char *name, int *n)
{
    const RecordedCall *r = c->recorded;
    if (!replaying || !r || r->failed || !name || !n || r->n_outcome < 4)
        return;
    int64_t length = r->outcome[2];
    if (length < 0 || length >= MPI_MAX_PROCESSOR_NAME
        || r->n_outcome != 4 + ((size_t)length + 7) / 8)
        return;
    memcpy(name, &r->outcome[3], (size_t)length);
    name[length] = '\0';
    *n = (int)length;
}

/* -- process ids -- */

void process_value_note_pid(long pid)
{
    atomic_store_explicit(&own_pid, pid, memory_order_relaxed);
}

bool process_value_is_own_pid(long pid)
{
    return pid > 0 && pid == atomic_load_explicit(&own_pid, memory_order_relaxed);
}
