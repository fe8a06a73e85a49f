/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h: the binomial tree along which ranks merge. The steps are STEP = 1, 2, 4, … In each, a
 * rank either receives the merge of the rank STEP above it, or sends its own to the rank STEP below
 * it and is done. No GLib: the tracer uses it. */
#ifndef WEND_TREE_H
#define WEND_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* The least number of ranks of a shard. Fewer than LEAST (WEND_SHARD_RANKS) make one only if they
 * have many terminals (shard_is_due). */
static inline uint64_t tree_least(uint64_t least)
{
    return least < 8 ? 1 : least / 8;
}

/* In the first steps, small parts go as they are. The rank that has them after these steps reads
 * them all: it reads 4 MB of parts in 50 ms. Merging ranks takes time by their calls, so ranks with
 * more than TREE_PARTS_CALLS read their own parts. */
enum { TREE_PARTS_RANKS = 8, TREE_PARTS_BYTES = 4 << 20, TREE_PARTS_CALLS = 1 << 16 };

/* Whether ranks send parts as they are in step STEP. One rank reads those of at most as many ranks
 * as the smallest shard has. */
static inline bool tree_sends_parts(uint64_t step, uint64_t least)
{
    return 2 * step <= TREE_PARTS_RANKS && 2 * step <= tree_least(least);
}

/* Whether RANK, of SIZE ranks, may make a shard before step STEP: it has merged enough ranks. If it
 * will still receive from a subtree that has too few ranks for a shard, it must wait for that
 * subtree. What rank 0 has after the last step is no shard, but is in "program". */
static inline bool tree_may_shard(uint64_t rank, uint64_t step, uint64_t size, uint64_t least)
{
    uint64_t merged = size - rank < step ? size - rank : step;
    if (merged < tree_least(least) || step >= size)
        return false;
    for (; !(rank & step) && rank + step < size; step *= 2) {
        uint64_t there = size - rank - step;
        if ((there < step ? there : step) < tree_least(least))
            return false;
    }
    return true;
}

#endif
