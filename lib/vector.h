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

#include "buf.h"
#include "rankset.h"
#include "series.h"

typedef struct {
    gint64 value, delta;              /* constant: each value; relative: value - self */
    Series *series;                   /* one word for each rank */
    guint8 constant, relative;        /* gboolean: candidates that fit; none: series */
    guint8 of_self;                   /* gboolean: the series is of what is added to self, special words standing for themselves */
} Vector;

/* Ranks with a vector, and with what self is there: FIRST is the vector of slot 0, or NULL where self is the rank in the world. */
typedef struct { const RankSet *ranks; const Vector *values, *first; } VectorOn;

Vector vector_single(gint64 value, gint64 self);
Vector vector_copy(const Vector *v);
void vector_clear(Vector *v);
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
