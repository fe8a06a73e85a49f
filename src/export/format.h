/* SPDX-License-Identifier: BSD-3-Clause */
/* format.h: the calls with their times, and what each format of wend export does with them. */
#ifndef WEND_EXPORT_FORMAT_H
#define WEND_EXPORT_FORMAT_H

#include <glib.h>

#include "lib/base/error.h"
#include "wend/read.h"

/* -- timeline.c -- */

/* When each call of a rank began and ended, and the calls of all its threads in the order of
 * time.
 *
 * A recording by `wend trace --times` has the time of each call. Otherwise there are means for
 * each kind of call: how long it took, and how long after the previous call of its thread it
 * began. A call is placed by these means, so the order of calls of a thread and the sum of its
 * times are right, and single times are not. Nothing is known then of when a thread began: all
 * threads begin at 0, as MPI_Init does. */

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

/* -- formats -- */

/* A thread, or a callback, of a rank: a location of OTF2, a track of Perfetto. */
typedef struct {
    guint rank, sequence;
    guint64 location; /* its number; those of a rank follow one another, and rank follows rank */
    gboolean callback;
    gint64 id; /* as in a WendReadSequence */
} ExportPlace;

/* What is exported. */
typedef struct {
    WendRead *reader;
    const char *recording; /* its path */
    const char *output;    /* the path of the file or directory */
    gboolean replace;      /* --force */
    const gboolean *ranks; /* NULL: all */
    guint n_ranks, n_worlds;
    const guint64 *first_location; /* of each rank, and the number of all locations */
    const guint32 *counts_as;      /* by site: the site as which it counts; NULL: as itself */
} Export;

/* The messages of a call, by numbers from 1. A message has the same number in the call that sends
 * it and in the call in which its receive completes. */
typedef struct {
    const guint64 *sends, *receives;
    guint n_sends, n_receives;
} CallMessages;

typedef struct {
    const char *name;
    gboolean sites;  /* it uses the sites of calls */
    gboolean groups; /* what it writes of a site is for all sites that count as it */
    /* Begins, and returns the STATE that the other functions get; its type is the format's own.
     * Returns NULL with the error on failure. */
    gpointer (*begin)(const Export *e, Error **error);
    /* Each call of a rank, by its start; ranks follow one another. Returns FALSE if the output
     * cannot be written; END says why. */
    gboolean (*call)(gpointer state, const ExportPlace *place, const TimedCall *timed);
    /* Instead of CALL and RANK: each call of all ranks in causal order, with its messages. */
    gboolean (*causal_call)(gpointer state, const ExportPlace *place, const TimedCall *timed,
                            const CallMessages *messages);
    /* The calls of RANK are over; it has none if it was not chosen. NULL: nothing is to be done. */
    gboolean (*rank)(gpointer state, guint rank);
    /* Ends and frees STATE. With KEEP the output gets its name, without it is removed. */
    gboolean (*end)(gpointer state, gboolean keep, Error **error);
} Format;

extern const Format format_csv, format_csv_calls, format_otf2, format_perfetto;

#endif
