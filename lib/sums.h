/* sums.h: slots that are the sum of two others on every rank.
 *
 * Displacements are the running sum of counts: what MPI_Alltoallv, MPI_Gatherv and their like are given where each rank has other counts, and these have no pattern. */
#ifndef WEND_SUMS_H
#define WEND_SUMS_H

#include "vector.h"

/* SLOTS: the vectors of N slots over N_RANKS ranks. For each slot that is, on all ranks, the sum of the slot just before it and of another one before it: 1 + that one's index; for all others,
 * and those of any pattern of their own, 0. Newly allocated, N entries; NULL: there is no sum of an array. Time is linear in the words of the slots without a pattern. */
guint32 *sums_find(const Vector *slots, guint n, guint32 n_ranks);

#endif
