/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.h: two sequences of calls of the same shapes in the same order that tell other calls
 * apart.
 *
 * Two calls of one shape are one terminal on a rank where all their slots are equal. Where sizes
 * follow from a rank's place in a grid these are other calls on each rank, and so are the grammars.
 * In the common refinement two calls are one terminal if they are one on all ranks: then one
 * grammar does for all of them. */
#ifndef WEND_REFINE_H
#define WEND_REFINE_H

#include "class.h"

/* Appends to KEY what is equal for two sequences if their calls have equal shapes in the same
 * order: length and a hash of 122 bits. FALSE: the grammar is damaged, or the sequence is too long
 * to be refined. */
gboolean refine_key(const Sequence *s, WendBuf *key);

typedef struct {
    guint n;        /* terminals */
    guint32 *of[2]; /* by terminal: which one of a, of b */
    GBytes *grammar;
} Refinement;

/* The common refinement of the main sequences of A and B, terminals in the order of their first
 * calls. FALSE: they are not of the same shapes, or it would have far more terminals than both.
 * Time follows the calls, runs of one terminal counting once. */
gboolean refine(Refinement *r, const Sequence *a, const Sequence *b);
void refinement_clear(Refinement *r);

#endif
