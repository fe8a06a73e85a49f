/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.h: memory for one task of the watcher, from the system and not from malloc. A thread of
 * the application may hold malloc's locks, and may have been stopped for good. */
#ifndef WEND_SCRATCH_H
#define WEND_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* A WendResize (lib/base/buf.h). Freed memory is returned by scratch_clear only. */
void *scratch_resize(void *p, size_t old, size_t n);
void scratch_clear(void); /* frees all memory */
/* Makes sure that BYTES can be had later, even if the system has no memory left then. It reserves
 * address space if the process has a limit of it, or if the system does not overcommit. Returns
 * false if there is not so much; an earlier reservation stays. Any thread may call it. */
bool scratch_reserve(size_t bytes);

#endif
