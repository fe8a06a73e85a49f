/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.c: sorted, disjoint ranges. */
#include "ranges.h"

#include <string.h>
#include <unistd.h>

#include "lib/base/budget.h"

/* The index of the first range that ends above ADDRESS. */
static size_t above(const Ranges *rs, uintptr_t address)
{
    size_t low = 0, high = rs->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (rs->at[mid].high <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

Range *ranges_find(const Ranges *rs, uintptr_t address)
{
    size_t i = above(rs, address);
    return i < rs->n && rs->at[i].low <= address ? &rs->at[i] : NULL;
}

bool ranges_add(Ranges *rs, Range r)
{
    if (rs->n == rs->cap) {
        size_t cap = rs->cap ? 2 * rs->cap : 16;
        Range *grown = wend_budget_resize(rs->at, rs->cap * sizeof *grown, cap * sizeof *grown);
        if (!grown)
            return false;
        rs->at = grown;
        rs->cap = cap;
    }
    size_t i = above(rs, r.low);
    memmove(&rs->at[i + 1], &rs->at[i], (rs->n - i) * sizeof *rs->at);
    rs->at[i] = r;
    rs->n++;
    return true;
}

const Range *ranges_find_overlap(const Ranges *rs, uintptr_t low, uintptr_t high)
{
    size_t i = above(rs, low);
    return i < rs->n && rs->at[i].low < high ? &rs->at[i] : NULL;
}

bool ranges_remove_overlap(Ranges *rs, uintptr_t low, uintptr_t high, Range *removed)
{
    const Range *r = ranges_find_overlap(rs, low, high);
    if (!r)
        return false;
    size_t i = (size_t)(r - rs->at);
    *removed = *r;
    rs->n--;
    memmove(&rs->at[i], &rs->at[i + 1], (rs->n - i) * sizeof *rs->at);
    return true;
}

bool ranges_cut(Ranges *rs, uintptr_t low, uintptr_t high)
{
    bool added = true;
    Range old;
    while (ranges_remove_overlap(rs, low, high, &old)) {
        Range below = old, above = old;
        below.high = low;
        above.low = high;
        if (old.low < low)
            added &= ranges_add(rs, below);
        if (old.high > high)
            added &= ranges_add(rs, above);
    }
    return added;
}

void ranges_free(Ranges *rs)
{
    wend_budget_free(rs->at, rs->cap * sizeof *rs->at);
    *rs = (Ranges)RANGES_INIT;
}

uintptr_t ranges_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (uintptr_t)page : 4096;
}
