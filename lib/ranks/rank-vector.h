/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-vector.h: the values of one slot over the ranks of a class.
 *
 * A vector is kept as the simplest of these that fits: a constant, self + k, else a delta sequence
 * (delta-sequence.h) of the values, or of their differences to self, in the order of ranks. While
 * ranks are merged the candidates that still fit are carried along, so most merges compare two
 * numbers. What a vector becomes depends on the values alone, never on the order in which ranks
 * were merged.
 *
 * A vector does not have its ranks; its owner has them. */
#ifndef WEND_RANK_VECTOR_H
#define WEND_RANK_VECTOR_H

#include "base/buf.h"
#include "base/containers.h"
#include "delta-sequence.h"
#include "rankset.h"

typedef struct {
    int64_t value; /* the value of all ranks, or a mark */
    union {
        /* value - self; RANK_VECTOR_NO_DELTA: self + k does not fit */
        int64_t delta;
        /* one word for each rank. The mark says whether ordinary words are added to self */
        DeltaSequence *deltas;
    };
} RankVector;

/* Marks in place of a value; no word is equal to one. A rank with random values has a vector for
 * each word, so a vector is kept to two words. */
enum { RANK_VECTOR_MARKS = 4 };
#define RANK_VECTOR_MARK(i) (INT64_MIN + 0xff0 + (i))
#define RANK_VECTOR_NO_DELTA RANK_VECTOR_MARK(0)
#define RANK_VECTOR_RELATIVE RANK_VECTOR_MARK(1)
#define RANK_VECTOR_DELTAS RANK_VECTOR_MARK(2)
#define RANK_VECTOR_DELTAS_OF_SELF RANK_VECTOR_MARK(3)
static inline bool rank_vector_is_mark(int64_t word)
{
    return word >= RANK_VECTOR_MARK(0) && word < RANK_VECTOR_MARK(RANK_VECTOR_MARKS);
}
/* Which candidates fit? If none does, the vector is a delta sequence. */
static inline bool rank_vector_is_constant(const RankVector *v)
{
    return !rank_vector_is_mark(v->value);
}
static inline bool rank_vector_is_deltas(const RankVector *v)
{
    return v->value == RANK_VECTOR_DELTAS || v->value == RANK_VECTOR_DELTAS_OF_SELF;
}
static inline bool rank_vector_is_relative(const RankVector *v)
{
    return !rank_vector_is_deltas(v) && v->delta != RANK_VECTOR_NO_DELTA;
}

/* The ranks of a vector, and their values of self. FIRST is the vector of slot 0, which is self, or
 * NULL if self is the rank in the world. */
typedef struct {
    const RankSet *ranks;
    const RankVector *values, *first;
} RankVectorOn;

RankVector rank_vector_single(int64_t value, int64_t self);         /* no mark */
RankVector rank_vector_deltas(DeltaSequence *deltas, bool of_self); /* takes the reference */
RankVector rank_vector_copy(const RankVector *v);
/* All bytes are 0; it need not be cleared. */
void rank_vector_clear(RankVector *v);
/* If a candidate fits both A and B, A becomes the vector over both rank sets. false: A is
 * unchanged; use rank_vector_unite. */
bool rank_vector_join(RankVector *a, const RankVector *b);
bool rank_vector_joins(const RankVector *a, const RankVector *b);
bool rank_vector_equal(const RankVector *a, const RankVector *b);
/* The vector over two disjoint sets. Time is linear in the runs of values and ranks. */
RankVector rank_vector_unite(const RankVectorOn *a, const RankVectorOn *b);
/* The value at the rank with this index. SELF: the value of self there. */
int64_t rank_vector_at(const RankVector *v, uint64_t index, int64_t self);

/* Completes PART, the neighbours of some ranks of a torus of WORLD ranks as a delta sequence, to
 * *WHOLE, the neighbours of all ranks. On the ranks of PART, *WHOLE has the values of PART if self
 * has the values that it has there. Returns false and leaves *WHOLE unchanged if PART is no such
 * vector. For an archive only (delta_sequence_complete_torus). */
bool rank_vector_complete(const RankVectorOn *part, uint32_t world, RankVector *whole);

void rank_vector_encode(const RankVector *v, WendBuf *out);
bool rank_vector_decode(RankVector *v, WendCursor *c, uint32_t n); /* over n ranks */

/* value - self, if both and the difference are ordinary numbers. */
bool rank_vector_word_difference(int64_t value, int64_t self, int64_t *difference);
/* self + delta, or WEND_ABSENT if self or the sum is no ordinary number. */
int64_t rank_vector_word_sum(int64_t self, int64_t delta);

#endif
