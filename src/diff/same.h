/* SPDX-License-Identifier: BSD-3-Clause */
/* same.h: whether two ranks make the same calls, from the grammars alone.
 *
 * The expansions of two start rules are compared by two polynomial hashes modulo 2^61 - 1 at random
 * points. The hashes follow from those of the rules, so the time depends on the grammar and not on
 * the number of calls. Different expansions pass for equal with a probability below length /
 * 2^120. */
#ifndef WEND_DIFF_SAME_H
#define WEND_DIFF_SAME_H

#include <glib.h>

#include "lib/analysis/count.h"
#include "lib/read/program.h"

typedef struct Same Same;

Same *same_new(const WendProgram *a, const WendProgram *b);
void same_free(Same *s);

/* Compares N RANKS, which are all in class CLASS_A of the first recording and in CLASS_B of the
 * second. Returns TRUE if each rank makes the same calls in each sequence of both, word for word in
 * shapes and slots. FALSE if some rank does not, or if calls failed: their error classes are
 * outcomes, which this function does not see. */
gboolean same_ranks(Same *s, guint class_a, guint class_b, const guint *ranks, guint n);

/* Whether a rank makes the same calls in SEQUENCE[0] of the first recording and in SEQUENCE[1] of
 * the second, with the same outcomes and, if POLLS, the same unsuccessful polls between them. Takes
 * time by the grammars and by the runs of outcomes. FALSE: they may be the same nevertheless, as
 * above, or where the recordings number constants differently. */
gboolean same_outcomes(Same *s, guint rank, const guint sequence[2], gboolean polls);

/* A hash of the slots of TERMINAL of recording SIDE (0 or 1) on RANKS, all of one class. Two
 * terminals of one shape have equal hashes if their slots are equal on each of these ranks. */
void same_slots(const Same *s, guint input, guint32 terminal, const guint *ranks, guint n,
                guint64 hash[2]);

#endif
