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
    uint64_t length;
    int64_t sum;
} Extent;

typedef struct {
    uint32_t n_differences, n_specials;
    int64_t *differences, *specials;
    RuleRow rules;
    /* by symbol, rule after rule: the extent of the symbols before it in its rule */
    Extent *before;
    Extent *all;   /* by rule */
    size_t *first; /* by rule: the index of its first symbol in "before" */
    size_t n_symbols;
    bool wraps; /* a sum of differences exceeds 64 bits */
} Ruled;

/* Word i is base + slope i + ((i + turn) mod block - i mod block). So neighbours in one dimension
 * of a torus are blocks that are turned. 0 < turn < block. The slope is 1, or 0 if the words are
 * added to i. */
typedef struct {
    int64_t base, slope;
    uint64_t block, turn;
} Turned;

/* A geometric stretch: COUNT words behind the first BEFORE. Each is RATIO times the one before it
 * or, if they fall, the one behind it. */
typedef struct {
    uint64_t before, count;
    int64_t ratio;
    bool falls;
} Geometric;

/* Kept small: with random values there is one for each slot of each call. */
struct DeltaSequence {
    uint64_t n;
    uint32_t references;
    enum { OF_RUN, OF_WORDS, OF_RULES, OF_TURNED } form; /* the last one is only of archives */
    union {
        struct {
            int64_t value, step;
        } run;
        int64_t *words; /* OF_WORDS */
        Ruled *ruled;
        Turned *turned;
    };
};

/* Sums that wrap, since an archive may have any numbers. */
static inline int64_t delta_sequence_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t delta_sequence_difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline int64_t delta_sequence_multiple(int64_t a, uint64_t n)
{
    return (int64_t)((uint64_t)a * n);
}

/* -- delta-sequence.c -- */
/* Makes a delta sequence of N words of rules, which the caller fills in. */
Ruled *delta_sequence_make_ruled(DeltaSequence *s);
/* Computes the extents of all rules and symbols. false: a rule uses itself or is empty, or there
 * are more than 2^62 words. */
bool ruled_measure(Ruled *r);
int64_t *delta_sequence_words(
    const DeltaSequence *s); /* all words; the caller frees them with memory_free */

/* -- delta-sequence-patterns.c: reading (N: the length of the delta sequence) -- */
DeltaSequenceRun turned_run(const Turned *t, uint64_t index, uint64_t n);

/* -- finding patterns. false, or a count of 0: there is none -- */
bool turned_find(const DeltaSequence *s, Turned *t);
/* The longest geometric stretch. Partners and sizes in a tree are such, and the numbers of ranks on
 * its levels. */
Geometric geometric_find(const int64_t *words, uint64_t n);

/* -- decoding patterns -- */
/* Are all words of the stretch ordinary, without overflow? */
bool turned_in_range(const Turned *t, uint64_t n);
/* The word from which the others of a stretch follow: the first or, if they fall, the last. */
static inline uint64_t geometric_origin(const Geometric *g)
{
    return g->falls ? g->before + g->count - 1 : g->before;
}
/* Sets *PRODUCT to the word that follows WORD. false: it would be no ordinary word. */
bool geometric_next(int64_t word, int64_t ratio, int64_t *product);

#endif
