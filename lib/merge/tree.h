/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h: the tree along which ranks merge: in steps of 1, 2, 4, … a rank takes what the rank STEP
 * above it has, until it gives what it has to the rank STEP below it. No GLib: for the tracer. */
#ifndef WEND_TREE_H
#define WEND_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether RANK, one of SIZE, which is about to take in STEP or to give, can make a shard of what it
 * has. It waits if it is still to take from fewer than LEAST ranks at once, for these are too few
 * for a shard. Rank 0 makes none. */
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
