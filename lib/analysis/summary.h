/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.h: the numbers that wend show prints, from the grammar, the slots and the timing. Calls
 * are not expanded. */
#ifndef WEND_SUMMARY_H
#define WEND_SUMMARY_H

#include <glib.h>

#include "read/program.h"
#include "traffic.h"

typedef struct {
    const char *name;
    guint64 calls;       /* MPI calls */
    WendTiming duration; /* over all ranks and signatures; count 0: not measured */
    double mean_error;   /* the error of the mean, in seconds */
    double rest_error;   /* the relative error of the extremes and the standard deviation */
    gboolean outside;    /* MPI_Init, MPI_Finalize and the like: it has no share in the run */
    Traffic traffic;     /* the data that it hands to MPI */
    double seconds;      /* of its calls by threads; callbacks run within other calls */
} FunctionRow;

typedef struct {
    const WendClass *class;
    guint64 calls; /* MPI calls of each of its ranks */
} ClassRow;

/* Nondeterminism: numbers of calls over all ranks. */
typedef struct {
    /* MPI_ANY_SOURCE or MPI_ANY_TAG, receives and matched receives of such probes */
    guint64 wildcard_receives;
    guint64 wildcard_probes;
    guint64 probes;           /* successful, wildcard or not */
    guint64 any_completions;  /* Waitany, Waitsome, Testany, Testsome */
    guint64 tests;            /* successful Test and Testall */
    guint64 neighbour_orders; /* calls that depend on the order that MPI_Dist_graph_create gave */
} Nondeterminism;

typedef struct {
    WendTotals totals;
    guint64 entries;    /* of all main sequences: MPI calls, frees and other pseudo-calls */
    guint64 failed;     /* MPI calls that returned an error */
    guint64 unfinished; /* MPI calls that had not returned when the recording ended */
    GArray *functions;  /* FunctionRow, most calls first */
    GArray *classes;    /* ClassRow, largest first */
    guint min_threads, max_threads, callbacks;
    Traffic traffic[TRAFFIC_KINDS];
    Nondeterminism nondeterminism;
    guint64 symbols;         /* of all rules */
    double busy, busy_error; /* seconds in MPI of all threads, without functions that are outside;
                                and the error of that */
    double run;              /* seconds that all threads ran, each from MPI_Init to MPI_Finalize */
    double resolution;       /* of the clock, in seconds */
} Summary;

Summary *summary_new(const WendProgram *p);
void summary_free(Summary *s);

/* As program_timing, but without a duration of MPI_Finalize (count 0): the recording is
 * written in that call. Recordings of older versions have one, which measures only the clock.
 * INTERVAL may be NULL. */
void summary_times(const WendProgram *p, guint class_index, guint sequence, guint32 terminal,
                   WendTiming *duration, WendTiming *interval);

#endif
