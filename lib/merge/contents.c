/* SPDX-License-Identifier: BSD-3-Clause */
/* contents.c: distinct byte strings, each with the ranks that have it. See class.h. */
#include "class.h"

static void content_free(void *p)
{
    Content *c = p;
    bytes_unref(c->bytes);
    rankset_clear(&c->ranks);
    memory_free(c);
}

void contents_init(Contents *c)
{
    c->items = vector_of_pointers(content_free);
    c->index = NULL;
}

void contents_clear(Contents *c)
{
    CLEAR(c->index, map_unref);
    CLEAR(c->items, vector_unref);
}

size_t contents_memory(const Contents *c)
{
    enum { SMALL = 32 }; /* bytes of a Bytes and of a set */
    size_t all = c->items->len * (sizeof(Content) + SMALL);
    for (uint32_t i = 0; i < c->items->len; i++)
        all += ((const Content *)VECTOR_POINTER(c->items, i))->bytes->n;
    return all;
}

static Content *find(Contents *c, Bytes *bytes)
{
    /* A linear search, as nearly always there is only one string. */
    if (c->items->len < 8) {
        for (uint32_t i = 0; i < c->items->len; i++) {
            Content *item = VECTOR_POINTER(c->items, i);
            if (bytes_equal(item->bytes, bytes))
                return item;
        }
        return NULL;
    }
    if (!c->index) {
        c->index = map_new(bytes_hash, bytes_equal, NULL, NULL);
        for (uint32_t i = 0; i < c->items->len; i++) {
            Content *item = VECTOR_POINTER(c->items, i);
            map_put(c->index, item->bytes, item);
        }
    }
    return map_get(c->index, bytes);
}

void contents_add(Contents *c, Bytes *bytes, const RankSet *ranks)
{
    Content *item = find(c, bytes);
    if (item) {
        rankset_unite(&item->ranks, ranks);
        return;
    }
    item = NEW(Content, 1);
    item->bytes = bytes_ref(bytes);
    item->ranks = rankset_copy(ranks);
    vector_add(c->items, item);
    if (c->index)
        map_put(c->index, item->bytes, item);
}

void contents_merge(Contents *a, const Contents *b)
{
    for (uint32_t i = 0; i < b->items->len; i++) {
        const Content *item = VECTOR_POINTER(b->items, i);
        contents_add(a, item->bytes, &item->ranks);
    }
}

static int by_lowest(const void *a, const void *b)
{
    const Content *x = *(Content *const *)a, *y = *(Content *const *)b;
    uint32_t p = rankset_lowest(&x->ranks), q = rankset_lowest(&y->ranks);
    return p < q ? -1 : p > q;
}

void contents_sort(Contents *c)
{
    vector_sort(c->items, by_lowest);
}

void contents_encode(const Contents *c, WendBuf *out)
{
    buf_unsigned(out, c->items->len);
    for (uint32_t i = 0; i < c->items->len; i++) {
        const Content *item = VECTOR_POINTER(c->items, i);
        rankset_encode(&item->ranks, out);
        buf_counted(out, item->bytes->data, item->bytes->n);
    }
}

bool contents_decode(Contents *c, WendCursor *in, uint32_t world)
{
    contents_init(c);
    size_t n = cursor_count(in, 2);
    for (size_t i = 0; i < n; i++) {
        RankSet ranks;
        if (!rankset_decode(&ranks, in, world))
            return false;
        WendCursor block = cursor_block(in);
        if (in->failed) {
            rankset_clear(&ranks);
            return false;
        }
        AUTO(Bytes) bytes = bytes_new(block.p, block.end - block.p);
        contents_add(c, bytes, &ranks);
        rankset_clear(&ranks);
    }
    return !in->failed;
}
