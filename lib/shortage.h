/* shortage.h: memory is short, and what calls cannot go on. */
#ifndef WEND_SHORTAGE_H
#define WEND_SHORTAGE_H

#include <stdbool.h>
#include <stdint.h>

/* In a merge that an application waits for: leads back to where it began (small/heap.h). In a
 * command: says so and ends it with the exit status for errors of the system, as whoever has set
 * that says (shortage.c). */
_Noreturn void wend_shortage(void);
/* a library that we call is about to take so many by malloc: they are not to spare */
bool wend_shortage_ahead(uint64_t bytes);
void wend_shortage_ends(void (*end)(void)); /* commands: END says it, and does not come back */

#endif
