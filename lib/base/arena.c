/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.c: see arena.h. */
#include "arena.h"

#include <stdint.h>
#include <string.h>

#include "budget.h"

struct arena_chunk {
    struct arena_chunk *older;
    size_t bytes; /* of the chunk, this header included */
    char data[];
};

/* The size of a new chunk for BYTES. Chunks grow with the bytes held: so an arena with a few
 * objects is small, and a large one asks the system rarely. */
static size_t chunk_size(const WendArena *a, size_t bytes)
{
    size_t size = a->bytes < 1024 ? 1024 : a->bytes > (1 << 20) ? 1 << 20 : a->bytes;
    return size < bytes ? bytes : size;
}

void *arena_new(WendArena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = bytes > 0 ? (bytes + 7) & ~(size_t)7 : 8; /* 0 bytes have an address too */
    if ((size_t)(a->end - a->next) < bytes) {
        size_t size = chunk_size(a, bytes);
        struct arena_chunk *chunk = budget_zeroed(sizeof *chunk + size);
        if (!chunk)
            return NULL;
        chunk->older = a->chunks;
        chunk->bytes = sizeof *chunk + size;
        a->chunks = chunk;
        a->next = chunk->data;
        a->end = chunk->data + size;
        a->bytes += chunk->bytes;
    }
    void *p = a->next;
    a->next += bytes;
    return p;
}

void *arena_copy(WendArena *a, const void *data, size_t bytes)
{
    void *p = arena_new(a, bytes);
    if (p && bytes > 0)
        memcpy(p, data, bytes);
    return p;
}

void arena_clear(WendArena *a)
{
    while (a->chunks) {
        struct arena_chunk *older = a->chunks->older;
        budget_free(a->chunks, a->chunks->bytes);
        a->chunks = older;
    }
    *a = (WendArena){0};
}
