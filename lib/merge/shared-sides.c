/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-sides.c: see shared-sides.h. */
#include "shared-sides.h"

static void shared_clear(gpointer p)
{
    SharedSide *s = p;
    g_bytes_unref(s->content);
    rankset_clear(&s->ranks);
}

GArray *shared_sides_new(void)
{
    GArray *shared = g_array_new(FALSE, FALSE, sizeof(SharedSide));
    g_array_set_clear_func(shared, shared_clear);
    return shared;
}

static SharedSide *shared_at(const GArray *shared, guint i)
{
    return &g_array_index(shared, SharedSide, i);
}

gboolean shared_sides_add(GArray *shared, guint32 kind, GBytes *content, guint32 rank)
{
    if (g_bytes_get_size(content) > wend_side_stream_kind(kind)->shared_most)
        return FALSE;
    SharedSide s = {kind, g_bytes_ref(content), rankset_single(rank)};
    g_array_append_val(shared, s);
    return TRUE;
}

void shared_sides_encode(const GArray *shared, WendBuf *out)
{
    wend_buf_unsigned(out, shared->len);
    for (guint i = 0; i < shared->len; i++) {
        const SharedSide *s = shared_at(shared, i);
        gsize n;
        const void *data = g_bytes_get_data(s->content, &n);
        wend_buf_unsigned(out, s->kind);
        rankset_encode(&s->ranks, out);
        wend_buf_unsigned(out, n);
        wend_buf_bytes(out, data, n);
    }
}

gboolean shared_sides_decode(GArray *shared, WendCursor *c, guint32 world)
{
    gsize n = wend_cursor_count(c, 4);
    for (gsize i = 0; i < n && !c->failed; i++) {
        SharedSide s = {.kind = (guint32)wend_cursor_unsigned(c)};
        if (s.kind >= WEND_SIDE_KINDS || !rankset_decode(&s.ranks, c, world)) {
            rankset_clear(&s.ranks);
            return FALSE;
        }
        WendCursor block = wend_cursor_block(c);
        s.content = g_bytes_new(block.p, (gsize)(block.end - block.p));
        g_array_append_val(shared, s);
    }
    return !c->failed;
}

static SharedSide *find(GArray *shared, GHashTable *by_content, const SharedSide *like)
{
    gpointer at = g_hash_table_lookup(by_content, like->content);
    SharedSide *s = at ? shared_at(shared, GPOINTER_TO_UINT(at) - 1) : NULL;
    return s && s->kind == like->kind ? s : NULL;
}

void shared_sides_include(GArray *shared, const GArray *more)
{
    g_autoptr(GHashTable) by_content = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    for (guint i = 0; i < shared->len; i++)
        g_hash_table_insert(by_content, shared_at(shared, i)->content, GUINT_TO_POINTER(i + 1));
    for (guint i = 0; i < more->len; i++) {
        const SharedSide *theirs = shared_at(more, i);
        SharedSide *ours = find(shared, by_content, theirs);
        if (ours) {
            rankset_include(&ours->ranks, &theirs->ranks);
            continue;
        }
        SharedSide s = {theirs->kind, g_bytes_ref(theirs->content), rankset_copy(&theirs->ranks)};
        g_array_append_val(shared, s);
    }
}

guint64 shared_sides_memory(const GArray *shared)
{
    guint64 all = 0;
    for (guint i = 0; i < shared->len; i++)
        all += sizeof(SharedSide) + g_bytes_get_size(shared_at(shared, i)->content);
    return all;
}
