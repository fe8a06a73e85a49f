/* scratch.c: blocks one behind the other in large pieces; the last one can grow where it is. */
#include "scratch.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct Piece {
    struct Piece *older;
    size_t bytes, used;
} Piece;

enum { ALIGNMENT = 16, FIRST = 1 << 20, KEPT = 8 << 20, HEADER = (sizeof(Piece) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

static Piece *newest;

static size_t rounded(size_t n) { return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

static void *take(size_t n)
{
    n = rounded(n);
    if (!newest || newest->bytes - newest->used < n) {
        size_t bytes = newest ? 2 * newest->bytes : FIRST;
        while (bytes - HEADER < n)
            bytes *= 2;
        long p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == -1)
            return NULL;
        *(Piece *)p = (Piece){newest, bytes, HEADER};
        newest = (Piece *)p;
    }
    void *block = (char *)newest + newest->used;
    newest->used += n;
    return block;
}

void *scratch_resize(void *p, size_t old, size_t n)
{
    if (n == 0 || n > SIZE_MAX / 8)
        return NULL;
    size_t whole = rounded(old);
    bool last = p && newest && (char *)p + whole == (char *)newest + newest->used;
    if (last && (rounded(n) <= whole || newest->bytes - newest->used >= rounded(n) - whole)) {
        newest->used += rounded(n) - whole; /* unsigned: also down */
        return p;
    }
    void *moved = take(n);
    return moved && p ? memcpy(moved, p, old < n ? old : n) : moved;
}

void scratch_clear(void)
{
    while (newest && (newest->older || newest->bytes > KEPT)) {
        Piece *older = newest->older;
        syscall(SYS_munmap, newest, newest->bytes);
        newest = older;
    }
    if (newest)
        newest->used = HEADER;
}
