/* SPDX-License-Identifier: BSD-3-Clause */
/* side-members.c: see side-members.h. */
#include "side-members.h"

#include "shared-sides.h"

static void member_clear(gpointer p)
{
    SideMember *m = p;
    if (m->content)
        g_bytes_unref(m->content);
    if (m->in_frame)
        g_byte_array_unref(m->in_frame);
}

GArray *side_members_new(void)
{
    GArray *members = g_array_new(FALSE, FALSE, sizeof(SideMember));
    g_array_set_clear_func(members, member_clear);
    return members;
}

static SideMember *member_at(const GArray *members, guint i)
{
    return &g_array_index(members, SideMember, i);
}

static GBytes *read_content(WendCursor *c)
{
    WendCursor block = wend_cursor_block(c);
    return c->failed ? NULL : g_bytes_new(block.p, (gsize)(block.end - block.p));
}

gboolean side_members_read(GArray *members, GArray *shared, WendCursor *c, guint32 rank)
{
    gsize n = c->p < c->end ? wend_cursor_count(c, 2) : 0;
    guint64 least = 0;
    for (gsize i = 0; i < n; i++) {
        guint64 kind = wend_cursor_unsigned(c);
        GBytes *content = read_content(c);
        if (!content)
            return FALSE;
        gsize bytes = g_bytes_get_size(content);
        gboolean good = kind >= least && kind < WEND_SIDE_KINDS && bytes <= G_MAXINT32;
        if (!good || shared_sides_add(shared, (guint32)kind, content, rank)) {
            g_bytes_unref(content);
        } else {
            SideMember m = {.rank = rank, .kind = (guint32)kind, .content = content};
            m.member = bytes;
            g_array_append_val(members, m);
        }
        if (!good)
            return FALSE;
        least = kind + 1;
    }
    return !c->failed;
}

void side_members_encode(const GArray *members, WendBuf *out)
{
    wend_buf_unsigned(out, members->len);
    for (guint i = 0; i < members->len; i++) {
        const SideMember *m = member_at(members, i);
        wend_buf_unsigned(out, m->rank);
        wend_buf_unsigned(out, m->kind);
        wend_buf_unsigned(out, m->member);
        wend_buf_unsigned(out, m->frame);
        if (!m->content)
            continue;
        gsize n;
        const void *data = g_bytes_get_data(m->content, &n);
        wend_buf_unsigned(out, n);
        wend_buf_bytes(out, data, n);
    }
}

gboolean side_members_decode(GArray *members, WendCursor *c, guint32 world)
{
    gsize n = wend_cursor_count(c, 4);
    guint64 last = 0;
    for (gsize i = 0; i < n; i++) {
        guint64 rank = wend_cursor_unsigned(c), kind = wend_cursor_unsigned(c);
        guint64 member = wend_cursor_unsigned(c), frame = wend_cursor_unsigned(c);
        guint64 order = rank * WEND_SIDE_KINDS + kind;
        if (c->failed || rank >= world || kind >= WEND_SIDE_KINDS || member > G_MAXINT32
            || frame > G_MAXINT32 || (i > 0 && order <= last))
            return FALSE;
        last = order;
        SideMember m = {(guint32)rank, (guint32)kind, member, frame, NULL, NULL};
        if (frame == 0 && !(m.content = read_content(c)))
            return FALSE;
        g_array_append_val(members, m);
        if (m.content && g_bytes_get_size(m.content) != member)
            return FALSE;
    }
    return !c->failed;
}

void side_members_include(GArray *members, GArray *more)
{
    for (guint i = 0; i < more->len; i++) {
        SideMember *m = member_at(more, i);
        guint at = members->len;
        while (at > 0 && member_at(members, at - 1)->rank > m->rank)
            at--;
        g_array_insert_vals(members, at, m, 1);
        m->content = NULL; /* moved */
        m->in_frame = NULL;
    }
}

guint64 side_members_memory(const GArray *members)
{
    guint64 all = 0;
    for (guint i = 0; i < members->len; i++)
        all += sizeof(SideMember)
               + (member_at(members, i)->content ? member_at(members, i)->member : 0);
    return all;
}
