/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: the memory of the merge, of the archive, and of all that lib/ does with them.
 *
 * Callers do not check: these functions return memory, or they do not return. In a command, memory
 * comes from malloc, and without any the process ends (memory_ends). A merge inside an application
 * must not end it. There all work is done in memory_try. From its first call on, or that of
 * memory_limit, memory comes from a heap of its own, which is bounded, and which can be dropped as
 * a whole: memory_try drops it and returns false when memory is short. A step that is left so must
 * hold no lock, no file and no thread. Only one thread at a time may use the heap. */
#ifndef WEND_MEMORY_H
#define WEND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory for N objects of TYPE; NULL if N is 0. NEW0: zeroed. RENEW: P, which may be NULL, with
 * room for N. Free it with memory_free. */
#define NEW(type, n) ((type *)memory_array(NULL, n, sizeof(type)))
#define NEW0(type, n) ((type *)memory_zeroed(n, sizeof(type)))
#define RENEW(type, p, n) ((type *)memory_array(p, n, sizeof(type)))

void *memory_new(size_t n);                 /* not NULL, for N 0 either */
void *memory_zeroed(size_t n, size_t size); /* NULL for none */
/* N × SIZE bytes with the content of P, which may be NULL. N × SIZE 0 frees P: NULL. */
void *memory_array(void *p, size_t n, size_t size);
void *memory_copy(const void *p, size_t n); /* NULL if N is 0 */
void memory_free(void *p);                  /* P may be NULL */

/* A variable that is freed at the end of its block; the address of its pointer is given. */
#define AUTOFREE __attribute__((cleanup(memory_free_at)))
static inline void memory_free_at(void *at)
{
    memory_free(*(void **)at);
}
/* AUTO(Vector) v: a pointer to a Vector that is released at the end of its block, if it is not
 * NULL. A type has this by AUTO_DEFINE(type, the function that releases it). */
#define AUTO(type) __attribute__((cleanup(auto_##type))) auto_pointer_##type
#define AUTO_DEFINE(type, release)                                    \
    typedef type *auto_pointer_##type;                                \
    __attribute__((unused)) static inline void auto_##type(type **at) \
    {                                                                 \
        if (*at)                                                      \
            release(*at);                                             \
    }
/* The pointer P, which is NULL from then on. */
#define STEAL(p)                    \
    __extension__({                 \
        __typeof__(p) stolen = (p); \
        (p) = NULL;                 \
        stolen;                     \
    })
/* Releases P, if it is not NULL, and makes it NULL. */
#define CLEAR(p, release)            \
    do {                             \
        __typeof__(p) cleared = (p); \
        (p) = NULL;                  \
        if (cleared)                 \
            (release)(cleared);      \
    } while (0)

/* For what can do without: these return NULL if memory is short. They may be called outside
 * memory_try. */
void *memory_new_or_null(size_t n);
void *memory_zeroed_or_null(size_t n, size_t size);
void *memory_resize_or_null(void *p, size_t n); /* P, which may be NULL, is then as it was */
/* Resizes P, which may be NULL; N 0 frees it. It returns NULL only in a process that neither bounds
 * its memory nor says how it ends, such as the recorder's: then P is as it was. */
void *memory_resize(void *p, size_t n);

/* -- when memory is short -- */

/* Ends the step (memory_try) or the command. */
_Noreturn void memory_short(void);
/* For commands: END prints the message and does not return. */
void memory_ends(void (*end)(void));
/* Would BYTES that a library is about to allocate with malloc be too many? */
bool memory_is_short_of(uint64_t bytes);
/* Reserves BYTES for small allocations, which then cannot fail. For code that holds signals or has
 * files open and must not be left halfway. */
void memory_reserve(size_t bytes);

/* -- the heap -- */

/* Called before BYTES more are taken from the system: may they be? */
typedef bool (*MemoryRoom)(uint64_t bytes);
/* Allows BYTES beyond those held. ROOM, if not NULL, is asked each time that memory is taken from
 * the system. */
void memory_limit(uint64_t bytes, MemoryRoom room);
/* Calls WORK(USER). Returns false if memory was short: then all blocks of the heap are gone. */
bool memory_try(void (*work)(void *user), void *user);
/* Was memory short the last time because of the limit or of ROOM, and not because of the system? */
bool memory_was_refused(void);
uint64_t memory_held(void); /* bytes from the system */
void memory_drop(void);

#endif
