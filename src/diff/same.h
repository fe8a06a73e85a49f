/* SPDX-License-Identifier: BSD-3-Clause */
/* same.h: whether two ranks make the same calls, from the grammars alone.
 *
 * The expansions of two start rules are compared by two polynomial hashes modulo 2^61 - 1 at random
 * points, which follow from the hashes of the rules: O(grammar) whatever the number of calls.
 * Unequal expansions pass for equal with a probability below length / 2^120. */
#ifndef WEND_DIFF_SAME_H
#define WEND_DIFF_SAME_H

#include <glib.h>

#include "lib/analysis/count.h"
#include "lib/read/program.h"

typedef struct Same Same;

Same *same_new(const WendProgram *a, const WendProgram *b);
void same_free(Same *s);

/* RANKS are all in class CLASS_A of the first recording and in CLASS_B of the second. TRUE: each of
 * them makes, in each sequence, the same calls (word for word in shapes and slots) in both. FALSE:
 * that is not so for all, or cannot be told this way: where calls failed, as their error classes
 * are outcomes. */
gboolean same_ranks(Same *s, guint class_a, guint class_b, const guint *ranks, guint n);

/* A hash of what TERMINAL of recording SIDE (0 or 1) has in its slots on RANKS, all of one class:
 * equal for two terminals of one shape if their slots are equal on each of these ranks. */
void same_slots(const Same *s, guint side, guint32 terminal, const guint *ranks, guint n,
                guint64 hash[2]);

#endif
