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
 * Above the words are levels of summaries, with a factor of 64 each, for scanning back from the
 * middle of a large block. A summary bit may be set without need: free does not clear it, a lookup
 * that meets an empty word does. It is never missing. The one level of summaries of used blocks is
 * exact.
 *
 * The bits are in leaves, a leaf for 16 MiB of addresses, and there is a leaf only where a block
 * has begun. So a process has 260 KiB for each of these 16 MiB, which matters under a limit of
 * address space. Leaves are found through branches of 64 GiB. */
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
    HEAP_LEAF_SHIFT = 24,
    HEAP_BRANCH_SHIFT = 36,
    HEAP_WORDS = 1 << (HEAP_LEAF_SHIFT - HEAP_WORD_SHIFT),
    HEAP_LEAVES = 1 << (HEAP_BRANCH_SHIFT - HEAP_LEAF_SHIFT),
    HEAP_BRANCHES = 1 << (HEAP_ADDRESS_BITS - HEAP_BRANCH_SHIFT)
};

#define HEAP_GRANULES (UINT64_C(1) << (HEAP_ADDRESS_BITS - HEAP_GRANULE_SHIFT))

typedef struct {
    _Alignas(64) _Atomic uint64_t any1[HEAP_WORDS >> 6]; /* a bit for each word */
    _Atomic uint64_t any2[HEAP_WORDS >> 12];             /* one for each word of any1 */
    _Atomic uint64_t any_used[HEAP_WORDS >> 6];
    _Alignas(64) _Atomic uint64_t live[HEAP_WORDS];
    _Atomic uint64_t used[HEAP_WORDS]; /* changed under the segments' lock */
} HeapLeaf;

typedef struct {
    _Atomic(HeapLeaf *) leaf[HEAP_LEAVES];
    _Atomic uint64_t any3[HEAP_LEAVES >> 6];   /* a bit for each leaf: a word of its any2 is set */
    _Atomic uint64_t failed[HEAP_LEAVES >> 6]; /* there was no memory for the leaf */
} HeapBranch;

extern _Atomic(HeapBranch *) heap_branches[HEAP_BRANCHES];

/* makes the leaf of ADDRESS; NULL: no memory, so blocks there stay unknown */
HeapLeaf *heap_leaf_new(uintptr_t address);
/* sets the summaries of the word of ADDRESS, which is nonzero and not in any1 of its leaf */
void heap_blocks_summarize(HeapLeaf *leaf, uintptr_t address);
/* sets malloc_usable_size of the real allocator, before the first block */
void heap_blocks_sizes(size_t (*usable_size)(void *));

/* Finds the block that contains ADDRESS, or ends at it. Returns false if there is none. The caller
 * holds the segments' lock. */
bool heap_blocks_find(uintptr_t address, uintptr_t *start, size_t *size);

/* Sets whether MPI has used the block that begins at START. The caller holds the segments' lock. */
void heap_blocks_set_used(uintptr_t start, bool used);

/* segments.c: the end of a used block. segment_detach removes its segments (one for each thread
 * that used it) from all lookups. Then segment_attach restores them, if realloc failed, or
 * segment_end records the events and frees the ids. */
typedef struct SegmentNames SegmentNames;
SegmentNames *segment_detach(uintptr_t start);
void segment_attach(uintptr_t start, SegmentNames *names);
void segment_end(SegmentNames *names);

static inline uint32_t heap_blocks_word_of(uintptr_t a)
{
    return (uint32_t)(a >> HEAP_WORD_SHIFT) & (HEAP_WORDS - 1);
}
static inline uint64_t heap_blocks_bit_of(uintptr_t a)
{
    return UINT64_C(1) << ((a >> HEAP_GRANULE_SHIFT) & 63);
}
/* A in granules, with the bits below a granule rotated to the top: one comparison shows whether A
 * is a multiple of a granule and below 2^48. */
static inline uint64_t heap_blocks_granule(uintptr_t a)
{
    return (uint64_t)a >> HEAP_GRANULE_SHIFT | (uint64_t)a << (64 - HEAP_GRANULE_SHIFT);
}
static inline bool heap_blocks_covers(uintptr_t a)
{
    return heap_blocks_granule(a) < HEAP_GRANULES;
}

/* The leaf of A; NULL if there is none. */
static inline HeapLeaf *heap_leaf(uintptr_t a)
{
    HeapBranch *b =
        atomic_load_explicit(&heap_branches[a >> HEAP_BRANCH_SHIFT], memory_order_acquire);
    return b ? atomic_load_explicit(&b->leaf[a >> HEAP_LEAF_SHIFT & (HEAP_LEAVES - 1)],
                                    memory_order_acquire)
             : NULL;
}

static inline bool heap_blocks_summary_has(_Atomic uint64_t *words, uint32_t index)
{
    return atomic_load_explicit(&words[index >> 6], memory_order_relaxed) >> (index & 63) & 1;
}

/* Marks the beginning of a block at A. */
static inline void heap_blocks_mark(uintptr_t a)
{
    if (heap_blocks_granule(a) - 1 >= HEAP_GRANULES - 1) /* nor if it is 0 */
        return;
    HeapLeaf *leaf = heap_leaf(a);
    if (__builtin_expect(!leaf, 0) && !(leaf = heap_leaf_new(a)))
        return;
    uint32_t word = heap_blocks_word_of(a);
    _Atomic uint64_t *live = &leaf->live[word];
    if (HEAP_ALONE())
        atomic_store_explicit(
            live, atomic_load_explicit(live, memory_order_relaxed) | heap_blocks_bit_of(a),
            memory_order_relaxed);
    else
        atomic_fetch_or(live, heap_blocks_bit_of(a));
    if (__builtin_expect(!heap_blocks_summary_has(leaf->any1, word), 0))
        heap_blocks_summarize(leaf, a);
}

/* Removes the block at A. Call it before the real free, because another thread may get the address
 * right after. Returns whether MPI had used the block. */
static inline bool heap_blocks_unmark(uintptr_t a)
{
    HeapLeaf *leaf;
    if (!heap_blocks_covers(a) || !(leaf = heap_leaf(a)))
        return false;
    uint32_t word = heap_blocks_word_of(a);
    uint64_t bit = heap_blocks_bit_of(a);
    _Atomic uint64_t *live = &leaf->live[word];
    bool used = heap_blocks_summary_has(leaf->any_used, word)
                && (atomic_load_explicit(&leaf->used[word], memory_order_relaxed) & bit) != 0;
    if (HEAP_ALONE())
        atomic_store_explicit(live, atomic_load_explicit(live, memory_order_relaxed) & ~bit,
                              memory_order_relaxed);
    else
        atomic_fetch_and_explicit(live, ~bit, memory_order_relaxed);
    return used;
}

#endif
