/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.h: what the program has mapped, call by call. The kernel joins neighbours in some runs.
 *
 * mapped_add and mapped_remove may be called in a signal handler, and with any lock held. No
 * function allocates memory.
 *
 * Sorted, disjoint ranges of addresses. */
#ifndef WEND_MAPPED_H
#define WEND_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Notes a mapping of BYTES bytes, after the call that made it. One that is put into another (IN)
 * belongs to that. Otherwise it takes the place of what was there. */
void mapped_add(uintptr_t low, size_t bytes, bool in);
/* Notes that nothing is mapped there any more, before the call. */
void mapped_remove(uintptr_t low, size_t bytes);

/* The mapping of the program's that contains ADDRESS: sets *LOW and *HIGH, and returns true. With
 * NAME its end is kept for mapped_ended. If there is none, returns false, and cuts the range *LOW
 * to *HIGH, which contains ADDRESS, where mappings of the program's begin. */
bool mapped_find(uintptr_t address, bool name, uintptr_t *low, uintptr_t *high);

/* Takes the oldest end of a named mapping, or of a part of one. */
typedef struct {
    uintptr_t low, high;
    int64_t thread; /* that made the call; negative: it has no number */
} MappedEnd;
bool mapped_ended(MappedEnd *end);

/* -- ranges of addresses -- */

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
