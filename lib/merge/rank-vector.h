/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-vector.h: the values of one slot over the ranks of a class.
 *
 * A vector is kept as the simplest of these that fits: a constant, self + k, else a delta sequence
 * (delta-sequence.h) of the values, or of their differences to self, in the order of ranks. While
 * ranks are merged the candidates that still fit are carried along, so most merges compare two
 * numbers. What a vector becomes depends on the values alone, never on the order in which ranks
 * were merged.
 *
 * A vector does not know its ranks: who has it does. */
#ifndef WEND_RANK_VECTOR_H
#define WEND_RANK_VECTOR_H

#include <glib.h>

#include "base/buf.h"
#include "rankset.h"
#include "delta-sequence.h"

typedef struct {
    gint64 value; /* each value; else one of the marks */
    union {
        /* value - self; RANK_VECTOR_NO_DELTA: self + k does not fit */
        gint64 delta;
        /* one word for each rank; which mark says whether they are what is added to self, special
         * words standing for themselves */
        DeltaSequence *deltas;
    };
} RankVector;

/* In the place of words, which they cannot be. There are as many vectors as words of a rank that
 * has values by chance: so each is two of them. */
enum { RANK_VECTOR_MARKS = 4 };
#define RANK_VECTOR_MARK(i) (INT64_MIN + 0xff0 + (i))
#define RANK_VECTOR_NO_DELTA RANK_VECTOR_MARK(0)
#define RANK_VECTOR_RELATIVE RANK_VECTOR_MARK(1)
#define RANK_VECTOR_DELTAS RANK_VECTOR_MARK(2)
#define RANK_VECTOR_DELTAS_OF_SELF RANK_VECTOR_MARK(3)
static inline gboolean rank_vector_is_mark(gint64 word)
{
    return word >= RANK_VECTOR_MARK(0) && word < RANK_VECTOR_MARK(RANK_VECTOR_MARKS);
}
/* The candidates that fit; none: it is a delta sequence. */
static inline gboolean rank_vector_is_constant(const RankVector *v)
{
    return !rank_vector_is_mark(v->value);
}
static inline gboolean rank_vector_is_deltas(const RankVector *v)
{
    return v->value == RANK_VECTOR_DELTAS || v->value == RANK_VECTOR_DELTAS_OF_SELF;
}
static inline gboolean rank_vector_is_relative(const RankVector *v)
{
    return !rank_vector_is_deltas(v) && v->delta != RANK_VECTOR_NO_DELTA;
}

/* Ranks with a vector, and with what self is there: FIRST is the vector of slot 0, or NULL where
 * self is the rank in the world. */
typedef struct {
    const RankSet *ranks;
    const RankVector *values, *first;
} RankVectorOn;

RankVector rank_vector_single(gint64 value, gint64 self);               /* no mark */
RankVector rank_vector_deltas(DeltaSequence *deltas, gboolean of_self); /* takes the reference */
RankVector rank_vector_copy(const RankVector *v);
/* 0 in all its bytes: nothing to clear */
void rank_vector_clear(RankVector *v);
/* a becomes the vector over both rank sets if a candidate fits both; FALSE: nothing done, use
 * rank_vector_unite. */
gboolean rank_vector_join(RankVector *a, const RankVector *b);
gboolean rank_vector_joins(const RankVector *a, const RankVector *b);
gboolean rank_vector_equal(const RankVector *a, const RankVector *b);
/* The vector over two disjoint sets, whatever fits. Time follows the runs of values and ranks,
 * memory what they are kept as. */
RankVector rank_vector_unite(const RankVectorOn *a, const RankVectorOn *b);
/* The value at the INDEXth of the ranks, self being SELF there. */
gint64 rank_vector_at(const RankVector *v, guint64 index, gint64 self);

/* What some ranks of a torus of WORLD ranks have as a neighbour, PART, a delta sequence: to *WHOLE,
 * what all of ranks 0 to WORLD - 1 have, whose words on PART's ranks have PART's values if self is
 * what it is for PART. FALSE: PART is no such vector, and *WHOLE is as it was. */
gboolean rank_vector_complete(const RankVectorOn *part, guint32 world, RankVector *whole);

void rank_vector_encode(const RankVector *v, WendBuf *out);
gboolean rank_vector_decode(RankVector *v, WendCursor *c, guint32 n); /* over n ranks */

/* value - self, if both are ordinary numbers and so is it. */
gboolean word_difference(gint64 value, gint64 self, gint64 *difference);
/* self + delta; WEND_ABSENT where self is no number or the sum is none. */
gint64 word_sum(gint64 self, gint64 delta);

#endif
