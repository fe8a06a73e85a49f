/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h: memory for work in a process that is not ours, from the system and not from malloc:
 * bounded, dropped as a whole, and short of it the work ends.
 *
 * What runs in heap_try gets memory or does not come back: no caller checks. When memory is short,
 * heap_try drops all of it and says so by its value. One
 * thread at a time. It holds for all that is compiled with memory.h, and for what takes GLib's
 * place there (glib.h). */
#ifndef WEND_HEAP_H
#define WEND_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Asked before BYTES more come from the system: whether they may. */
typedef bool (*HeapRoom)(uint64_t bytes);
/* How much may come beside what is held, and whom to ask each time; NULL: nobody. */
void heap_limit(uint64_t bytes, HeapRoom room);

/* WORK(USER). False: memory was short, all of it was dropped, and nothing that was in it is
 * there any more. */
bool heap_try(void (*work)(void *user), void *user);
/* the last time: by the limit or by whom it asks, and not by the system */
bool heap_was_refused(void);
uint64_t heap_held(void); /* bytes from the system */
void heap_drop(void);

/* In heap_try only, but for heap_free. Never NULL. */
void *heap_new(size_t n);
void *heap_zeroed(size_t n, size_t size);
void *heap_resize(void *p, size_t n); /* P may be NULL */
void heap_free(void *p);              /* P may be NULL */
size_t heap_usable(const void *p);    /* bytes, at least those asked for */

/* Without heap_try: NULL where memory is short. */
void *heap_new_or_null(size_t n);

#endif
