/* SPDX-License-Identifier: BSD-3-Clause */
/* contents.c: distinct byte strings, each with the ranks that have it. See class.h. */
#include "class.h"

static void content_free(gpointer p)
{
    Content *c = p;
    g_bytes_unref(c->bytes);
    rankset_clear(&c->ranks);
    g_free(c);
}

void contents_init(Contents *c)
{
    c->items = g_ptr_array_new_with_free_func(content_free);
    c->index = NULL;
}

void contents_clear(Contents *c)
{
    g_clear_pointer(&c->index, g_hash_table_unref);
    g_clear_pointer(&c->items, g_ptr_array_unref);
}

gsize contents_memory(const Contents *c)
{
    enum { SMALL = 32 }; /* bytes of a GBytes and of a set */
    gsize all = c->items->len * (sizeof(Content) + SMALL);
    for (guint i = 0; i < c->items->len; i++)
        all += g_bytes_get_size(((const Content *)g_ptr_array_index(c->items, i))->bytes);
    return all;
}

static Content *find(Contents *c, GBytes *bytes)
{
    /* A linear search, as nearly always there is only one string. */
    if (c->items->len < 8) {
        for (guint i = 0; i < c->items->len; i++) {
            Content *item = g_ptr_array_index(c->items, i);
            if (g_bytes_equal(item->bytes, bytes))
                return item;
        }
        return NULL;
    }
    if (!c->index) {
        c->index = g_hash_table_new(g_bytes_hash, g_bytes_equal);
        for (guint i = 0; i < c->items->len; i++) {
            Content *item = g_ptr_array_index(c->items, i);
            g_hash_table_insert(c->index, item->bytes, item);
        }
    }
    return g_hash_table_lookup(c->index, bytes);
}

void contents_add(Contents *c, GBytes *bytes, const RankSet *ranks)
{
    Content *item = find(c, bytes);
    if (item) {
        rankset_unite(&item->ranks, ranks);
        return;
    }
    item = g_new(Content, 1);
    item->bytes = g_bytes_ref(bytes);
    item->ranks = rankset_copy(ranks);
    g_ptr_array_add(c->items, item);
    if (c->index)
        g_hash_table_insert(c->index, item->bytes, item);
}

void contents_merge(Contents *a, const Contents *b)
{
    for (guint i = 0; i < b->items->len; i++) {
        const Content *item = g_ptr_array_index(b->items, i);
        contents_add(a, item->bytes, &item->ranks);
    }
}

static gint by_lowest(gconstpointer a, gconstpointer b)
{
    const Content *x = *(Content *const *)a, *y = *(Content *const *)b;
    guint32 p = rankset_lowest(&x->ranks), q = rankset_lowest(&y->ranks);
    return p < q ? -1 : p > q;
}

void contents_sort(Contents *c)
{
    g_ptr_array_sort(c->items, by_lowest);
}

void contents_encode(const Contents *c, WendBuf *out)
{
    wend_buf_unsigned(out, c->items->len);
    for (guint i = 0; i < c->items->len; i++) {
        const Content *item = g_ptr_array_index(c->items, i);
        gsize n;
        const void *bytes = g_bytes_get_data(item->bytes, &n);
        rankset_encode(&item->ranks, out);
        wend_buf_unsigned(out, n);
        wend_buf_bytes(out, bytes, n);
    }
}

gboolean contents_decode(Contents *c, WendCursor *in, guint32 world)
{
    contents_init(c);
    gsize n = wend_cursor_count(in, 2);
    for (gsize i = 0; i < n; i++) {
        RankSet ranks;
        if (!rankset_decode(&ranks, in, world))
            return FALSE;
        WendCursor block = wend_cursor_block(in);
        if (in->failed) {
            rankset_clear(&ranks);
            return FALSE;
        }
        g_autoptr(GBytes) bytes = g_bytes_new(block.p, block.end - block.p);
        contents_add(c, bytes, &ranks);
        rankset_clear(&ranks);
    }
    return !in->failed;
}
