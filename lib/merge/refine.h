/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.h: the common refinement of two sequences whose calls have equal shapes in the same order.
 *
 * On a rank, two calls of one shape are one terminal if all their slots are equal. If sizes follow
 * from a rank's place in a grid, other calls are equal on each rank, and the grammars differ. In
 * the common refinement two calls are one terminal if they are one on all ranks. So one grammar
 * serves all of them. */
#ifndef WEND_REFINE_H
#define WEND_REFINE_H

#include "class.h"

/* Appends to KEY the length and a 122-bit hash of the sequence's shapes. They are equal for two
 * sequences if their calls have equal shapes in the same order. false: the grammar is damaged, or
 * the sequence is too long to be refined. */
bool refine_key(const Sequence *s, WendBuf *key);

typedef struct {
    uint32_t n;      /* number of terminals */
    uint32_t *of[2]; /* by terminal: the terminal of a, and that of b */
    Bytes *grammar;
} Refinement;

/* The common refinement of the main sequences of A and B, with terminals in the order of their
 * first calls. false: their shapes differ, or it would have far more terminals than both. Time is
 * linear in the runs of calls of one terminal. */
bool refine(Refinement *r, const Sequence *a, const Sequence *b);
void refinement_clear(Refinement *r);

#endif
