/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.h: the smallest explanation that is found for why two strings of calls differ, in the
 * terms of a program: loops that run another number of times, calls that are there on one side
 * only, calls with other arguments, each once for all iterations.
 *
 * docs/comparing.md, "Explaining a difference". */
#ifndef WEND_DIFF_EXPLAIN_H
#define WEND_DIFF_EXPLAIN_H

#include <glib.h>

#include "hashed.h"

typedef enum {
    EDIT_LOOP,    /* a loop that runs times[0] and times[1] times */
    EDIT_CHANGED, /* a call that is another on each side */
    EDIT_ONLY,    /* calls of one side: n of the other is 0 */
    EDIT_REPLACED /* calls on both sides of which no more is known than that they differ */
} EditKind;

typedef struct {
    EditKind kind;
    guint64 at[2], n[2]; /* the calls, on each side */
    guint64 period,
        times[2]; /* LOOP: calls of an iteration; ONLY: the calls are a loop, if period is not 0 */
    /* ONLY: how often each side has an iteration of these calls in all, if both have
     * (explain_rounds) */
    guint64 rounds[2];
    guint64 apart[2];         /* the first call that differs */
    guint64 iterations, body; /* it is in each iteration of a loop of so many calls; 0: of none. The
                                 positions are of the first iteration */
} Edit;

/* Do calls of these two terminals call one function? */
typedef gboolean (*ExplainSimilar)(gpointer data, guint32 terminal_a, guint32 terminal_b);

/* Edits that make B of A, in order; none: they are equal. The strings have equal points. What it
 * costs is bounded (comparing.md): where that does not do, an edit is EDIT_REPLACED. */
/* What an explanation costs: the shorter it is, the less. */
double explain_cost(const GArray *edits);
GArray *explain(const Hashed *a, const Hashed *b, ExplainSimilar similar, gpointer data);

/* Calls of one side that both have elsewhere are iterations of a loop that the strings do not run
 * the same number of times, though other calls are between them: sets ROUNDS of the EDITS. */
void explain_rounds(GArray *edits, Hashed *const strings[2]);

#endif
