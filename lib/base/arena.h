/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.h: memory in chunks that never move and are freed together. No GLib. */
#ifndef WEND_ARENA_H
#define WEND_ARENA_H

#include <stddef.h>

typedef struct {
    struct arena_chunk *chunks; /* newest first */
    char *next, *end;           /* the free rest of the newest */
    size_t bytes;               /* of all chunks */
} WendArena;                    /* {0} is empty */

void *arena_new(WendArena *a, size_t bytes); /* zeroed, aligned to 8; NULL: no memory */
void *arena_copy(WendArena *a, const void *data, size_t bytes);
void arena_clear(WendArena *a);

#endif
