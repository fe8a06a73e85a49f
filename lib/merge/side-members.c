/* SPDX-License-Identifier: BSD-3-Clause */
/* side-members.c: see side-members.h. */
#include "side-members.h"

#include "shared-sides.h"

static void member_clear(void *p)
{
    SideMember *m = p;
    if (m->content)
        bytes_unref(m->content);
    if (m->in_frame)
        vector_unref(m->in_frame);
}

Vector *side_members_new(void)
{
    Vector *members = vector_new(sizeof(SideMember));
    vector_set_clear(members, member_clear);
    return members;
}

static SideMember *member_at(const Vector *members, uint32_t i)
{
    return &VECTOR_AT(members, SideMember, i);
}

static Bytes *read_content(WendCursor *c)
{
    WendCursor block = cursor_block(c);
    return c->failed ? NULL : bytes_new(block.p, (size_t)(block.end - block.p));
}

bool side_members_read(Vector *members, Vector *shared, WendCursor *c, uint32_t rank)
{
    size_t n = c->p < c->end ? cursor_count(c, 2) : 0;
    uint64_t least = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t kind = cursor_unsigned(c);
        Bytes *content = read_content(c);
        if (!content)
            return false;
        size_t bytes = content->n;
        bool good = kind >= least && kind < WEND_SIDE_KINDS && bytes <= INT32_MAX;
        if (!good || shared_sides_add(shared, (uint32_t)kind, content, rank)) {
            bytes_unref(content);
        } else {
            SideMember m = {.rank = rank, .kind = (uint32_t)kind, .content = content};
            m.member = bytes;
            VECTOR_APPEND(members, m);
        }
        if (!good)
            return false;
        least = kind + 1;
    }
    return !c->failed;
}

void side_members_encode(const Vector *members, WendBuf *out)
{
    buf_unsigned(out, members->len);
    for (uint32_t i = 0; i < members->len; i++) {
        const SideMember *m = member_at(members, i);
        buf_unsigned(out, m->rank);
        buf_unsigned(out, m->kind);
        buf_unsigned(out, m->member);
        buf_unsigned(out, m->frame);
        if (!m->content)
            continue;
        buf_counted(out, m->content->data, m->content->n);
    }
}

bool side_members_decode(Vector *members, WendCursor *c, uint32_t world)
{
    size_t n = cursor_count(c, 4);
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t rank = cursor_unsigned(c), kind = cursor_unsigned(c);
        uint64_t member = cursor_unsigned(c), frame = cursor_unsigned(c);
        uint64_t order = rank * WEND_SIDE_KINDS + kind;
        if (c->failed || rank >= world || kind >= WEND_SIDE_KINDS || member > INT32_MAX
            || frame > INT32_MAX || (i > 0 && order <= last))
            return false;
        last = order;
        SideMember m = {(uint32_t)rank, (uint32_t)kind, member, frame, NULL, NULL};
        if (frame == 0 && !(m.content = read_content(c)))
            return false;
        VECTOR_APPEND(members, m);
        if (m.content && m.content->n != member)
            return false;
    }
    return !c->failed;
}

void side_members_include(Vector *members, Vector *more)
{
    for (uint32_t i = 0; i < more->len; i++) {
        SideMember *m = member_at(more, i);
        uint32_t at = members->len;
        while (at > 0 && member_at(members, at - 1)->rank > m->rank)
            at--;
        vector_insert_all(members, at, m, 1);
        m->content = NULL; /* moved */
        m->in_frame = NULL;
    }
}

uint64_t side_members_memory(const Vector *members)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < members->len; i++)
        all += sizeof(SideMember)
               + (member_at(members, i)->content ? member_at(members, i)->member : 0);
    return all;
}
