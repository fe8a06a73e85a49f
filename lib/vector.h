/* vector.h: the values of one slot over the ranks of a class.
 *
 * A vector is kept as the simplest expression that fits: a constant, self + k, else a row of pieces. While ranks are merged the
 * candidates that still fit are carried along, so most merges compare two numbers, and memory follows the pieces and not the ranks. What a vector
 * becomes depends on the values alone, never on the order in which ranks were merged. */
#ifndef WEND_VECTOR_H
#define WEND_VECTOR_H

#include <glib.h>

#include "buf.h"
#include "program.h"

typedef struct {
    gboolean constant, relative;  /* candidates that fit; none: pieces */
    gint64 value, delta;          /* constant: each value; relative: value - self */
    guint n_pieces;
    WendSlotPiece *pieces;        /* ascending by first */
} Vector;

Vector vector_single(gint64 value, gint64 self);
Vector vector_copy(const Vector *v);
void vector_clear(Vector *v);
/* a becomes the vector over both rank sets if a candidate fits both; FALSE: nothing done, use vector_values and vector_fit. */
gboolean vector_join(Vector *a, const Vector *b);
gboolean vector_joins(const Vector *a, const Vector *b);
gboolean vector_equal(const Vector *a, const Vector *b);
/* out[i] = value at ranks[i] (ascending), selfs[i] being self there. Ranks in no piece: WEND_ABSENT. */
void vector_values(const Vector *v, const guint32 *ranks, const gint64 *selfs, guint32 n, gint64 *out);
Vector vector_fit(const guint32 *ranks, const gint64 *values, const gint64 *selfs, guint32 n);

void vector_encode(const Vector *v, WendBuf *out);
gboolean vector_decode(Vector *v, WendCursor *c);

/* value - self, if both are ordinary numbers. */
gboolean word_difference(gint64 value, gint64 self, gint64 *difference);
/* self + delta; WEND_ABSENT where self is no number or the sum is none. */
gint64 word_sum(gint64 self, gint64 delta);

#endif
