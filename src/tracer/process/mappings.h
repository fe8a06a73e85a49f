/* SPDX-License-Identifier: BSD-3-Clause */
/* mappings.h: the mappings of the process, as the kernel shows them. It joins neighbours. */
#ifndef WEND_MAPPINGS_H
#define WEND_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the mapping that contains ADDRESS, by /proc/self/maps: from *LOW up to *HIGH. If there is
 * none, returns false and gives the gap between two mappings that contains it. Takes some
 * microseconds, and no memory. */
bool mappings_find(uintptr_t address, uintptr_t *low, uintptr_t *high);

#endif
