/* SPDX-License-Identifier: BSD-3-Clause */
/* heap-blocks.c: regions of the bitmap of blocks, and the lookup of the block that contains an
 * address. */
#include "heap-blocks.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic(HeapRegion *) heap_regions[HEAP_REGIONS];
/* summary of heap_regions; bits are never cleared */
static _Atomic uint64_t region_known[HEAP_REGIONS / 64];
static _Atomic uint64_t region_failed[HEAP_REGIONS / 64];
static size_t (*real_size)(void *);

void heap_sizes(size_t (*usable_size)(void *))
{
    real_size = usable_size;
}

HeapRegion *heap_region_new(uintptr_t address)
{
    size_t i = address >> HEAP_REGION_SHIFT;
    uint64_t bit = UINT64_C(1) << (i & 63);
    if (atomic_load(&region_failed[i >> 6]) & bit)
        return NULL;
    int saved = errno;
    /* A system call, not mmap: libraries that patch mmap (UCX) have no use for this mapping, and
     * may allocate. Of its 16 MiB only the pages that are touched take memory. */
    void *m = (void *)syscall(SYS_mmap, NULL, sizeof(HeapRegion), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (long)0);
    HeapRegion *r = NULL;
    if (m == MAP_FAILED) {
        atomic_fetch_or(&region_failed[i >> 6], bit);
    } else {
        /* otherwise each process pays 2 MiB for a few blocks */
        syscall(SYS_madvise, m, sizeof(HeapRegion), MADV_NOHUGEPAGE);
        if (atomic_compare_exchange_strong(&heap_regions[i], &r, (HeapRegion *)m)) {
            r = m;
            atomic_fetch_or(&region_known[i >> 6], bit);
        } else {
            syscall(SYS_munmap, m, sizeof(HeapRegion)); /* another thread was first */
        }
    }
    errno = saved;
    return r;
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

void heap_summarize(HeapRegion *r, uint32_t word)
{
    if (set_bit(r->any1, word) && set_bit(r->any2, word >> 6))
        set_bit(r->any3, word >> 12);
}

/* Clears a summary bit whose word was empty. A thread that fills the word at the same time writes
 * the word and then reads the bit. Here the bit is written and then the word is read. So one of the
 * two sees the other's change. */
static void clear_bit(_Atomic uint64_t *words, uint32_t index, _Atomic uint64_t *below)
{
    uint64_t bit = UINT64_C(1) << (index & 63);
    atomic_fetch_and(&words[index >> 6], ~bit);
    if (atomic_load(below) != 0)
        atomic_fetch_or(&words[index >> 6], bit);
}

/* The largest index below I whose bit is set, within the word of I; -1 if there is none. */
static int64_t previous_in_word(_Atomic uint64_t *words, uint32_t i)
{
    uint64_t m = atomic_load(&words[i >> 6]) & ((UINT64_C(1) << (i & 63)) - 1);
    return m ? (int64_t)(i & ~UINT32_C(63)) + 63 - __builtin_clzll(m) : -1;
}

static int64_t last_in_word(_Atomic uint64_t *words, int64_t w)
{
    uint64_t m = atomic_load(&words[w]);
    return m ? w * 64 + 63 - __builtin_clzll(m) : -1;
}

/* The largest index of a nonzero word below I (HEAP_WORDS: any index); -1 if there is none. */
static int64_t previous_word(HeapRegion *r, uint32_t i)
{
    for (;;) {
        int64_t i1 = i < HEAP_WORDS ? previous_in_word(r->any1, i) : -1;
        if (i1 < 0) {
            uint32_t j = i >> 6; /* next are the words of any1 below j */
            int64_t i2 = j < HEAP_WORDS >> 6 ? previous_in_word(r->any2, j) : -1;
            if (i2 < 0) {
                uint32_t k = j >> 6;
                int64_t i3 = k < HEAP_WORDS >> 12 ? previous_in_word(r->any3, k) : -1;
                for (int64_t w = (int64_t)(k >> 6) - 1; i3 < 0 && w >= 0; w--)
                    i3 = last_in_word(r->any3, w);
                if (i3 < 0)
                    return -1;
                i2 = last_in_word(r->any2, i3);
                if (i2 < 0) {
                    clear_bit(r->any3, (uint32_t)i3, &r->any2[i3]);
                    i = (uint32_t)i3 << 12; /* nothing is there: go on below it */
                    continue;
                }
            }
            i1 = last_in_word(r->any1, i2);
            if (i1 < 0) {
                clear_bit(r->any2, (uint32_t)i2, &r->any1[i2]);
                i = (uint32_t)i2 << 6;
                continue;
            }
        }
        if (atomic_load(&r->live[i1]) != 0)
            return i1;
        clear_bit(r->any1, (uint32_t)i1, &r->live[i1]);
        i = (uint32_t)i1;
    }
}

static uintptr_t last_start(size_t region, uint32_t word, uint64_t live)
{
    return (uintptr_t)region << HEAP_REGION_SHIFT | (uintptr_t)word << HEAP_WORD_SHIFT
           | (uintptr_t)(63 - __builtin_clzll(live)) << HEAP_GRANULE_SHIFT;
}

/* The last block that begins at or below ADDRESS; 0 if there is none. */
static uintptr_t start_below(uintptr_t address)
{
    size_t i = address >> HEAP_REGION_SHIFT;
    HeapRegion *r = heap_region(address);
    if (r) {
        uint32_t word = heap_word_of(address);
        uint64_t bit = heap_bit_of(address);
        uint64_t live = atomic_load(&r->live[word]) & (bit | (bit - 1));
        if (live)
            return last_start(i, word, live);
        for (int64_t w = word; (w = previous_word(r, (uint32_t)w)) >= 0;)
            if ((live = atomic_load(&r->live[w])) != 0)
                return last_start(i, (uint32_t)w, live);
    }
    /* Lower regions: few of them have blocks. */
    uint64_t below = atomic_load(&region_known[i >> 6]) & ((UINT64_C(1) << (i & 63)) - 1);
    for (int64_t k = (int64_t)(i >> 6);;) {
        while (below) {
            int bit = 63 - __builtin_clzll(below);
            below &= ~(UINT64_C(1) << bit);
            size_t j = (size_t)k * 64 + (size_t)bit;
            r = atomic_load_explicit(&heap_regions[j], memory_order_acquire);
            for (int64_t w = HEAP_WORDS; r && (w = previous_word(r, (uint32_t)w)) >= 0;) {
                uint64_t live = atomic_load(&r->live[w]);
                if (live)
                    return last_start(j, (uint32_t)w, live);
            }
        }
        if (--k < 0)
            return 0;
        below = atomic_load(&region_known[k]);
    }
}

bool heap_find(uintptr_t address, uintptr_t *start, size_t *size)
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

void heap_set_used(uintptr_t start, bool used)
{
    HeapRegion *r = heap_region(start);
    uint32_t word = heap_word_of(start);
    uint64_t bit = UINT64_C(1) << (word & 63);
    if (used) {
        atomic_fetch_or(&r->used[word], heap_bit_of(start));
        atomic_fetch_or(&r->any_used[word >> 6], bit);
    } else if (atomic_fetch_and(&r->used[word], ~heap_bit_of(start)) == heap_bit_of(start)) {
        atomic_fetch_and(&r->any_used[word >> 6], ~bit);
    }
}
