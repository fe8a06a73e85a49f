/* SPDX-License-Identifier: BSD-3-Clause */
/* derive.h: slots whose values follow from those of other slots of the same terminal.
 *
 * Where each rank has other counts, MPI_Alltoallv and its like are given them without a pattern:
 * the displacements are their running sum, and the counts that one receives those that the others
 * send. */
#ifndef WEND_DERIVE_H
#define WEND_DERIVE_H

#include "rank-vector.h"

/* NONE: by itself. SUM: on each rank the sum of the slot just before and of the one BACK slots
 * before. ACROSS: in an array of as many slots as there are ranks, of which the slot at I has on
 * the rank at J what, BACK slots before, the slot at J has on the rank at I. */
typedef enum { DERIVED_NONE, DERIVED_SUM, DERIVED_ACROSS } DerivedKind;
typedef struct {
    DerivedKind kind;
    guint32 back;
} Derived;

/* SLOTS: the vectors of N slots over N_RANKS ranks. How each of them follows from those before it,
 * if it has no pattern of its own (in an array, the first one counts); newly allocated, N entries.
 * NULL: none does. Each SUM has a slot without a pattern among its two, and each array that others
 * are ACROSS has one at least; all words are ordinary numbers. Time is linear in the words of the
 * slots without a pattern. */
Derived *slots_derive(const RankVector *slots, guint n, guint32 n_ranks);

#endif
