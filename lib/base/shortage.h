/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage.h: memory is short, and what calls cannot go on. */
#ifndef WEND_SHORTAGE_H
#define WEND_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a merge that an application waits for: leads back to where it began (small/heap.h). In a
 * command: says so and ends it with the exit status for errors of the system, as whoever has set
 * that says (shortage.c). */
_Noreturn void wend_shortage(void);
/* a library that we call is about to take so many by malloc: they are not to spare */
bool wend_shortage_ahead(uint64_t bytes);
/* From here on BYTES in small pieces can be had without fail, so that what has signals held or
 * files open is not left halfway. */
void wend_shortage_reserve(size_t bytes);
void wend_shortage_ends(void (*end)(void)); /* commands: END says it, and does not come back */

#endif
