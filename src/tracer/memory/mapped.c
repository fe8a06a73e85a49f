/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: see mapped.h. The tables have their addresses reserved. Memory is only behind what is
 * used. */
#include "mapped.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/budget.h"
#include "lib/base/lower-bound.h"
#include "segments.h"

/* By default Linux lets a process have 65,530 mappings. Further ones count as the kernel shows
 * them. Of further ends, numbers are not used again. */
enum { MOST = 1 << 16 };

typedef struct {
    uintptr_t low, high;
    bool named;
} Mapped;

static struct {
    pthread_mutex_t lock; /* a leaf; signals are blocked while it is held */
    Mapped *at;           /* disjoint, descending: most mappings are put below the others */
    size_t n;
    MappedEnd *ends; /* a ring */
    size_t first_end;
    _Atomic size_t n_ends;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_take(void)
{
    pthread_mutex_lock(&all.lock);
}
static void lock_give(void)
{
    pthread_mutex_unlock(&all.lock);
}

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

__attribute__((constructor)) static void begin(void)
{
    all.at = reserve(MOST * sizeof *all.at);
    all.ends = reserve(MOST * sizeof *all.ends);
    pthread_atfork(lock_take, lock_give, lock_give);
}

static void enter(sigset_t *before)
{
    sigset_t every;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, before);
    lock_take();
}

static void leave(const sigset_t *before)
{
    lock_give();
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The index of the highest mapping that begins at ADDRESS or below. */
static size_t at_or_below(uintptr_t address)
{
    return LOWER_BOUND(i, all.n, all.at[i].low > address);
}

static bool contains(size_t i, uintptr_t address)
{
    return i < all.n && address < all.at[i].high;
}

/* Puts M in front of mapping I. */
static void put(size_t i, Mapped m)
{
    if (all.n == MOST)
        return;
    memmove(&all.at[i + 1], &all.at[i], (all.n - i) * sizeof m);
    all.at[i] = m;
    all.n++;
}

static void note_end(uintptr_t low, uintptr_t high)
{
    if (all.ends && all.n_ends < MOST) {
        all.ends[(all.first_end + all.n_ends) % MOST] = (MappedEnd){low, high, thread_number()};
        all.n_ends++;
    }
    memory_changed();
}

/* Removes what is from LOW to HIGH. */
static void cut(uintptr_t low, uintptr_t high)
{
    for (size_t i; i = at_or_below(high - 1), contains(i, low);) {
        Mapped old = all.at[i], above = old;
        memmove(&all.at[i], &all.at[i + 1], (all.n - i - 1) * sizeof old);
        all.n--;
        above.low = high;
        if (old.high > high)
            put(i, above);
        size_t below = at_or_below(low);
        uintptr_t begins = old.low < low ? low : old.low, ends = old.high < high ? old.high : high;
        old.high = low;
        if (old.low < low)
            put(below, old);
        if (old.named)
            note_end(begins, ends);
    }
}

static uintptr_t end_of(uintptr_t low, size_t bytes)
{
    uintptr_t page = ranges_page();
    return low + ((bytes + page - 1) & ~(page - 1));
}

void mapped_add(uintptr_t low, size_t bytes, bool in)
{
    int saved = errno;
    uintptr_t high = end_of(low, bytes);
    sigset_t before;
    enter(&before);
    size_t i = at_or_below(low);
    if (all.at && high > low && !(in && contains(i, high - 1))) {
        cut(low, high);
        put(at_or_below(low), (Mapped){.low = low, .high = high});
    }
    leave(&before);
    errno = saved;
}

void mapped_remove(uintptr_t low, size_t bytes)
{
    int saved = errno;
    uintptr_t high = end_of(low, bytes);
    sigset_t before;
    enter(&before);
    if (high > low)
        cut(low, high);
    leave(&before);
    errno = saved;
}

bool mapped_find(uintptr_t address, bool name, uintptr_t *low, uintptr_t *high)
{
    sigset_t before;
    enter(&before);
    size_t i = at_or_below(address);
    bool found = contains(i, address);
    if (found) {
        all.at[i].named |= name;
        *low = all.at[i].low;
        *high = all.at[i].high;
    } else {
        if (i < all.n && all.at[i].high > *low)
            *low = all.at[i].high;
        if (i > 0 && all.at[i - 1].low < *high)
            *high = all.at[i - 1].low;
    }
    leave(&before);
    return found;
}

bool mapped_ended(MappedEnd *end)
{
    sigset_t before;
    if (all.n_ends == 0)
        return false;
    enter(&before);
    bool any = all.n_ends > 0;
    if (any) {
        *end = all.ends[all.first_end];
        all.first_end = (all.first_end + 1) % MOST;
        all.n_ends--;
    }
    leave(&before);
    return any;
}

/* -- ranges of addresses -- */

/* The index of the first range that ends above ADDRESS. */
static size_t above(const Ranges *rs, uintptr_t address)
{
    return LOWER_BOUND(i, rs->n, rs->at[i].high <= address);
}

Range *ranges_find(const Ranges *rs, uintptr_t address)
{
    size_t i = above(rs, address);
    return i < rs->n && rs->at[i].low <= address ? &rs->at[i] : NULL;
}

bool ranges_add(Ranges *rs, Range r)
{
    if (rs->n == rs->cap) {
        size_t cap = rs->cap ? 2 * rs->cap : 16;
        Range *grown = budget_resize(rs->at, rs->cap * sizeof *grown, cap * sizeof *grown);
        if (!grown)
            return false;
        rs->at = grown;
        rs->cap = cap;
    }
    size_t i = above(rs, r.low);
    memmove(&rs->at[i + 1], &rs->at[i], (rs->n - i) * sizeof *rs->at);
    rs->at[i] = r;
    rs->n++;
    return true;
}

const Range *ranges_find_overlap(const Ranges *rs, uintptr_t low, uintptr_t high)
{
    size_t i = above(rs, low);
    return i < rs->n && rs->at[i].low < high ? &rs->at[i] : NULL;
}

bool ranges_remove_overlap(Ranges *rs, uintptr_t low, uintptr_t high, Range *removed)
{
    const Range *r = ranges_find_overlap(rs, low, high);
    if (!r)
        return false;
    size_t i = (size_t)(r - rs->at);
    *removed = *r;
    rs->n--;
    memmove(&rs->at[i], &rs->at[i + 1], (rs->n - i) * sizeof *rs->at);
    return true;
}

bool ranges_cut(Ranges *rs, uintptr_t low, uintptr_t high)
{
    bool added = true;
    Range old;
    while (ranges_remove_overlap(rs, low, high, &old)) {
        Range below = old, above = old;
        below.high = low;
        above.low = high;
        if (old.low < low)
            added &= ranges_add(rs, below);
        if (old.high > high)
            added &= ranges_add(rs, above);
    }
    return added;
}

void ranges_free(Ranges *rs)
{
    budget_free(rs->at, rs->cap * sizeof *rs->at);
    *rs = (Ranges)RANGES_INIT;
}

uintptr_t ranges_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (uintptr_t)page : 4096;
}
