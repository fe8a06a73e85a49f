/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.h: loops over Waitany, Testsome and their like, whose bodies depend on which request
 * completed. */
#ifndef PROXYGEN_LOOPS_H
#define PROXYGEN_LOOPS_H

#include "src/proxygen/model/model.h"

/* Completions of one entry of a request array, one after the other, with the same calls upon each.
 * JOINT: the calls are made once the other entries of joint JOINT - 1 have completed, too; 0: upon
 * this completion. */
typedef struct {
    guint body, joint;
    guint64 times;
} LoopRun; /* a rule; NO_BODY: no calls */
enum { NO_BODY = G_MAXINT32 };

/* Entries of which a completion each comes before the calls of a body: two or more, ascending. */
typedef struct {
    guint n;
    guint *entries;
} LoopJoint;

/* A loop over Waitany, Waitsome, Testany or Testsome that goes on until each entry of the array has
 * completed as often as in the recording, in whatever order; the k-th completion of an entry makes
 * the calls that followed its k-th completion. */
typedef struct Loop {
    guint terminal; /* the call */
    guint n;        /* entries of its array */
    GArray **runs;  /* by entry: of LoopRun */
    guint64 *times; /* by entry: completions */
    GArray *joints; /* of LoopJoint */
    gint64 total;   /* of all entries */
    /* entries may be active that must not complete here (again): they are hidden */
    gboolean hides;
} Loop;

/* Finds such loops. What they do becomes rules of the plan (loop_rules.h). */
gboolean plan_loops(Plan *plan, GError **error);

#endif
