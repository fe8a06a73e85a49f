/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.h: memory for one piece of work of the watcher, from the system and not from malloc: a
 * thread of the application may hold malloc's locks, and may have been stopped there for good. */
#ifndef WEND_SCRATCH_H
#define WEND_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* a WendResize (lib/base/buf.h); what is freed comes back with scratch_clear */
void *scratch_resize(void *p, size_t old, size_t n);
void scratch_clear(void); /* all at once */
/* From now on BYTES can be had without fail where the system has none left: address space is set
 * aside if the process has a limit of it, or the system promises no more than it has. FALSE: so
 * much there is not, and what was set aside before is still there. For any thread. */
bool scratch_reserve(size_t bytes);

#endif
