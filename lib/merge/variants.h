/* SPDX-License-Identifier: BSD-3-Clause */
/* variants.h: turns classes that differ only in trip counts into one.
 *
 * The trip count of a loop may follow from the rank ("self times": figure 4 of the paper on elastic
 * traces). Then ranks have equal tables, and grammars that differ only in repetition counts. Such
 * classes become one at the end of the merge. All classes are known then, so the order of merging
 * does not matter. */
#ifndef WEND_VARIANTS_H
#define WEND_VARIANTS_H

#include "class.h"
#include "record/rules.h"

/* The ranks of a class that have equal trip counts, and the counts. */
typedef struct {
    RankSet ranks;
    uint64_t *trips;
} Variant;

typedef struct {
    uint32_t n, n_trips;
    Variant *variants; /* n, by lowest rank */
    /* by symbol of the class's grammars, sequence by sequence, rule by rule: 1 + the number of its
     * trip count, or 0 if all ranks have the same count */
    uint32_t *trip_of;
} Variants;

/* Makes N variants. RANKS has the ranks of each, REPEATS (uint64_t) its counts of all symbols
 * of the class's grammars, sequence by sequence, rule by rule. Both are copied. The maps of
 * variants_join free the result. */
Variants *variants_new(uint32_t n, const RankSet *ranks, Vector *const *repeats);

/* Joins the classes of M that differ only in trip counts. Nothing may be merged into M afterwards.
 * Returns a table of Class -> Variants for the joined classes, which the caller unrefs. The grammar
 * of a joined class has the counts of the variant with its lowest rank. NULL: a grammar is
 * damaged. */
Map *variants_join(WendMerge *m);
/* How many classes M would have after variants_join. */
uint32_t variants_kinds(const WendMerge *m);

#endif
