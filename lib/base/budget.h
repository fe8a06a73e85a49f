/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h: memory of the recorder: what it holds is counted, and beyond a limit there is none. No
 * GLib.
 *
 * Everything that grows with what the application does takes its memory here. What is refused is as
 * if the system had none: each step says so by its value, and what was recorded stays readable.
 * There is one count for the process; without a limit (tools, the merge) it costs nothing that
 * matters. */
#ifndef WEND_BUDGET_H
#define WEND_BUDGET_H

#include <stddef.h>

/* a WendResize (buf.h): realloc; OLD is what P has, N 0 frees */
void *wend_budget_resize(void *p, size_t old, size_t n);
void *wend_budget_zeroed(size_t n); /* calloc */
static inline void wend_budget_free(void *p, size_t n)
{
    wend_budget_resize(p, n, 0);
}

size_t wend_budget_held(void); /* bytes, as asked for */
/* From now on no more than BYTES are held, SIZE_MAX: no limit. REACHED is called each time that
 * something is refused, in the thread that asked, which may hold any lock of the recorder's. */
void wend_budget_limit(size_t bytes, void (*reached)(void));

/* Asked before more is held than the last answer said, with the bytes that are to be held: how
 * many may be before it is asked again, or 0 if what has to be had beside them cannot be. In the
 * thread that asks for memory, also two at once. NULL: nothing is to be had. */
void wend_budget_beside(size_t (*secure)(size_t bytes));

#endif
