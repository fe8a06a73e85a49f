/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.h: disjoint ranges of addresses, sorted; and the mappings of the process. */
#ifndef WEND_RANGES_H
#define WEND_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uintptr_t low, high; /* high is the first address after it */
    uintptr_t origin;    /* offsets count from here */
    uintptr_t owner;     /* 0: none */
    int64_t segment;     /* word, or negative: it has none yet */
} Range;

typedef struct {
    Range *at;
    size_t n, cap;
} Ranges;
#define RANGES_INIT \
    {               \
        NULL, 0, 0  \
    }

/* NULL: in none; valid until the next change */
Range *ranges_find(const Ranges *rs, uintptr_t address);
/* false: no memory. What it overlaps must have been removed */
bool ranges_add(Ranges *rs, Range r);
/* one at a time; false: none left */
bool ranges_remove_overlap(Ranges *rs, uintptr_t low, uintptr_t high, Range *removed);
void ranges_free(Ranges *rs);

/* The mapping that ADDRESS is in, by /proc/self/maps; if it is in none (false), the gap between two
 * that it is in. */
bool mapping_of(uintptr_t address, uintptr_t *low, uintptr_t *high);
uintptr_t sysconf_page(void);

#endif
