/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.c: see budget.h. */
#include "budget.h"

#include <stdatomic.h>
#include <stdint.h>

#include "memory.h"

static _Atomic size_t held, limit = SIZE_MAX;
static _Atomic size_t secured = SIZE_MAX;
static void (*_Atomic when_reached)(void);
static size_t (*_Atomic secure_beside)(size_t bytes);

void budget_give(size_t n)
{
    atomic_fetch_sub_explicit(&held, n, memory_order_relaxed);
}

static bool secure(size_t bytes)
{
    size_t enough = atomic_load(&secure_beside)(bytes);
    if (enough > 0)
        atomic_store_explicit(&secured, enough, memory_order_relaxed);
    return enough > 0;
}

/* Counts N bytes if they and all the rest are at most MOST. */
static bool take_within(size_t n, size_t most)
{
    size_t before = atomic_fetch_add_explicit(&held, n, memory_order_relaxed);
    bool fits = before <= most && n <= most - before;
    if (fits
        && (before + n <= atomic_load_explicit(&secured, memory_order_relaxed)
            || secure(before + n)))
        return true;
    budget_give(n);
    return false;
}

bool budget_take_half(size_t n)
{
    return take_within(n, atomic_load_explicit(&limit, memory_order_relaxed) / 2);
}

static bool take(size_t n)
{
    if (take_within(n, atomic_load_explicit(&limit, memory_order_relaxed)))
        return true;
    void (*reached)(void) = atomic_load(&when_reached);
    if (reached)
        reached();
    return false;
}

void *budget_resize(void *p, size_t old, size_t n)
{
    if (n == 0) {
        memory_free(p);
        budget_give(old);
        return NULL;
    }
    if (n > old && !take(n - old))
        return NULL;
    void *moved = memory_resize(p, n);
    if (!moved && n > old)
        budget_give(n - old);
    else if (moved && n < old)
        budget_give(old - n);
    return moved;
}

void *budget_zeroed(size_t n)
{
    if (!take(n))
        return NULL;
    void *p = memory_zeroed_or_null(1, n);
    if (!p)
        budget_give(n);
    return p;
}

size_t budget_held(void)
{
    return atomic_load_explicit(&held, memory_order_relaxed);
}

bool budget_is_ample(void)
{
    return budget_held() <= atomic_load_explicit(&limit, memory_order_relaxed) / 4;
}

void budget_limit(size_t bytes, void (*reached)(void))
{
    atomic_store(&when_reached, reached);
    atomic_store(&limit, bytes);
}

void budget_beside(size_t (*function)(size_t bytes))
{
    atomic_store(&secure_beside, function);
    atomic_store(&secured, function ? 0 : SIZE_MAX);
}
