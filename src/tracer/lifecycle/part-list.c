/* SPDX-License-Identifier: BSD-3-Clause */
/* part-list.c: see part-list.h. */
#include "part-list.h"

#include <string.h>
#include <sys/mman.h>

bool part_list_open(PartList *b, size_t cap)
{
    void *data = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *b = (PartList){.data = data == MAP_FAILED ? NULL : data, .cap = cap};
    return b->data;
}

static bool has_room(const PartList *b, size_t n)
{
    return b->data && n <= b->cap - b->len;
}

bool part_list_append(PartList *b, const void *list, size_t n)
{
    if (!has_room(b, n))
        return false;
    memcpy(b->data + b->len, list, n);
    b->len += n;
    return true;
}

bool part_list_add(PartList *b, const void *part, size_t n)
{
    return n < SIZE_MAX - sizeof n && has_room(b, sizeof n + n) && part_list_append(b, &n, sizeof n)
           && part_list_append(b, part, n);
}

bool part_list_next(const PartList *b, size_t *at, const void **part, size_t *n)
{
    if (!b->data || b->len - *at < sizeof *n)
        return false;
    memcpy(n, b->data + *at, sizeof *n);
    *at += sizeof *n;
    if (*n > b->len - *at)
        return false;
    *part = b->data + *at;
    *at += *n;
    return true;
}

void part_list_close(PartList *b)
{
    if (b->data)
        munmap(b->data, b->cap);
    *b = (PartList){0};
}
