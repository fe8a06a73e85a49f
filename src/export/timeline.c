/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c: see timeline.h. */
#include "config.h"

#include "timeline.h"

#include <math.h>

typedef struct {
    double duration, interval; /* seconds */
} Means;

/* The calls of one sequence, of which the next one has been read. */
typedef struct {
    guint index;
    WendReadCalls *calls;
    GHashTable *means; /* signature -> Means; owned */
    double now;        /* seconds: the end of the call before the next one */
    TimedCall next;    /* its call is NULL: there is none */
} Lane;

struct Timeline {
    WendRead *reader;
    guint class_index;
    double origin;
    Lane *lanes;
    guint n;
    Lane *given; /* the one whose call was given last, which is to read its next one */
};

static guint64 nanoseconds(double seconds)
{
    return seconds > 0 ? (guint64)llround(seconds * 1e9) : 0;
}

static double mean_of(const WendReadTiming *timing)
{
    return timing->count > 0 && timing->mean > 0 ? timing->mean : 0;
}

static const Means *means_of(Timeline *t, Lane *lane, guint signature)
{
    gpointer key = GUINT_TO_POINTER(signature);
    Means *m = g_hash_table_lookup(lane->means, key);
    WendReadTiming duration = {0}, interval = {0};
    if (m != NULL)
        return m;
    m = g_new0(Means, 1);
    if (wend_read_timing(t->reader, t->class_index, lane->index, signature, &duration, &interval)
        == WEND_READ_OK)
        *m = (Means){mean_of(&duration), mean_of(&interval)};
    g_hash_table_insert(lane->means, key, m);
    return m;
}

/* Reads the next call of LANE. Returns WEND_READ_OK or an error. */
static int advance(Timeline *t, Lane *lane)
{
    const WendReadCall *call;
    int status = wend_read_next(lane->calls, &call);
    if (status < 0)
        return status;
    lane->next.call = call;
    if (call == NULL)
        return WEND_READ_OK;
    const Means *m = means_of(t, lane, call->signature);
    double start = lane->now + m->interval, duration = m->duration;
    WendReadTime time;
    status = wend_read_time(lane->calls, &time);
    if (status == WEND_READ_OK) {
        /* rounded times of two calls may overlap */
        start = MAX(time.start - t->origin, lane->now);
        duration = isnan(time.duration) ? 0 : time.duration;
    } else if (status != WEND_READ_ERROR_NONE) {
        return status;
    }
    lane->now = start + duration;
    lane->next.start = nanoseconds(start);
    lane->next.end = nanoseconds(lane->now);
    return WEND_READ_OK;
}

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

Timeline *timeline_new(WendRead *r, guint rank, double origin, unsigned flags)
{
    const WendReadRank *info;
    if (wend_read_rank(r, rank, &info) < 0)
        return NULL;
    Timeline *t = g_new0(Timeline, 1);
    t->reader = r;
    t->class_index = info->class_index;
    t->origin = origin;
    t->lanes = g_new0(Lane, info->n_sequences);
    guint n = info->n_sequences;
    while (t->n < n) {
        Lane *lane = &t->lanes[t->n];
        lane->index = t->n;
        if (wend_read_calls(r, rank, t->n, flags | WEND_READ_WITH_TIMES, &lane->calls) < 0)
            break;
        lane->means = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        t->n++;
        if (advance(t, lane) < 0)
            break;
    }
    if (t->n == n)
        return t;
    timeline_free(t);
    return NULL;
}

void timeline_free(Timeline *t)
{
    if (t == NULL)
        return;
    for (guint i = 0; i < t->n; i++) {
        wend_read_calls_free(t->lanes[i].calls);
        g_hash_table_destroy(t->lanes[i].means);
    }
    g_free(t->lanes);
    g_free(t);
}

int timeline_next(Timeline *t, TimedCall *next)
{
    int status = t->given != NULL ? advance(t, t->given) : WEND_READ_OK;
    Lane *first = NULL;
    t->given = NULL;
    if (status < 0)
        return status;
    /* threads and callbacks are few */
    for (guint i = 0; i < t->n; i++) {
        Lane *lane = &t->lanes[i];
        if (lane->next.call != NULL && (first == NULL || lane->next.start < first->next.start))
            first = lane;
    }
    if (first == NULL)
        return 0;
    *next = first->next;
    t->given = first;
    return 1;
}
