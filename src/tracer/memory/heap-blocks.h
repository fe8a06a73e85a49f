/* SPDX-License-Identifier: BSD-3-Clause */
/* heap-blocks.h: the beginnings of the blocks of malloc and its family.
 *
 * Most programs make millions of blocks that MPI never uses, so there is no record for each block.
 * One bit says that a block begins at a granule of 16 bytes, a second bit that MPI has used it. The
 * allocator itself knows the size (malloc_usable_size). malloc and free touch only the bits of
 * beginnings, one cache line for 8 KiB of heap. A program with hundreds of megabytes in small
 * blocks pays for cache misses. But no branch depends on that line: branches depend on the
 * summaries, of which one covers 64 KiB.
 *
 * Above the words are three levels of summaries, with a factor of 64 each, for scanning back from
 * the middle of a large block. A summary bit may be set without need: free does not clear it, a
 * lookup that meets an empty word does. It is never missing. The one level of summaries of used
 * blocks is exact. */
#ifndef WEND_HEAP_BLOCKS_H
#define WEND_HEAP_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined __has_include
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define HEAP_ALONE() (__libc_single_threaded)
#endif
#endif
#ifndef HEAP_ALONE
#define HEAP_ALONE() false
#endif

enum {
    HEAP_ADDRESS_BITS = 48,
    HEAP_GRANULE_SHIFT = 4,
    HEAP_WORD_SHIFT = 10, /* 64 granules */
    HEAP_REGION_SHIFT = 30,
    HEAP_WORDS = 1 << (HEAP_REGION_SHIFT - HEAP_WORD_SHIFT),
    HEAP_REGIONS = 1 << (HEAP_ADDRESS_BITS - HEAP_REGION_SHIFT)
};

typedef struct {
    _Atomic uint64_t live[HEAP_WORDS];
    _Atomic uint64_t any1[HEAP_WORDS >> 6];  /* a bit for each word */
    _Atomic uint64_t any2[HEAP_WORDS >> 12]; /* one for each word of any1 */
    _Atomic uint64_t any3[HEAP_WORDS >> 18];
    _Atomic uint64_t used[HEAP_WORDS]; /* changed under the segments' lock */
    _Atomic uint64_t any_used[HEAP_WORDS >> 6];
} HeapRegion;

extern _Atomic(HeapRegion *) heap_regions[HEAP_REGIONS];

/* makes the region of ADDRESS; NULL: no memory, so blocks there stay unknown */
HeapRegion *heap_region_new(uintptr_t address);
/* sets the summaries of the word, which is nonzero and not in any1 */
void heap_summarize(HeapRegion *r, uint32_t word);
/* sets malloc_usable_size of the real allocator, before the first block */
void heap_sizes(size_t (*usable_size)(void *));

/* Finds the block that contains ADDRESS, or ends at it. Returns false if there is none. The caller
 * holds the segments' lock. */
bool heap_find(uintptr_t address, uintptr_t *start, size_t *size);

/* Sets whether MPI has used the block that begins at START. The caller holds the segments' lock. */
void heap_set_used(uintptr_t start, bool used);

/* segments.c: the end of a used block. segment_detach removes its segments (one for each thread
 * that used it) from all lookups. Then segment_attach restores them, if realloc failed, or
 * segment_end records the events and frees the ids. */
typedef struct SegmentNames SegmentNames;
SegmentNames *segment_detach(uintptr_t start);
void segment_attach(uintptr_t start, SegmentNames *names);
void segment_end(SegmentNames *names);

static inline uint32_t heap_word_of(uintptr_t a)
{
    return (uint32_t)(a >> HEAP_WORD_SHIFT) & (HEAP_WORDS - 1);
}
static inline uint64_t heap_bit_of(uintptr_t a)
{
    return UINT64_C(1) << ((a >> HEAP_GRANULE_SHIFT) & 63);
}
static inline bool heap_covers(uintptr_t a)
{
    return a >> HEAP_ADDRESS_BITS == 0 && (a & ((1 << HEAP_GRANULE_SHIFT) - 1)) == 0;
}

static inline HeapRegion *heap_region(uintptr_t a)
{
    return atomic_load_explicit(&heap_regions[a >> HEAP_REGION_SHIFT], memory_order_acquire);
}

static inline bool heap_summary_has(_Atomic uint64_t *words, uint32_t index)
{
    return atomic_load_explicit(&words[index >> 6], memory_order_relaxed) >> (index & 63) & 1;
}

/* Marks the beginning of a block at A. */
static inline void heap_mark(uintptr_t a)
{
    if (a == 0 || !heap_covers(a))
        return;
    HeapRegion *r = heap_region(a);
    if (__builtin_expect(!r, 0) && !(r = heap_region_new(a)))
        return;
    uint32_t word = heap_word_of(a);
    _Atomic uint64_t *live = &r->live[word];
    if (HEAP_ALONE())
        atomic_store_explicit(live,
                              atomic_load_explicit(live, memory_order_relaxed) | heap_bit_of(a),
                              memory_order_relaxed);
    else
        atomic_fetch_or(live, heap_bit_of(a));
    if (__builtin_expect(!heap_summary_has(r->any1, word), 0))
        heap_summarize(r, word);
}

/* Removes the block at A. Call it before the real free, because another thread may get the address
 * right after. Returns whether MPI had used the block. */
static inline bool heap_unmark(uintptr_t a)
{
    HeapRegion *r;
    if (!heap_covers(a) || !(r = heap_region(a)))
        return false;
    uint32_t word = heap_word_of(a);
    uint64_t bit = heap_bit_of(a);
    _Atomic uint64_t *live = &r->live[word];
    bool used = heap_summary_has(r->any_used, word)
                && (atomic_load_explicit(&r->used[word], memory_order_relaxed) & bit) != 0;
    if (HEAP_ALONE())
        atomic_store_explicit(live, atomic_load_explicit(live, memory_order_relaxed) & ~bit,
                              memory_order_relaxed);
    else
        atomic_fetch_and_explicit(live, ~bit, memory_order_relaxed);
    return used;
}

#endif
