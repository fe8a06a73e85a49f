/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.h: loops over Waitany, Testsome and similar functions, with a body that depends on the
 * completed request. */
#ifndef PROXYGEN_LOOPS_H
#define PROXYGEN_LOOPS_H

#include "src/proxygen/model/model.h"

/* Consecutive completions of one entry of a request array, with equal calls upon each. With JOINT >
 * 0 the calls are made once the other entries of joint JOINT - 1 have completed, too. */
typedef struct {
    guint body, joint;
    guint64 times;
} LoopRun; /* BODY is a rule, or NO_BODY if there are no calls */
enum { NO_BODY = G_MAXINT32 };

/* Two or more entries, ascending, that must all complete before the calls of a body. */
typedef struct {
    guint n;
    guint *entries;
} LoopJoint;

/* A loop over Waitany, Waitsome, Testany or Testsome. It runs until each entry of the array has
 * completed as often as in the recording, in any order. The k-th completion of an entry makes the
 * calls that followed its k-th completion in the recording. */
typedef struct Loop {
    guint terminal; /* the call that completes */
    guint n;        /* number of entries in its array */
    GArray **runs;  /* by entry: of LoopRun */
    guint64 *times; /* by entry: number of completions */
    GArray *joints; /* of LoopJoint */
    gint64 total;   /* completions of all entries */
    /* entries that must not complete here (again) may be active: the loop hides them */
    gboolean hides;
} Loop;

/* Finds such loops. Their calls become rules of the plan (loop_rules.h). Returns FALSE with an
 * error that names the recording. */
gboolean plan_loops(Plan *plan, GError **error);

#endif
