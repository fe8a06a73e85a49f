/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h: the memory of the recorder, counted and limited. No GLib.
 *
 * Everything that grows with the application's calls takes its memory here. A request beyond the
 * limit fails as if the system had no memory: each function says so by its value, and the recording
 * so far stays readable. There is one count for the process. */
#ifndef WEND_BUDGET_H
#define WEND_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* A WendResize (buf.h): reallocates P from OLD to N bytes. N 0 frees it. NULL: no memory. */
void *budget_resize(void *p, size_t old, size_t n);
void *budget_zeroed(size_t n); /* N zeroed bytes; NULL: no memory */
static inline void budget_free(void *p, size_t n)
{
    budget_resize(p, n, 0);
}

/* Counts N bytes that the caller has from elsewhere, if that and all the rest is at most half of
 * the limit. False: it is more, and nothing has happened; REACHED is not called. A signal handler
 * may call both. */
bool budget_take_half(size_t n);
void budget_give(size_t n);

size_t budget_held(void);   /* the sum of the requested sizes, in bytes */
bool budget_is_ample(void); /* at most a quarter of the limit is held */
/* Sets the limit to BYTES; SIZE_MAX is none. REACHED is called each time that a request is refused,
 * in the thread that made it, which may hold any lock of the recorder. */
void budget_limit(size_t bytes, void (*reached)(void));

/* Sets a function that secures something else for the memory held, such as space on a disk. It is
 * called before more bytes are held than its last answer, with the bytes that will be held. It
 * returns how many may be held before the next call, or 0 to refuse. Threads that need memory call
 * it, also two at once. NULL: no function. */
void budget_beside(size_t (*secure)(size_t bytes));

#endif
