/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.h: sorted, disjoint ranges of addresses. */
#ifndef WEND_RANGES_H
#define WEND_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uintptr_t low, high; /* high is the first address after the range */
    uintptr_t origin;    /* offsets are relative to it */
    uintptr_t owner;     /* 0: none */
    int64_t segment;     /* word; negative: none so far */
} Range;

typedef struct {
    Range *at;
    size_t n, cap;
} Ranges;
#define RANGES_INIT \
    {               \
        NULL, 0, 0  \
    }

/* The range that contains ADDRESS, or NULL. Valid until the next change. */
Range *ranges_find(const Ranges *rs, uintptr_t address);
/* Adds R. Ranges that overlap it must have been removed. Returns false if memory is short. */
bool ranges_add(Ranges *rs, Range r);
/* One that overlaps [LOW, HIGH), or NULL. Valid until the next change. */
const Range *ranges_find_overlap(const Ranges *rs, uintptr_t low, uintptr_t high);
/* Removes one range that overlaps [LOW, HIGH). Returns false if there is none. */
bool ranges_remove_overlap(Ranges *rs, uintptr_t low, uintptr_t high, Range *removed);
/* Removes [LOW, HIGH) from all ranges. One that reaches beyond is cut, and one that reaches beyond
 * at both ends becomes two. Returns false if memory is short. */
bool ranges_cut(Ranges *rs, uintptr_t low, uintptr_t high);
void ranges_free(Ranges *rs);

uintptr_t ranges_page(void);

#endif
