/* SPDX-License-Identifier: BSD-3-Clause */
/* vector.h: the values of one slot over the ranks of a class.
 *
 * A vector is kept as the simplest of these that fits: a constant, self + k, else a series (series.h) of the values, or of their differences
 * to self, in the order of ranks. While ranks are merged the candidates that still fit are carried along, so most merges compare two numbers.
 * What a vector becomes depends on the values alone, never on the order in which ranks were merged.
 *
 * A vector does not know its ranks: who has it does. */
#ifndef WEND_VECTOR_H
#define WEND_VECTOR_H

#include <glib.h>

#include "base/buf.h"
#include "rankset.h"
#include "series.h"

typedef struct {
    gint64 value;                     /* each value; else one of the marks */
    union {
        gint64 delta;                 /* value - self; VECTOR_NO_DELTA: self + k does not fit */
        Series *series;               /* one word for each rank; which mark says whether they are what is added to self, special words standing for themselves */
    };
} Vector;

/* In the place of words, which they cannot be. There are as many vectors as words of a rank that has values by chance: so each is two of them. */
enum { VECTOR_MARKS = 4 };
#define VECTOR_MARK(i) (INT64_MIN + 0xff0 + (i))
#define VECTOR_NO_DELTA VECTOR_MARK(0)
#define VECTOR_RELATIVE VECTOR_MARK(1)
#define VECTOR_SERIES VECTOR_MARK(2)
#define VECTOR_SERIES_OF_SELF VECTOR_MARK(3)
static inline gboolean vector_is_mark(gint64 word) { return word >= VECTOR_MARK(0) && word < VECTOR_MARK(VECTOR_MARKS); }
/* The candidates that fit; none: it is a series. */
static inline gboolean vector_is_constant(const Vector *v) { return !vector_is_mark(v->value); }
static inline gboolean vector_is_series(const Vector *v) { return v->value == VECTOR_SERIES || v->value == VECTOR_SERIES_OF_SELF; }
static inline gboolean vector_is_relative(const Vector *v) { return !vector_is_series(v) && v->delta != VECTOR_NO_DELTA; }

/* Ranks with a vector, and with what self is there: FIRST is the vector of slot 0, or NULL where self is the rank in the world. */
typedef struct { const RankSet *ranks; const Vector *values, *first; } VectorOn;

Vector vector_single(gint64 value, gint64 self);          /* no mark */
Vector vector_series(Series *series, gboolean of_self);   /* takes the reference */
Vector vector_copy(const Vector *v);
void vector_clear(Vector *v);                             /* 0 in all its bytes: nothing to clear */
/* a becomes the vector over both rank sets if a candidate fits both; FALSE: nothing done, use vector_unite. */
gboolean vector_join(Vector *a, const Vector *b);
gboolean vector_joins(const Vector *a, const Vector *b);
gboolean vector_equal(const Vector *a, const Vector *b);
/* The vector over two disjoint sets, whatever fits. Time follows the runs of values and ranks, memory what they are kept as. */
Vector vector_unite(const VectorOn *a, const VectorOn *b);
/* The value at the INDEXth of the ranks, self being SELF there. */
gint64 vector_at(const Vector *v, guint64 index, gint64 self);

void vector_encode(const Vector *v, WendBuf *out);
gboolean vector_decode(Vector *v, WendCursor *c, guint32 n); /* over n ranks */

/* value - self, if both are ordinary numbers and so is it. */
gboolean word_difference(gint64 value, gint64 self, gint64 *difference);
/* self + delta; WEND_ABSENT where self is no number or the sum is none. */
gint64 word_sum(gint64 self, gint64 delta);

#endif
