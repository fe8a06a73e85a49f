/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage.h: for code that cannot go on when memory is short. */
#ifndef WEND_SHORTAGE_H
#define WEND_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a merge at MPI_Finalize, ends the merge and returns from heap_try (small/heap.h). In a
 * command, calls the function of wend_shortage_ends, or abort if there is none. */
_Noreturn void wend_shortage(void);
/* Would BYTES that a library is about to allocate with malloc be too many? */
bool wend_shortage_ahead(uint64_t bytes);
/* Reserves BYTES for small allocations, which then cannot fail. For code that holds signals or has
 * files open and must not be left halfway. */
void wend_shortage_reserve(size_t bytes);
/* For commands: END prints the message and does not return. */
void wend_shortage_ends(void (*end)(void));

#endif
