/* SPDX-License-Identifier: BSD-3-Clause */
/* handles.h: inline lookup of handle words, which nearly every call needs. Also the interface
 * between handles.c and its neighbours: facts of a handle, and ids for handles whose values come
 * later. */
#ifndef WEND_HANDLES_H
#define WEND_HANDLES_H

#include "objects.h"

void handles_open(void); /* adds the predefined handles */
/* allocates facts; NULL: no memory */
void *handle_facts_new(size_t bytes);
/* frees facts that no handle owns; NULL is allowed */
void handle_facts_free(void *facts);
/* gives the handle FACTS of handle_facts_new, which it then owns; false: the handle is unknown, and
 * FACTS was freed */
bool handle_set_metadata(HandleKind kind, uintptr_t value, void *facts);
/* NULL: unknown handle, or no facts */
static inline void *handle_metadata(HandleKind kind, uintptr_t value);
/* an id without a value so far; WEND_UNKNOWN: no memory */
int64_t handle_reserve(ActiveCall *c, HandleKind kind);
void handle_arrived(CallSequence *maker, HandleKind kind, uintptr_t value, int64_t word,
                    void *facts);

/* -- look-up -- */

typedef struct HandleEntry {
    uintptr_t value;
    int64_t word;
    /* 0: the entry is free; or HANDLE_ENDED or HANDLE_PREDEFINED */
    uint32_t references;
    /* a call that frees the last reference is running: the library may give the value to another
     * thread */
    bool ending;
    CallSequence *maker; /* the sequence that the id belongs to */
    uint64_t made;       /* number of objects of this kind that it had made, this one included */
    void *facts;
} HandleEntry;

/* Special values of REFERENCES: freed but may still be named; never freed. */
enum { HANDLE_ENDED = UINT32_MAX - 1, HANDLE_PREDEFINED = UINT32_MAX };

/* Open addressing with linear probing. n is a power of two, or 0. VERSION becomes another one with
 * each change of what a search finds. */
extern struct HandleTable {
    struct HandleEntry *slots;
    size_t n, used;
    _Atomic uint64_t version;
} handles_of_kind[HANDLE_KINDS];

int64_t handle_word_searched(HandleKind kind, uintptr_t value);
void *handle_facts_searched(HandleKind kind, uintptr_t value);

static inline size_t handle_home(uintptr_t value, size_t n)
{
    return (size_t)(((uint64_t)value * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (n - 1);
}

/* Whether each thread has an entry, and so an id, of its own for objects of KIND. Libraries count
 * references to these objects, and give the same value to each caller (MPI_Comm_group in Open MPI,
 * MPI_Comm_get_errhandler everywhere). A thread's ids must not depend on the references of another
 * thread. */
static inline bool handle_has_entry_for_each_thread(HandleKind kind)
{
    return kind == HANDLE_GROUP || kind == HANDLE_ERRHANDLER || kind == HANDLE_DATATYPE;
}

/* The sequence of the calling thread, whose calls are looked up. NULL if it has made none. */
static inline const CallSequence *handle_owner(void)
{
    return this_thread ? this_thread->sequence : NULL;
}

/* Whether the entry belongs to the calling thread, or to all threads. */
static inline bool handle_is_own(const struct HandleEntry *e, HandleKind kind)
{
    return e->references >= HANDLE_ENDED || !handle_has_entry_for_each_thread(kind)
           || e->maker == handle_owner();
}

/* The entry of the value, if it is at its home slot, as most are, and no lock is needed. NULL:
 * search for it. */
static inline __attribute__((always_inline)) const struct HandleEntry *handle_at_home(
    HandleKind kind, uintptr_t value)
{
    const struct HandleTable *t = &handles_of_kind[kind];
    if (__builtin_expect(
            atomic_load_explicit(&state()->multiple, memory_order_relaxed) || t->n == 0, 0))
        return NULL;
    const struct HandleEntry *e = &t->slots[handle_home(value, t->n)];
    return e->value == value && e->references > 0 && handle_is_own(e, kind) ? e : NULL;
}

/* The word of a handle: a constant, a known handle's word, or WEND_UNKNOWN. */
static inline __attribute__((always_inline)) int64_t handle_word(HandleKind kind, uintptr_t value)
{
    const struct HandleEntry *e = handle_at_home(kind, value);
    return __builtin_expect(e != NULL, 1) ? e->word : handle_word_searched(kind, value);
}

static inline void *handle_metadata(HandleKind kind, uintptr_t value)
{
    const struct HandleEntry *e = handle_at_home(kind, value);
    return __builtin_expect(e != NULL, 1) ? e->facts : handle_facts_searched(kind, value);
}

#endif
