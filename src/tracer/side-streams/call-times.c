/* SPDX-License-Identifier: BSD-3-Clause */
/* call-times.c: see side-streams.h. A call appends two words: the start, and its duration with its
 * place. The thread that codes makes intervals of them (lib/times). */

#include <errno.h>

#include "lib/times/durations.h"
#include "process/process.h"
#include "recorder/recorder.h"
#include "recorder/sequence.h"
#include "process/settings.h"
#include "side-private.h"
#include "side-streams.h"

static WendDurationsForm form;

/* -- the application's threads -- */

/* The second word. A duration that is too long for it follows in a third word. */
enum { PLACE_BITS = WEND_DURATION_PLACE_BITS, DURATION_BITS = 64 - PLACE_BITS };
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
#define DURATION_FOLLOWS ((UINT64_C(1) << DURATION_BITS) - 1)
#define DURATION_UNKNOWN (DURATION_FOLLOWS - 1)

enum { CALL_WORDS = 3, CHUNK_CALLS = SIDE_CHUNK_WORDS / 2 };
_Static_assert((int)CHUNK_CALLS <= (int)WEND_DURATION_ROW, "a chunk is a row");

/* A thread's first call, or a callback's. */
static __attribute__((noinline)) SideStream *open_stream(CallSequence *q)
{
    uint32_t birth = 0;
    int saved = errno;
    if (!q->order && (q->callback || thread_number_birth(&birth)))
        q->side[WEND_SIDE_TIMES] = side_stream_new(WEND_SIDE_TIMES, q, birth);
    errno = saved;
    return q->side[WEND_SIDE_TIMES];
}

static __attribute__((noinline)) SideChunk *next_chunk(SideStream *s, SideChunk *full)
{
    return atomic_load(&s->ended) ? NULL : side_next_chunk(s, full);
}

/* The sequence is locked, and a thread that is here does not come again in a signal handler. */
static void append(CallSequence *q, uint32_t place, uint64_t start, uint64_t stop)
{
    SideStream *s = q->side[WEND_SIDE_TIMES];
    if (__builtin_expect(!s, 0) && !(s = open_stream(q)))
        return;
    SideChunk *chunk = atomic_load_explicit(&s->filling, memory_order_relaxed);
    uint32_t used = atomic_load_explicit(&chunk->used, memory_order_relaxed);
    if (__builtin_expect(used > SIDE_CHUNK_WORDS - CALL_WORDS, 0)) {
        if (!(chunk = next_chunk(s, chunk)))
            return;
        used = 0;
    }
    /* Counters of two processors may differ a little. */
    uint64_t duration = stop > start ? stop - start : stop == 0 ? DURATION_UNKNOWN : 0;
    uint64_t *words = &chunk->words[used];
    used += 2;
    words[0] = start;
    if (__builtin_expect(duration >= DURATION_UNKNOWN && stop != 0, 0)) {
        words[2] = duration;
        duration = DURATION_FOLLOWS;
        used++;
    }
    words[1] = duration << PLACE_BITS | (place & PLACE_MASK);
    atomic_store_explicit(&chunk->used, used, memory_order_release);
}

void call_times_open(void)
{
    static const TimeHook hook = {append};
    if (!settings()->times || state()->unwritten || !durations_parse(settings()->times, &form))
        return;
    state()->time_hook = &hook;
}

void call_times_after_start(void)
{
    if (state()->time_hook)
        side_stream_open();
}

bool call_times_on(void)
{
    return state()->time_hook != NULL;
}

/* -- the clocks of several hosts -- */

/* The watcher makes a part while a point may come. A point is counted when it is complete. */
static WendClockPoint points[2];
static _Atomic unsigned n_points;
static WendClock first_clock[2]; /* as it was known at the point */

void call_times_compared(const WendClockPoint *point, const WendClock *first)
{
    unsigned n = atomic_load(&n_points);
    n -= n == sizeof points / sizeof *points;
    points[n] = *point;
    first_clock[n] = *first;
    atomic_store(&n_points, n + 1);
}

static WendClockCorrection correction(const WendClock *own)
{
    unsigned n = atomic_load(&n_points);
    return n == 0 ? (WendClockCorrection){0}
                  : clock_points_correction(points, n, own, &first_clock[n - 1]);
}

/* -- the thread that codes -- */

typedef struct {
    uint64_t last_stop; /* of the call before; before the first call, when the library was loaded */
    _Alignas(16) uint8_t coding[];
} Learned;

static size_t memory(void)
{
    return sizeof(Learned) + durations_coding(form.coding)->memory;
}

static void init(void *learned, WendSideKindNumber kind)
{
    (void)kind;
    Learned *l = learned;
    int64_t unused;
    l->last_stop = clock_opened(&unused);
    durations_coding(form.coding)->init(l->coding, form.percent);
}

/* Reads the call at *WORDS, and moves WORDS behind it. */
static WendTimedCall timed_call(uint64_t *last_stop, const uint64_t **words)
{
    uint64_t start = *(*words)++, second = *(*words)++, duration = second >> PLACE_BITS;
    WendTimedCall call = {.place = (uint32_t)(second & PLACE_MASK),
                          .duration = WEND_DURATION_UNKNOWN};
    bool known = duration != DURATION_UNKNOWN;
    if (duration == DURATION_FOLLOWS)
        duration = *(*words)++;
    if (start == 0)
        return call;
    call.interval = (int64_t)(start - *last_stop);
    *last_stop = start;
    if (known) {
        call.duration = (int64_t)duration;
        *last_stop += duration;
    }
    return call;
}

static uint64_t code(void *learned, const uint64_t *words, uint32_t used, WendBuf *out)
{
    /* One thread at a time codes. */
    static WendBuf scratch[2] = {{.resize = side_resize}, {.resize = side_resize}};
    static WendTimedCall calls[CHUNK_CALLS];
    Learned *l = learned;
    size_t n = 0;
    for (const uint64_t *at = words; at < words + used;)
        calls[n++] = timed_call(&l->last_stop, &at);
    if (!durations_put_row(durations_coding(form.coding), l->coding, calls, n, scratch, out))
        out->failed = true;
    return n;
}

static void copy(void *learned, const void *from)
{
    memcpy(learned, from, memory());
}

static void put_head(WendBuf *out)
{
    WendDurationsHead head = {.form = form, .tick = clock_tick()};
    WendBuf bytes = {.resize = out->resize};
    clock_opened(&head.origin);
    head.clock = correction(&(WendClock){head.tick, head.origin});
    durations_put_head(&bytes, &head);
    buf_unsigned(out, 0);
    buf_block(out, &bytes);
    buf_clear(&bytes);
}

const SideCoding side_coding_of_times = {memory, init, copy, code, put_head};
