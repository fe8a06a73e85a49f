/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.c: allocates blocks one after the other in large pieces. The last block can grow in
 * place. */
#include "system.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct Piece {
    struct Piece *older;
    size_t bytes, used;
    bool set_aside;
} Piece;

enum {
    ALIGNMENT = 16,
    FIRST = 1 << 20,
    KEPT = 8 << 20,
    HEADER = (sizeof(Piece) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT
};

static Piece *newest;
/* The reserved piece. Taking it out makes the taker its only user, until it is put back. */
static Piece *_Atomic aside;

static size_t rounded(size_t n)
{
    return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static Piece *map(size_t bytes)
{
    long p =
        syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == -1)
        return NULL;
    *(Piece *)p = (Piece){.bytes = bytes, .used = HEADER};
    return (Piece *)p;
}

static void unmap(Piece *p)
{
    if (p)
        syscall(SYS_munmap, p, p->bytes);
}

/* Puts a piece aside. Of several pieces the largest is kept. */
static void put_aside(Piece *p)
{
    Piece *other;
    while ((other = atomic_exchange(&aside, p)) && other->bytes > p->bytes)
        p = other;
    unmap(other);
}

static Piece *take_aside(size_t n)
{
    Piece *p = atomic_exchange(&aside, NULL);
    if (p && p->bytes - HEADER < n) {
        put_aside(p);
        return NULL;
    }
    if (p)
        *p = (Piece){.bytes = p->bytes, .used = HEADER, .set_aside = true};
    return p;
}

static void *take(size_t n)
{
    n = rounded(n);
    if (!newest || newest->bytes - newest->used < n) {
        size_t bytes = newest ? 2 * newest->bytes : FIRST;
        while (bytes - HEADER < n)
            bytes *= 2;
        Piece *p = map(bytes);
        if (!p && !(p = take_aside(n)))
            return NULL;
        p->older = newest;
        newest = p;
    }
    void *block = (char *)newest + newest->used;
    newest->used += n;
    return block;
}

/* Whether the system refuses memory before it is used up. */
static bool is_rationed(void)
{
    struct rlimit own;
    char policy = '0';
    if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
        return true;
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        syscall(SYS_read, fd, &policy, 1L);
        syscall(SYS_close, fd);
    }
    return policy == '2';
}

bool scratch_reserve(size_t bytes)
{
    if (!is_rationed())
        return true;
    bytes = (bytes + HEADER + FIRST - 1) & ~(size_t)(FIRST - 1);
    Piece *p = atomic_exchange(&aside, NULL);
    if (p && p->bytes >= bytes) {
        put_aside(p);
        return true;
    }
    size_t before = p ? p->bytes : 0;
    long moved = p ? syscall(SYS_mremap, p, before, bytes, MREMAP_MAYMOVE) : (long)map(bytes);
    bool good = moved != -1 && moved != 0;
    if (good)
        *(p = (Piece *)moved) = (Piece){.bytes = bytes, .used = HEADER};
    if (p)
        put_aside(p);
    return good;
}

void *scratch_resize(void *p, size_t old, size_t n)
{
    if (n == 0 || n > SIZE_MAX / 8)
        return NULL;
    size_t whole = rounded(old);
    bool last = p && newest && (char *)p + whole == (char *)newest + newest->used;
    if (last && (rounded(n) <= whole || newest->bytes - newest->used >= rounded(n) - whole)) {
        newest->used += rounded(n) - whole; /* unsigned, also for a smaller size */
        return p;
    }
    void *moved = take(n);
    return moved && p ? memcpy(moved, p, old < n ? old : n) : moved;
}

void scratch_clear(void)
{
    while (newest && (newest->older || newest->set_aside || newest->bytes > KEPT)) {
        Piece *p = newest;
        newest = p->older;
        if (p->set_aside)
            put_aside(p);
        else
            unmap(p);
    }
    if (newest)
        newest->used = HEADER;
}
