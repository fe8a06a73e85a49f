/* SPDX-License-Identifier: BSD-3-Clause */
/* site-totals.h: the calls of a recording by call site. Calls are expanded: once for all ranks of a
 * class that have the same sites, and for each rank that has unsuccessful polls. If the recording
 * has the time of each call, they are expanded for each rank. */
#ifndef WEND_SITE_TOTALS_H
#define WEND_SITE_TOTALS_H

#include <glib.h>

#include "lib/analysis/analysis.h"
#include "lib/sides/call-sites.h"
#include "wend/read.h"

/* The calls of one function from one site. */
typedef struct {
    guint site; /* G_MAXUINT: not known */
    const WendFunction *function;
    guint64 calls, polls; /* MPI calls of all ranks; unsuccessful polls are apart */
    Traffic traffic;
    /* Time of the calls by threads; negative: not measured. If a signature is called from several
     * sites, and the recording does not have the time of each call, each site has a share of the
     * signature's time by its number of calls (SHARED). */
    double seconds;
    gboolean shared;
    guint n_ranks;                   /* that call it here */
    guint64 least_calls, most_calls; /* calls of such a rank, polls included */
    guint least_rank, most_rank;     /* the lowest such ranks */
    guint64 least_bytes, most_bytes;
    guint least_bytes_rank, most_bytes_rank;
    /* Time of the calls by threads of such a rank; negative: not known. If the recording does not
     * have the time of each call, it has how long a rank was in a function. Each site then has a
     * share of it by the mean times of its signatures (RANK_SECONDS_SHARED if there are several).
     * The times of all ranks are scaled so that their sum is SECONDS. */
    double least_seconds, mean_seconds, most_seconds;
    guint least_seconds_rank, most_seconds_rank;
    gboolean rank_seconds_shared;
    /* for these */
    double sum_seconds;       /* of the ranks so far */
    gboolean seconds_unknown; /* of some rank */
    guint called;             /* number of FUNCTION */
    /* of the rank at hand */
    guint64 rank_calls, rank_bytes;
    guint64 rank_timed;   /* calls of threads, without unsuccessful polls */
    guint64 rank_missing; /* of these, returned calls whose own time the recording does not have */
    double rank_seconds;  /* of the others */
    double rank_weight;   /* of all of these, by the mean times of their signatures */
} SiteRow;

/* The rows of R, whose sites are open: those with the most time first, then with the most calls.
 * The caller unrefs the result. */
GArray *site_totals_new(WendRead *r);

#endif
