/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: see memory.h. In the heap, small blocks have one of a few sizes and are cut from
 * regions. Free blocks are kept in a list for each size. Large blocks are mappings of their own,
 * which grow without being copied. */
#include "memory.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The sizes of blocks are 16, 32 … 128, then four for each doubling. They include the word before
 * each block, which has its class. */
enum { UNIT = 16, EVEN = 8, STEPS = 4, CLASSES = 48 };
enum { FIRST_REGION = 64 << 10, LARGEST_REGION = 4 << 20, PAGE = 4 << 10 };
static const size_t WORD = sizeof(uint64_t);

/* The header of a mapping, which has small blocks or one large block. */
typedef struct HeapRegion {
    struct HeapRegion *next, *previous;
    size_t bytes, padding;
} HeapRegion;
_Static_assert(sizeof(HeapRegion) % UNIT == 0, "what follows is aligned");
typedef struct HeapBlock {
    struct HeapBlock *next;
} HeapBlock;

static HeapRegion *regions;
static HeapBlock *unused[CLASSES];
static char *next, *end; /* the rest of the newest region: NEXT is 8 below a multiple of 16 */
static uint64_t held, most = UINT64_MAX;
static MemoryRoom has_room;
static bool bounded; /* memory comes from the heap, else from malloc */
static void (*ends)(void);
static bool refused;
static sigjmp_buf *escape; /* of the running memory_try, or NULL */

static size_t size_of_class(unsigned k)
{
    if (k < EVEN)
        return (size_t)UNIT * (k + 1);
    unsigned doubling = (k - EVEN) / STEPS, step = (k - EVEN) % STEPS;
    return ((size_t)UNIT * EVEN << doubling) / STEPS * (STEPS + step + 1);
}

/* The class of blocks of BYTES, the word included; CLASSES for a large block. */
static unsigned class_of(size_t bytes)
{
    if (bytes <= UNIT * EVEN)
        return bytes ? (unsigned)((bytes - 1) / UNIT) : 0;
    unsigned doubling = 63 - (unsigned)__builtin_clzll(bytes - 1) - 7;
    size_t base = (size_t)UNIT * EVEN << doubling;
    unsigned k = EVEN + STEPS * doubling + (unsigned)((bytes - 1 - base) / (base / STEPS));
    return k < CLASSES ? k : CLASSES;
}

void memory_limit(uint64_t bytes, MemoryRoom room)
{
    bounded = true;
    most = held + bytes < held ? UINT64_MAX : held + bytes;
    has_room = room;
}

static bool may_take(uint64_t bytes)
{
    refused = held > most || bytes > most - held || (has_room && !has_room(bytes));
    return !refused;
}

static HeapRegion *take_region(size_t bytes)
{
    if (!may_take(bytes))
        return NULL;
    HeapRegion *r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED)
        return NULL;
    *r = (HeapRegion){regions, NULL, bytes, 0};
    if (regions)
        regions->previous = r;
    regions = r;
    held += bytes;
    return r;
}

static void give_region(HeapRegion *r)
{
    *(r->previous ? &r->previous->next : &regions) = r->next;
    if (r->next)
        r->next->previous = r->previous;
    held -= r->bytes;
    munmap(r, r->bytes);
}

void memory_drop(void)
{
    while (regions)
        give_region(regions);
    memset(unused, 0, sizeof unused);
    next = end = NULL;
}

uint64_t memory_held(void)
{
    return held;
}

bool memory_was_refused(void)
{
    return refused;
}

bool memory_try(void (*work)(void *user), void *user)
{
    sigjmp_buf here;
    if (sigsetjmp(here, 1)) {
        escape = NULL;
        memory_drop();
        return false;
    }
    escape = &here;
    bounded = true;
    work(user);
    escape = NULL;
    return true;
}

void memory_ends(void (*end)(void))
{
    ends = end;
}

_Noreturn void memory_short(void)
{
    if (escape)
        siglongjmp(*escape, 1);
    if (ends)
        ends();
    abort();
}

bool memory_is_short_of(uint64_t bytes)
{
    return bounded && !may_take(bytes);
}

/* -- blocks -- */

static uint64_t *word_of(const void *p)
{
    return (uint64_t *)(uintptr_t)p - 1;
}

static HeapRegion *region_of(const void *p)
{
    return (HeapRegion *)((char *)(uintptr_t)p - UNIT - sizeof(HeapRegion));
}

static void give(unsigned k, HeapBlock *b)
{
    b->next = unused[k];
    unused[k] = b;
}

static bool is_large(const void *p)
{
    return *word_of(p) == CLASSES;
}

static size_t mapping_for(size_t n)
{
    return n > SIZE_MAX / 2 ? 0 : (sizeof(HeapRegion) + UNIT + n + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static void *new_large(size_t n)
{
    size_t bytes = mapping_for(n);
    HeapRegion *r = bytes ? take_region(bytes) : NULL;
    if (!r)
        return NULL;
    char *p = (char *)(r + 1) + UNIT;
    *word_of(p) = CLASSES;
    return p;
}

/* Puts the rest of the newest region into the lists of free blocks. */
static void use_rest(void)
{
    while (end - next >= UNIT) {
        unsigned k = CLASSES - 1;
        while (size_of_class(k) > (size_t)(end - next))
            k--;
        HeapBlock *b = (HeapBlock *)(next + WORD);
        *word_of(b) = k;
        next += size_of_class(k);
        give(k, b);
    }
}

/* Makes a new region with room for a block of SIZE. Regions grow with the bytes held. Returns false
 * if memory is short. */
static bool more(size_t size)
{
    size_t least = mapping_for(size), bytes = held / 4 & ~(uint64_t)(PAGE - 1);
    bytes = bytes < FIRST_REGION ? FIRST_REGION : bytes > LARGEST_REGION ? LARGEST_REGION : bytes;
    bytes = bytes < least ? least : bytes;
    HeapRegion *r = take_region(bytes);
    if (!r && bytes > least)
        r = take_region(bytes = least);
    if (!r)
        return false;
    use_rest();
    next = (char *)(r + 1) + UNIT - WORD;
    end = (char *)r + bytes;
    return true;
}

void memory_reserve(size_t bytes)
{
    if (bounded && (size_t)(end - next) < bytes && !more(bytes))
        memory_short();
}

static void *new_small(unsigned k)
{
    size_t size = size_of_class(k);
    HeapBlock *b = unused[k];
    if (b) {
        unused[k] = b->next;
        return b;
    }
    if ((size_t)(end - next) < size && !more(size))
        return NULL;
    char *p = next + WORD;
    *word_of(p) = k;
    next += size;
    return p;
}

void *memory_new_or_null(size_t n)
{
    if (!bounded)
        return malloc(n);
    unsigned k = n > SIZE_MAX / 2 ? CLASSES : class_of(n + WORD);
    return k < CLASSES ? new_small(k) : new_large(n);
}

void *memory_zeroed_or_null(size_t n, size_t size)
{
    size_t bytes;
    if (!bounded)
        return calloc(n, size);
    void *p = __builtin_mul_overflow(n, size, &bytes) ? NULL : memory_new_or_null(bytes);
    return !p || is_large(p) ? p : memset(p, 0, bytes); /* a mapping is zeros */
}

void *memory_new(size_t n)
{
    void *p = memory_new_or_null(n ? n : 1);
    if (!p)
        memory_short();
    return p;
}

void *memory_zeroed(size_t n, size_t size)
{
    if (n == 0 || size == 0)
        return NULL;
    void *p = memory_zeroed_or_null(n, size);
    if (!p)
        memory_short();
    return p;
}

void memory_free(void *p)
{
    if (!bounded)
        free(p);
    else if (p && is_large(p))
        give_region(region_of(p));
    else if (p)
        give((unsigned)*word_of(p), p);
}

/* The bytes of P, at least those asked for. */
static size_t usable(const void *p)
{
    if (is_large(p))
        return region_of(p)->bytes - sizeof(HeapRegion) - UNIT;
    return size_of_class((unsigned)*word_of(p)) - WORD;
}

/* Returns NULL, and leaves P unchanged, if memory is short. */
static void *resize_large(void *p, size_t n)
{
    HeapRegion *r = region_of(p);
    size_t bytes = mapping_for(n), before = r->bytes;
    if (!bytes || (bytes > before && !may_take(bytes - before)))
        return NULL;
    HeapRegion *moved = mremap(r, before, bytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        return NULL;
    held = held - before + bytes;
    moved->bytes = bytes;
    *(moved->previous ? &moved->previous->next : &regions) = moved;
    if (moved->next)
        moved->next->previous = moved;
    return (char *)(moved + 1) + UNIT;
}

/* Resizes P, of the heap, to N bytes. NULL if memory is short. */
static void *resize(void *p, size_t n)
{
    size_t had = usable(p);
    if (n <= had && (!is_large(p) || n > had / 2))
        return p;
    if (is_large(p) && class_of(n + WORD) == CLASSES)
        return resize_large(p, n);
    void *moved = memory_new_or_null(n);
    if (!moved)
        return NULL;
    memcpy(moved, p, had < n ? had : n);
    memory_free(p);
    return moved;
}

void *memory_resize_or_null(void *p, size_t n)
{
    return !bounded ? realloc(p, n) : p ? resize(p, n) : memory_new_or_null(n);
}

void *memory_resize(void *p, size_t n)
{
    if (n == 0) {
        memory_free(p);
        return NULL;
    }
    void *moved = memory_resize_or_null(p, n);
    if (!moved && (bounded || ends))
        memory_short();
    return moved;
}

void *memory_array(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        memory_short();
    p = memory_resize(p, bytes);
    if (!p && bytes)
        memory_short();
    return p;
}

void *memory_copy(const void *p, size_t n)
{
    return n ? memcpy(memory_new(n), p, n) : NULL;
}
