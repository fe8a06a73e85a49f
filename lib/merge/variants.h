/* SPDX-License-Identifier: BSD-3-Clause */
/* variants.h: classes whose calls differ in nothing but trip counts, as one.
 *
 * Where a loop's trip count follows from the rank ("self times", figure 4 of the paper on elastic
 * traces), ranks have equal tables and grammars that are equal but for counts. Such classes become
 * one at the end of the merge, when all classes are known, so that the order of merging does not
 * matter. */
#ifndef WEND_VARIANTS_H
#define WEND_VARIANTS_H

#include "class.h"
#include "record/rules.h"

/* Ranks of a class that have equal trip counts, and these. */
typedef struct {
    RankSet ranks;
    guint64 *trips;
} Variant;

typedef struct {
    guint n, n_trips;
    Variant *variants; /* n, by lowest rank */
    /* by symbol of the class's grammars, sequence by sequence, rule by rule: number of its trip +
     * 1; 0: the count is that of all */
    guint32 *trip_of;
} Variants;

/* N variants: the RANKS of each, and its REPEATS (guint64) of all symbols of the class's
 * grammars, sequence by sequence, rule by rule. All is copied. The hash tables of variants_join
 * free it. */
Variants *variants_new(guint n, const RankSet *ranks, GArray *const *repeats);

/* Joins such classes of M, with which nothing more is to be merged then. Class -> Variants, for
 * those that are joined ones; a class's grammar has the repeats of the variant with its lowest
 * rank. NULL: a grammar is damaged. */
GHashTable *variants_join(WendMerge *m);
/* How many classes M would have if such classes were one. */
guint variants_kinds(const WendMerge *m);

#endif
