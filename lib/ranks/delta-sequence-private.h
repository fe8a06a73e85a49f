/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence-private.h: the struct of a delta sequence. delta-sequence.c makes and reads them,
 * delta-sequence-patterns.c has forms for known patterns, delta-sequence-bytes.c encodes and
 * decodes them. */
#ifndef WEND_DELTA_SEQUENCE_PRIVATE_H
#define WEND_DELTA_SEQUENCE_PRIVATE_H

#include "record/rules.h"
#include "record/words.h"
#include "delta-sequence.h"

/* A terminal of the grammar is 2 i for difference i, 2 i + 1 for special word i. */
/* The number of words of an expansion, and the sum of its differences. */
typedef struct {
    guint64 length;
    gint64 sum;
} Extent;

typedef struct {
    guint n_differences, n_specials;
    gint64 *differences, *specials;
    RuleRow rules;
    /* by symbol, rule after rule: the extent of the symbols before it in its rule */
    Extent *before;
    Extent *all;  /* by rule */
    gsize *first; /* by rule: the index of its first symbol in "before" */
    gsize n_symbols;
    gboolean wraps; /* a sum of differences exceeds 64 bits */
} Ruled;

/* Word i is base + slope i + ((i + turn) mod block - i mod block). So neighbours in one dimension
 * of a torus are blocks that are turned. 0 < turn < block. The slope is 1, or 0 if the words are
 * added to i. */
typedef struct {
    gint64 base, slope;
    guint64 block, turn;
} Turned;

/* A geometric stretch: COUNT words behind the first BEFORE. Each is RATIO times the one before it
 * or, if they fall, the one behind it. */
typedef struct {
    guint64 before, count;
    gint64 ratio;
    gboolean falls;
} Geometric;

/* Kept small: with random values there is one for each slot of each call. */
struct DeltaSequence {
    guint64 n;
    enum { OF_RUN, OF_WORDS, OF_RULES, OF_TURNED } form; /* the last one is only of archives */
    union {
        struct {
            gint64 value, step;
        } run;
        gint64 *words; /* OF_WORDS */
        Ruled *ruled;
        Turned *turned;
    };
};

/* Sums that wrap, since an archive may have any numbers. */
static inline gint64 delta_sequence_sum(gint64 a, gint64 b)
{
    return (gint64)((guint64)a + (guint64)b);
}
static inline gint64 delta_sequence_difference(gint64 a, gint64 b)
{
    return (gint64)((guint64)a - (guint64)b);
}
static inline gint64 delta_sequence_multiple(gint64 a, guint64 n)
{
    return (gint64)((guint64)a * n);
}

/* -- delta-sequence.c -- */
/* Makes a delta sequence of N words of rules, which the caller fills in. */
Ruled *delta_sequence_make_ruled(DeltaSequence *s);
/* Computes the extents of all rules and symbols. FALSE: a rule uses itself or is empty, or there
 * are more than 2^62 words. */
gboolean ruled_measure(Ruled *r);
gint64 *delta_sequence_words(
    const DeltaSequence *s); /* all words; the caller frees them with g_free */

/* -- delta-sequence-patterns.c: reading (N: the length of the delta sequence) -- */
DeltaSequenceRun turned_run(const Turned *t, guint64 index, guint64 n);

/* -- finding patterns. FALSE, or a count of 0: there is none -- */
gboolean turned_find(const DeltaSequence *s, Turned *t);
/* The longest geometric stretch. Partners and sizes in a tree are such, and the numbers of ranks on
 * its levels. */
Geometric geometric_find(const gint64 *words, guint64 n);

/* -- decoding patterns -- */
/* Are all words of the stretch ordinary, without overflow? */
gboolean turned_in_range(const Turned *t, guint64 n);
/* The word from which the others of a stretch follow: the first or, if they fall, the last. */
static inline guint64 geometric_origin(const Geometric *g)
{
    return g->falls ? g->before + g->count - 1 : g->before;
}
/* Sets *PRODUCT to the word that follows WORD. FALSE: it would be no ordinary word. */
gboolean geometric_next(gint64 word, gint64 ratio, gint64 *product);

#endif
