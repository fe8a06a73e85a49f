/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.h: when each call of a rank began and ended, and the calls of all its threads in the
 * order of time.
 *
 * A recording by `wend trace --times` has the time of each call. Otherwise there are means for each
 * kind of call: how long it took, and how long after the previous call of its thread it began. A
 * call is placed by these means, so the order of calls of a thread and the sum of its times are
 * right, and single times are not. Nothing is known then of when a thread began: all threads begin
 * at 0, as MPI_Init does. */
#ifndef WEND_EXPORT_TIMELINE_H
#define WEND_EXPORT_TIMELINE_H

#include <glib.h>

#include "wend/read.h"

typedef struct Timeline Timeline;     /* of a rank */
typedef struct TimedCalls TimedCalls; /* of a sequence */

/* A call with its place in time. */
typedef struct {
    const WendReadCall *call; /* valid until the next one of its sequence */
    guint64 start, end;       /* nanoseconds since the origin; start <= end */
} TimedCall;

/* When the first call of the N_RANKS ranks of the recording began, in seconds. MPI_Init begins
 * before the run does. *KNOWN: the recording has the time of each call. */
double timeline_origin(WendRead *r, guint n_ranks, gboolean *known);

/* Begins with the calls of one sequence, in their order. The arguments are those of timeline_new.
 * The caller frees the result with timeline_calls_free. */
TimedCalls *timeline_calls_new(WendRead *r, guint rank, guint sequence, double origin,
                               unsigned flags);
void timeline_calls_free(TimedCalls *c); /* C may be NULL */

/* Keeps at most N signatures in memory, for many sequences at a time; all if it is not called. */
void timeline_calls_keep(TimedCalls *c, guint n);

/* Returns 1, 0 after the last call, or the error of a function of wend/read.h. */
int timeline_calls_next(TimedCalls *c, TimedCall *next);

/* Begins with the calls of RANK. Times count from ORIGIN. FLAGS are those of wend_read_calls. R
 * must outlive the result, which the caller frees with timeline_free. Returns NULL if a function of
 * wend/read.h fails (wend_read_message). */
Timeline *timeline_new(WendRead *r, guint rank, double origin, unsigned flags);
void timeline_free(Timeline *t); /* T may be NULL */

/* Gives the next call of RANK by its start: calls of one sequence are in their order, and do not
 * overlap. Returns 1, 0 after the last one, or the error of a function of wend/read.h. */
int timeline_next(Timeline *t, TimedCall *next);

#endif
