/* SPDX-License-Identifier: BSD-3-Clause */
/* derive.h: slots whose values follow from other slots of the same terminal.
 *
 * The counts of MPI_Alltoallv and similar calls may have no pattern over ranks. But the
 * displacements are their running sum, and the counts that a rank receives are those that the
 * others send. */
#ifndef WEND_DERIVE_H
#define WEND_DERIVE_H

#include "ranks/rank-vector.h"

/* NONE: the slot does not follow. SUM: on each rank it is the sum of the slot just before and of
 * the slot BACK before. ACROSS: the slot is in an array of as many slots as there are ranks, and
 * another array is BACK slots before. Element I of the array on rank J equals element J of the
 * other array on rank I, as counts received and sent do. */
typedef enum { DERIVED_NONE, DERIVED_SUM, DERIVED_ACROSS } DerivedKind;
typedef struct {
    DerivedKind kind;
    uint32_t back;
} Derived;

/* Finds how each of the N slots at SLOTS, which are vectors over N_RANKS ranks, follows from slots
 * before it. Slots with a pattern of their own are left out (of an array, the first slot decides).
 * Returns N newly allocated entries, or NULL if no slot follows. At least one of the two slots of a
 * SUM has no pattern, and so has a slot of each array that others are ACROSS. All words are
 * ordinary numbers. Time is linear in the words of the slots without a pattern. */
Derived *derive_slots(const RankVector *slots, uint32_t n, uint32_t n_ranks);

#endif
