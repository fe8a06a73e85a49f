/* SPDX-License-Identifier: BSD-3-Clause */
/* allowance.c: see allowance.h. */
#include "allowance.h"

#include <inttypes.h>
#include <sys/resource.h>

#include "error.h"

struct Allowance {
    uint32_t references;
    uint64_t archives; /* bytes of the archives that are read */
    uint64_t most, taken;
    bool given; /* the user set the most */
    bool exceeded, no_memory;
};

/* Half of the process's address space: the other half is for the results. */
static uint64_t ceiling(void)
{
    struct rlimit own;
    bool limited = getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY;
    return limited ? MIN(ALLOWANCE_MOST, own.rlim_cur / 2) : ALLOWANCE_MOST;
}

static void measure(Allowance *a)
{
    uint64_t most;
    if (__builtin_mul_overflow(a->archives, ALLOWANCE_FACTOR, &most))
        most = UINT64_MAX;
    a->most = MIN(MAX(most, ALLOWANCE_LEAST), ceiling());
}

Allowance *allowance_new(uint64_t bytes)
{
    Allowance *a = NEW0(Allowance, 1);
    a->references = 1;
    a->given = bytes > 0;
    a->most = bytes;
    if (!a->given)
        measure(a);
    return a;
}

Allowance *allowance_ref(Allowance *a)
{
    if (a)
        a->references++;
    return a;
}

void allowance_unref(Allowance *a)
{
    if (a && --a->references == 0)
        memory_free(a);
}

void allowance_add_archive(Allowance *a, uint64_t bytes)
{
    if (__builtin_add_overflow(a->archives, bytes, &a->archives))
        a->archives = UINT64_MAX;
    if (!a->given)
        measure(a);
}

bool allowance_take(Allowance *a, uint64_t n, size_t size)
{
    uint64_t bytes;
    if (!a)
        return true;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > a->most - a->taken) {
        a->exceeded = true;
        return false;
    }
    a->taken += bytes;
    return true;
}

void allowance_give(Allowance *a, uint64_t bytes)
{
    if (a)
        a->taken -= MIN(bytes, a->taken);
}

void *allowance_block(Allowance *a, uint64_t n, size_t size)
{
    if (n >= SIZE_MAX || !allowance_take(a, n + 1, size))
        return NULL;
    void *block = memory_zeroed_or_null(n + 1, size);
    if (!block && a)
        a->no_memory = true;
    return block;
}

bool allowance_grow(Allowance *a, uint8_t **block, size_t old, size_t n)
{
    if (!allowance_take(a, n - old, 1))
        return false;
    uint8_t *grown = memory_resize_or_null(*block, n);
    if (grown)
        *block = grown;
    else if (a)
        a->no_memory = true;
    return grown != NULL;
}

bool allowance_error(const Allowance *a, const char *name, Error **error)
{
    if (!a || (!a->exceeded && !a->no_memory))
        return false;
    bool large = a->most >> 20 > 0;
    if (a->exceeded)
        error_set(error, WEND_ERROR_INPUT,
                  "%s: takes more than %" PRIu64 " %s, which no recording of its size does: "
                  "--max-size=SIZE allows more",
                  name, large ? a->most >> 20 : a->most >> 10, large ? "MB" : "KB");
    else
        error_set(error, WEND_ERROR_SYSTEM, "%s: not enough memory to read it", name);
    return true;
}
