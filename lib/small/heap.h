/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h: a heap for the merge in the process of an application. Its memory comes from the system,
 * not from malloc; it is limited, and can be dropped as a whole.
 *
 * Code that runs in heap_try gets memory or does not return, so callers do not check. When memory
 * is short, heap_try drops all of it and returns false. Only one thread at a time may use the heap.
 * All files that are compiled with memory.h or with the glib.h of this folder use it. */
#ifndef WEND_HEAP_H
#define WEND_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called before BYTES more are taken from the system: may they be? */
typedef bool (*HeapRoom)(uint64_t bytes);
/* Allows BYTES beyond those held. ROOM, if not NULL, is asked each time that memory is taken from
 * the system. */
void heap_limit(uint64_t bytes, HeapRoom room);

/* Calls WORK(USER). Returns false if memory was short: then all blocks of the heap are gone. */
bool heap_try(void (*work)(void *user), void *user);
/* Was memory short the last time because of the limit or of ROOM, and not because of the system? */
bool heap_was_refused(void);
uint64_t heap_held(void); /* bytes from the system */
void heap_drop(void);

/* Only heap_free may be called outside heap_try. The others never return NULL. */
void *heap_new(size_t n);
void *heap_zeroed(size_t n, size_t size);
void *heap_resize(void *p, size_t n); /* P may be NULL */
void heap_free(void *p);              /* P may be NULL */
size_t heap_usable(const void *p);    /* bytes, at least those asked for */

/* May be called outside heap_try. Returns NULL if memory is short. */
void *heap_new_or_null(size_t n);

#endif
