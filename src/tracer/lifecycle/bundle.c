/* SPDX-License-Identifier: BSD-3-Clause */
/* bundle.c: see bundle.h. */
#include "bundle.h"

#include <string.h>
#include <sys/mman.h>

bool bundle_open(Bundle *b, size_t cap)
{
    void *data = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *b = (Bundle){.data = data == MAP_FAILED ? NULL : data, .cap = cap};
    return b->data;
}

static bool has_room(const Bundle *b, size_t n)
{
    return b->data && n <= b->cap - b->len;
}

bool bundle_add_bundle(Bundle *b, const void *bundle, size_t n)
{
    if (!has_room(b, n))
        return false;
    memcpy(b->data + b->len, bundle, n);
    b->len += n;
    return true;
}

bool bundle_add_part(Bundle *b, const void *part, size_t n)
{
    return n < SIZE_MAX - sizeof n && has_room(b, sizeof n + n)
           && bundle_add_bundle(b, &n, sizeof n) && bundle_add_bundle(b, part, n);
}

bool bundle_next(const Bundle *b, size_t *at, const void **part, size_t *n)
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

void bundle_close(Bundle *b)
{
    if (b->data)
        munmap(b->data, b->cap);
    *b = (Bundle){0};
}
