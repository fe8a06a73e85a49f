/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence-private.h: what a delta sequence is: delta-sequence.c makes and reads them,
 * delta-sequence-patterns.c knows rows that are told by what they are, delta-sequence-bytes.c
 * writes them and reads what was written. */
#ifndef WEND_DELTA_SEQUENCE_PRIVATE_H
#define WEND_DELTA_SEQUENCE_PRIVATE_H

#include "record/rules.h"
#include "record/words.h"
#include "delta-sequence.h"

/* A terminal of the grammar is 2 i for difference i, 2 i + 1 for special word i. */
/* words of an expansion, and what its differences come to */
typedef struct {
    guint64 length;
    gint64 sum;
} Extent;

typedef struct {
    guint n_differences, n_specials;
    gint64 *differences, *specials;
    RuleRow rules;
    /* symbol by symbol, rule after rule: the extent of what stands before it in its rule */
    Extent *before;
    Extent *all;  /* by rule */
    gsize *first; /* by rule: its first symbol's place in "before" */
    gsize n_symbols;
    gboolean wraps; /* some sum of differences is beyond 64 bits */
} Ruled;

/* base + slope i + what (i + turn) mod block, in the ith's own block of so many words, is above i
 * mod block: neighbours in one dimension of a torus are blocks that are turned. 0 < turn < block;
 * slope 1, or 0 for what is added to i. */
typedef struct {
    gint64 base, slope;
    guint64 block, turn;
} Turned;

/* COUNT words from BEFORE on, each RATIO times the one before it or, if they fall, the one behind
 * it; few others. */
typedef struct {
    guint64 before, count;
    gint64 ratio;
    gboolean falls;
} Geometric;

/* Where values are by chance there is one for each slot of each call: it is kept small. */
struct DeltaSequence {
    guint64 n;
    enum { OF_RUN, OF_WORDS, OF_RULES, OF_TURNED } form; /* the last one is only of archives */
    union {
        struct {
            gint64 value, step;
        } run;
        gint64 *words; /* as they are */
        Ruled *ruled;
        Turned *turned;
    };
};

/* Without overflow: what archives say may be anything. */
static inline gint64 deltas_sum(gint64 a, gint64 b)
{
    return (gint64)((guint64)a + (guint64)b);
}
static inline gint64 deltas_difference(gint64 a, gint64 b)
{
    return (gint64)((guint64)a - (guint64)b);
}
static inline gint64 deltas_multiple(gint64 a, guint64 n)
{
    return (gint64)((guint64)a * n);
}

/* -- delta-sequence.c -- */
/* A run of n words becomes one of the other forms, whose words or rules are still to be filled
 * in. */
gint64 *deltas_make_words(DeltaSequence *s);
Ruled *deltas_make_ruled(DeltaSequence *s);
/* What each rule and what stands before each symbol comes to. FALSE: a rule uses itself or is
 * empty, or they are more than 2^62 words. */
gboolean ruled_measure(Ruled *r);
gint64 *deltas_words(const DeltaSequence *s); /* all of them; g_free */

/* -- delta-sequence-patterns.c: reading (N: the delta sequence' length) -- */
DeltaSequenceRun turned_run(const Turned *t, guint64 index, guint64 n);

/* -- finding: FALSE or a count of 0: there is none -- */
gboolean turned_find(const DeltaSequence *s, Turned *t);
/* The longest such stretch: partners and sizes of a tree, and how many ranks are on each of its
 * levels. */
Geometric geometric_find(const gint64 *words, guint64 n);

/* -- making from what an archive says -- */
/* Each word is one that can be: ordinary, and none overflows. */
gboolean turned_in_range(const Turned *t, guint64 n);
/* The number from which on the words of a stretch follow: its first, or where they fall its
 * last. */
static inline guint64 geometric_origin(const Geometric *g)
{
    return g->falls ? g->before + g->count - 1 : g->before;
}
/* *PRODUCT: what follows WORD. FALSE: no ordinary word. */
gboolean geometric_next(gint64 word, gint64 ratio, gint64 *product);

#endif
