/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.h: the smallest explanation that is found for the difference of two strings of calls. It
 * uses the terms of a program: loops that run another number of times, calls in one input only,
 * calls with other arguments. Each is named once for all iterations (docs/comparing.md, "Explaining
 * a difference"). */
#ifndef WEND_DIFF_EXPLAIN_H
#define WEND_DIFF_EXPLAIN_H

#include <glib.h>

#include "hashed.h"

typedef enum {
    EDIT_LOOP,    /* a loop that runs times[0] and times[1] times */
    EDIT_CHANGED, /* a call that differs between the inputs */
    EDIT_ONLY,    /* calls of one input; n of the other input is 0 */
    EDIT_REPLACED /* calls in both inputs that differ in a way without a better explanation */
} EditKind;

typedef struct {
    EditKind kind;
    guint64 at[2], n[2]; /* the first call and the number of calls, in each input */
    guint64 period,
        times[2]; /* LOOP: calls of an iteration; ONLY: if PERIOD is not 0, the calls are a loop */
    /* ONLY: if both inputs have iterations of these calls, how many each has in all
     * (explain_rounds) */
    guint64 rounds[2];
    guint64 apart[2];         /* the first call that differs */
    guint64 iterations, body; /* the edit occurs in each of ITERATIONS iterations of a loop of BODY
                               * calls, and positions are in the first one; 0: in no loop */
} Edit;

/* Returns whether the calls of these two terminals are of one function. */
typedef gboolean (*ExplainSimilar)(gpointer data, guint32 terminal_a, guint32 terminal_b);

/* The cost of an explanation. A shorter explanation costs less. */
double explain_cost(const GArray *edits);
/* Returns the edits that turn A into B, in order; no edit if they are equal. The strings have equal
 * points. The cost is bounded (comparing.md): beyond the bound an edit is EDIT_REPLACED. The caller
 * frees the array. */
GArray *explain(const Hashed *a, const Hashed *b, ExplainSimilar similar, gpointer data);

/* Sets ROUNDS of each edit of kind EDIT_ONLY whose calls both strings have elsewhere. They are then
 * iterations of a loop that runs another number of times, with other calls between the
 * iterations. */
void explain_rounds(GArray *edits, Hashed *const strings[2]);

#endif
