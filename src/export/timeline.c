/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c: see format.h. */
#include "config.h"

#include "format.h"

#include <math.h>

#include "src/read/wrap.h"

typedef struct {
    double duration, interval; /* seconds */
} Means;

struct TimedCalls {
    WendRead *reader;
    guint class_index, sequence;
    double origin;
    WendReadCalls *calls;
    GHashTable *means; /* signature -> Means; owned */
    guint keep;        /* the most signatures to remember */
    double now;        /* seconds: the end of the call that was given last */
};

/* A sequence of which the next call has been read. */
typedef struct {
    TimedCalls *calls;
    TimedCall next; /* its call is NULL: there is none */
} Sequence;

struct Timeline {
    Sequence *sequences;
    guint n;
    Sequence *given; /* the one whose call was given last, which is to read its next one */
};

static guint64 nanoseconds(double seconds)
{
    return seconds > 0 ? (guint64)llround(seconds * 1e9) : 0;
}

static double mean_of(const WendReadTiming *timing)
{
    return timing->count > 0 && timing->mean > 0 ? timing->mean : 0;
}

static const Means *means_of(TimedCalls *c, guint signature)
{
    gpointer key = GUINT_TO_POINTER(signature);
    Means *m = g_hash_table_lookup(c->means, key);
    WendReadTiming duration = {0}, interval = {0};
    if (m != NULL)
        return m;
    if (g_hash_table_size(c->means) >= c->keep)
        g_hash_table_remove_all(c->means);
    m = g_new0(Means, 1);
    if (wend_read_timing(c->reader, c->class_index, c->sequence, signature, &duration, &interval)
        == WEND_READ_OK)
        *m = (Means){mean_of(&duration), mean_of(&interval)};
    g_hash_table_insert(c->means, key, m);
    return m;
}

/* -- the calls of a sequence -- */

TimedCalls *timeline_calls_new(WendRead *r, guint rank, guint sequence, double origin,
                               unsigned flags)
{
    const WendReadRank *info;
    WendReadCalls *calls;
    if (wend_read_rank(r, rank, &info) < 0)
        return NULL;
    guint class_index = info->class_index;
    if (wend_read_calls(r, rank, sequence, flags | WEND_READ_WITH_TIMES, &calls) < 0)
        return NULL;
    TimedCalls *c = g_new(TimedCalls, 1);
    *c = (TimedCalls){.reader = r,
                      .class_index = class_index,
                      .sequence = sequence,
                      .origin = origin,
                      .calls = calls,
                      .keep = G_MAXUINT,
                      .means = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
    return c;
}

void timeline_calls_free(TimedCalls *c)
{
    if (!c)
        return;
    wend_read_calls_free(c->calls);
    g_hash_table_destroy(c->means);
    g_free(c);
}

void timeline_calls_keep(TimedCalls *c, guint n)
{
    c->keep = n;
    read_wrap_keep(c->calls, n);
}

int timeline_calls_next(TimedCalls *c, TimedCall *next)
{
    int status = wend_read_next(c->calls, &next->call);
    if (status < 0 || !next->call)
        return status;
    const Means *m = means_of(c, next->call->signature);
    double start = c->now + m->interval, duration = m->duration;
    WendReadTime time;
    status = wend_read_time(c->calls, &time);
    if (status == WEND_READ_OK) {
        /* rounded times of two calls may overlap */
        start = MAX(time.start - c->origin, c->now);
        duration = isnan(time.duration) ? 0 : time.duration;
    } else if (status != WEND_READ_ERROR_NONE) {
        return status;
    }
    c->now = start + duration;
    next->start = nanoseconds(start);
    next->end = nanoseconds(c->now);
    return 1;
}

/* -- the origin -- */

/* Sets *START to the start of the first call of a sequence. FALSE: it is not recorded. */
static gboolean first_start(WendRead *r, guint rank, guint sequence, double *start)
{
    WendReadCalls *calls;
    const WendReadCall *call;
    WendReadTime time;
    if (wend_read_calls(r, rank, sequence, WEND_READ_WITH_TIMES | WEND_READ_WITHOUT_TRANSFERS,
                        &calls)
        < 0)
        return FALSE;
    gboolean known = wend_read_next(calls, &call) == WEND_READ_OK && call != NULL
                     && wend_read_time(calls, &time) == WEND_READ_OK;
    if (known)
        *start = time.start;
    wend_read_calls_free(calls);
    return known;
}

double timeline_origin(WendRead *r, guint n_ranks, gboolean *known)
{
    const WendReadRank *info;
    double origin = 0, start;
    *known = FALSE;
    for (guint rank = 0; rank < n_ranks; rank++) {
        if (wend_read_rank(r, rank, &info) < 0 || info->n_sequences == 0
            || !first_start(r, rank, 0, &start))
            continue;
        origin = *known ? MIN(origin, start) : start;
        *known = TRUE;
    }
    return origin;
}

/* -- the calls of a rank -- */

/* Reads the next call of LANE. Returns the result of timeline_calls_next. */
static int advance(Sequence *sequence)
{
    int status = timeline_calls_next(sequence->calls, &sequence->next);
    if (status <= 0)
        sequence->next.call = NULL;
    return status;
}

Timeline *timeline_new(WendRead *r, guint rank, double origin, unsigned flags)
{
    const WendReadRank *info;
    if (wend_read_rank(r, rank, &info) < 0)
        return NULL;
    Timeline *t = g_new0(Timeline, 1);
    guint n = info->n_sequences;
    t->sequences = g_new0(Sequence, n);
    while (t->n < n) {
        Sequence *sequence = &t->sequences[t->n];
        sequence->calls = timeline_calls_new(r, rank, t->n, origin, flags);
        if (!sequence->calls)
            break;
        t->n++;
        if (advance(sequence) < 0)
            break;
    }
    if (t->n == n)
        return t;
    timeline_free(t);
    return NULL;
}

void timeline_free(Timeline *t)
{
    if (!t)
        return;
    for (guint i = 0; i < t->n; i++)
        timeline_calls_free(t->sequences[i].calls);
    g_free(t->sequences);
    g_free(t);
}

int timeline_next(Timeline *t, TimedCall *next)
{
    int status = t->given != NULL ? advance(t->given) : WEND_READ_OK;
    Sequence *first = NULL;
    t->given = NULL;
    if (status < 0)
        return status;
    /* threads and callbacks are few */
    for (guint i = 0; i < t->n; i++) {
        Sequence *sequence = &t->sequences[i];
        if (sequence->next.call != NULL && (!first || sequence->next.start < first->next.start))
            first = sequence;
    }
    if (!first)
        return 0;
    *next = first->next;
    t->given = first;
    return 1;
}
