/* SPDX-License-Identifier: BSD-3-Clause */
/* part-list.c: see part-list.h. */
#include "part-list.h"

#include <string.h>
#include <sys/mman.h>

bool part_list_open(PartList *l, size_t cap)
{
    void *data = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *l = (PartList){.data = data == MAP_FAILED ? NULL : data, .cap = cap};
    return l->data;
}

static bool has_room(const PartList *l, size_t n)
{
    return l->data && n <= l->cap - l->len;
}

bool part_list_append(PartList *l, const void *list, size_t n)
{
    if (!has_room(l, n))
        return false;
    memcpy(l->data + l->len, list, n);
    l->len += n;
    return true;
}

bool part_list_add(PartList *l, const void *part, size_t n)
{
    return n < SIZE_MAX - sizeof n && has_room(l, sizeof n + n) && part_list_append(l, &n, sizeof n)
           && part_list_append(l, part, n);
}

bool part_list_next(const PartList *l, size_t *at, const void **part, size_t *n)
{
    if (!l->data || l->len - *at < sizeof *n)
        return false;
    memcpy(n, l->data + *at, sizeof *n);
    *at += sizeof *n;
    if (*n > l->len - *at)
        return false;
    *part = l->data + *at;
    *at += *n;
    return true;
}

void part_list_close(PartList *l)
{
    if (l->data)
        munmap(l->data, l->cap);
    *l = (PartList){0};
}
