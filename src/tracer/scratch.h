/* scratch.h: memory for one piece of work of the watcher, from the system and not from malloc: a thread of the application may hold malloc's locks, and
 * may have been stopped there for good. */
#ifndef WEND_SCRATCH_H
#define WEND_SCRATCH_H

#include <stddef.h>

void *scratch_resize(void *p, size_t old, size_t n); /* a WendResize (lib/buf.h); what is freed comes back with scratch_clear */
void scratch_clear(void);                            /* all at once */

#endif
