/* SPDX-License-Identifier: BSD-3-Clause */
/* heap-blocks.c: leaves of the bitmap of blocks, and the lookup of the block that contains an
 * address. */
#include "heap-blocks.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic(HeapBranch *) heap_branches[HEAP_BRANCHES];
/* summary of heap_branches; bits are never cleared */
static _Atomic uint64_t branch_known[HEAP_BRANCHES >> 6];
static _Atomic uint64_t branch_failed[HEAP_BRANCHES >> 6];
static size_t (*real_size)(void *);

void heap_blocks_sizes(size_t (*usable_size)(void *))
{
    real_size = usable_size;
}

/* A system call, not mmap: libraries that patch mmap (UCX) have no use for this mapping, and may
 * allocate. Only the pages that are touched take memory. */
static void *map(size_t bytes)
{
    long m = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    if (m == -1)
        return NULL;
    /* otherwise each process pays 2 MiB for a few blocks */
    syscall(SYS_madvise, m, bytes, MADV_NOHUGEPAGE);
    return (void *)m;
}

/* Leaves are mapped in chunks, whose size grows with the number of leaves. A mapping for each leaf
 * would be one of the 65,530 that a process may have, for each 16 MiB of a large heap. And it would
 * lie below each large block, where a proxy looks for room (heap_make in its helpers). */
typedef struct {
    _Atomic uint32_t taken; /* more than N: all are */
    uint32_t n;
    HeapLeaf leaves[];
} HeapChunk;

static _Atomic(HeapChunk *) newest_chunk;
static _Atomic uint32_t leaves_mapped;

static size_t chunk_bytes(uint32_t n)
{
    return sizeof(HeapChunk) + n * sizeof(HeapLeaf);
}

static HeapLeaf *take_leaf(void)
{
    enum { SHARE = 8, LEAST = 4, MOST = 64 };
    for (;;) {
        HeapChunk *c = atomic_load(&newest_chunk);
        if (c && atomic_load(&c->taken) < c->n) {
            uint32_t i = atomic_fetch_add(&c->taken, 1);
            if (i < c->n)
                return &c->leaves[i];
        }
        uint32_t n = atomic_load(&leaves_mapped) / SHARE;
        n = n < LEAST ? LEAST : n > MOST ? MOST : n;
        HeapChunk *fresh = map(chunk_bytes(n));
        if (!fresh)
            fresh = map(chunk_bytes(n = 1));
        if (!fresh)
            return NULL;
        fresh->n = n;
        atomic_init(&fresh->taken, 1);
        if (atomic_compare_exchange_strong(&newest_chunk, &c, fresh)) {
            atomic_fetch_add(&leaves_mapped, n);
            return &fresh->leaves[0];
        }
        syscall(SYS_munmap, fresh, chunk_bytes(n)); /* another thread was first */
    }
}

static bool is_set(_Atomic uint64_t *words, size_t i)
{
    return atomic_load(&words[i >> 6]) >> (i & 63) & 1;
}

static void set(_Atomic uint64_t *words, size_t i)
{
    atomic_fetch_or(&words[i >> 6], UINT64_C(1) << (i & 63));
}

static HeapBranch *branch_of(uintptr_t address)
{
    size_t i = address >> HEAP_BRANCH_SHIFT;
    HeapBranch *b = atomic_load(&heap_branches[i]);
    if (b || is_set(branch_failed, i))
        return b;
    HeapBranch *fresh = map(sizeof *fresh);
    if (!fresh) {
        set(branch_failed, i);
    } else if (atomic_compare_exchange_strong(&heap_branches[i], &b, fresh)) {
        set(branch_known, i);
        b = fresh;
    } else {
        syscall(SYS_munmap, fresh, sizeof *fresh);
    }
    return b;
}

static size_t leaf_index(uintptr_t address)
{
    return address >> HEAP_LEAF_SHIFT & (HEAP_LEAVES - 1);
}

HeapLeaf *heap_leaf_new(uintptr_t address)
{
    int saved = errno;
    size_t i = leaf_index(address);
    HeapBranch *b = branch_of(address);
    HeapLeaf *leaf = NULL, *fresh;
    if (b && !is_set(b->failed, i)) {
        if (!(fresh = take_leaf()))
            set(b->failed, i);
        /* If another thread was first, this leaf stays unused. */
        else if (atomic_compare_exchange_strong(&b->leaf[i], &leaf, fresh))
            leaf = fresh;
    }
    errno = saved;
    return leaf;
}

/* Sets the bit of INDEX. Returns whether its word was zero. */
static bool set_bit(_Atomic uint64_t *words, uint32_t index)
{
    _Atomic uint64_t *w = &words[index >> 6];
    uint64_t bit = UINT64_C(1) << (index & 63);
    uint64_t before = atomic_load(w);
    if (before & bit)
        return false;
    if (HEAP_ALONE())
        atomic_store_explicit(w, before | bit, memory_order_relaxed);
    else
        before = atomic_fetch_or(w, bit);
    return before == 0;
}

void heap_blocks_summarize(HeapLeaf *leaf, uintptr_t address)
{
    uint32_t word = heap_blocks_word_of(address);
    HeapBranch *b = atomic_load(&heap_branches[address >> HEAP_BRANCH_SHIFT]);
    if (set_bit(leaf->any1, word) && set_bit(leaf->any2, word >> 6))
        set_bit(b->any3, (uint32_t)leaf_index(address));
}

/* Clears a summary bit whose N words below were empty. A thread that fills such a word at the same
 * time writes the word and then reads the bit. Here the bit is written and then the words are read.
 * So one of the two sees the other's change. */
static void clear_bit(_Atomic uint64_t *words, uint32_t index, _Atomic uint64_t *below, size_t n)
{
    uint64_t bit = UINT64_C(1) << (index & 63);
    atomic_fetch_and(&words[index >> 6], ~bit);
    for (size_t i = 0; i < n; i++)
        if (atomic_load(&below[i]) != 0)
            atomic_fetch_or(&words[index >> 6], bit);
}

static int64_t last_in_word(_Atomic uint64_t *words, int64_t w)
{
    uint64_t m = atomic_load(&words[w]);
    return m ? w * 64 + 63 - __builtin_clzll(m) : -1;
}

/* The largest index below I whose bit is set, within the word of I; -1 if there is none. */
static int64_t previous_in_word(_Atomic uint64_t *words, uint32_t i)
{
    if ((i & 63) == 0)
        return -1; /* I may be the number of bits */
    uint64_t m = atomic_load(&words[i >> 6]) & ((UINT64_C(1) << (i & 63)) - 1);
    return m ? (int64_t)(i & ~UINT32_C(63)) + 63 - __builtin_clzll(m) : -1;
}

/* The same, in the lower words, too. */
static int64_t previous_bit(_Atomic uint64_t *words, uint32_t i)
{
    int64_t found = previous_in_word(words, i);
    for (int64_t w = (int64_t)(i >> 6) - 1; found < 0 && w >= 0; w--)
        found = last_in_word(words, w);
    return found;
}

/* The largest index of a nonzero word below I (HEAP_WORDS: any index); -1 if there is none. */
static int64_t previous_word(HeapLeaf *leaf, uint32_t i)
{
    for (;;) {
        int64_t i1 = previous_in_word(leaf->any1, i);
        if (i1 < 0) {
            int64_t i2 = previous_bit(leaf->any2, i >> 6); /* the words of any1 below that of I */
            if (i2 < 0)
                return -1;
            i1 = last_in_word(leaf->any1, i2);
            if (i1 < 0) {
                clear_bit(leaf->any2, (uint32_t)i2, &leaf->any1[i2], 1);
                i = (uint32_t)i2 << 6; /* nothing is there: go on below it */
                continue;
            }
        }
        if (atomic_load(&leaf->live[i1]) != 0)
            return i1;
        clear_bit(leaf->any1, (uint32_t)i1, &leaf->live[i1], 1);
        i = (uint32_t)i1;
    }
}

/* The last block that begins below WORD in the leaf for the addresses from BASE on; 0 if there is
 * none. */
static uintptr_t last_in_leaf(HeapLeaf *leaf, uintptr_t base, uint32_t word)
{
    for (int64_t w = word; (w = previous_word(leaf, (uint32_t)w)) >= 0;) {
        int64_t granule = last_in_word(leaf->live, w);
        if (granule >= 0)
            return base + ((uintptr_t)granule << HEAP_GRANULE_SHIFT);
    }
    return 0;
}

/* The last block in the leaves below the one with index I, in the branch for the addresses from
 * BASE on; 0 if there is none. */
static uintptr_t last_in_branch(HeapBranch *b, uintptr_t base, uint32_t i)
{
    for (int64_t k = i; (k = previous_bit(b->any3, (uint32_t)k)) >= 0;) {
        HeapLeaf *leaf = atomic_load_explicit(&b->leaf[k], memory_order_acquire);
        uintptr_t found = last_in_leaf(leaf, base + ((uintptr_t)k << HEAP_LEAF_SHIFT), HEAP_WORDS);
        if (found)
            return found;
        clear_bit(b->any3, (uint32_t)k, leaf->any2, sizeof leaf->any2 / sizeof *leaf->any2);
    }
    return 0;
}

/* The last block that begins at or below ADDRESS; 0 if there is none. */
static uintptr_t start_below(uintptr_t address)
{
    HeapLeaf *leaf = heap_leaf(address);
    uintptr_t found;
    if (leaf) {
        uint32_t word = heap_blocks_word_of(address);
        uint64_t bit = heap_blocks_bit_of(address);
        uint64_t live = atomic_load(&leaf->live[word]) & (bit | (bit - 1));
        if (live)
            return (address >> HEAP_WORD_SHIFT << HEAP_WORD_SHIFT)
                   + ((uintptr_t)(63 - __builtin_clzll(live)) << HEAP_GRANULE_SHIFT);
        uintptr_t base = address >> HEAP_LEAF_SHIFT << HEAP_LEAF_SHIFT;
        if ((found = last_in_leaf(leaf, base, word)))
            return found;
    }
    uint32_t i = (uint32_t)leaf_index(address);
    for (int64_t k = (int64_t)(address >> HEAP_BRANCH_SHIFT); k >= 0; i = HEAP_LEAVES) {
        HeapBranch *b = atomic_load_explicit(&heap_branches[k], memory_order_acquire);
        if (b && (found = last_in_branch(b, (uintptr_t)k << HEAP_BRANCH_SHIFT, i)))
            return found;
        k = previous_bit(branch_known, (uint32_t)k);
    }
    return 0;
}

bool heap_blocks_find(uintptr_t address, uintptr_t *start, size_t *size)
{
    if (address >> HEAP_ADDRESS_BITS != 0)
        return false;
    uintptr_t s = start_below(address);
    if (s == 0)
        return false;
    if (s != address) {
        /* If the address is in no block, S may have been freed by now, by another thread or without
         * being seen. The size is before the block, so its page must be mapped. */
        uintptr_t page = (s - 2 * sizeof(size_t)) & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
        int saved = errno;
        unsigned char resident;
        bool there = syscall(SYS_mincore, page, (size_t)1, &resident) == 0;
        errno = saved;
        if (!there)
            return false;
    }
    *start = s;
    *size = real_size((void *)s);
    return address - s <= *size;
}

void heap_blocks_set_used(uintptr_t start, bool used)
{
    HeapLeaf *leaf = heap_leaf(start);
    uint32_t word = heap_blocks_word_of(start);
    uint64_t bit = UINT64_C(1) << (word & 63);
    if (used) {
        atomic_fetch_or(&leaf->used[word], heap_blocks_bit_of(start));
        atomic_fetch_or(&leaf->any_used[word >> 6], bit);
    } else if (atomic_fetch_and(&leaf->used[word], ~heap_blocks_bit_of(start))
               == heap_blocks_bit_of(start)) {
        atomic_fetch_and(&leaf->any_used[word >> 6], ~bit);
    }
}
