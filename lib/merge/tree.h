/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h: the binomial tree along which ranks merge. In step STEP = 1, 2, 4, …, a rank receives the
 * merge of the rank STEP above it, or sends its own to the rank STEP below it and is done. No GLib:
 * the tracer uses it. */
#ifndef WEND_TREE_H
#define WEND_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether RANK, of SIZE ranks, may make a shard before step STEP. If it will still receive from a
 * subtree of fewer than LEAST ranks, which cannot make a shard, it must wait for that subtree. Rank
 * 0 makes none. */
static inline bool tree_may_shard(uint64_t rank, uint64_t step, uint64_t size, uint64_t least)
{
    for (; !(rank & step) && rank + step < size; step *= 2) {
        uint64_t there = size - rank - step;
        if ((there < step ? there : step) < least)
            return false;
    }
    return rank > 0;
}

#endif
