/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-sides.c: see shared-sides.h. */
#include "shared-sides.h"

static void shared_clear(void *p)
{
    SharedSide *s = p;
    bytes_unref(s->content);
    rankset_clear(&s->ranks);
}

Vector *shared_sides_new(void)
{
    Vector *shared = vector_new(sizeof(SharedSide));
    vector_set_clear(shared, shared_clear);
    return shared;
}

static SharedSide *shared_at(const Vector *shared, uint32_t i)
{
    return &VECTOR_AT(shared, SharedSide, i);
}

bool shared_sides_add(Vector *shared, uint32_t kind, Bytes *content, uint32_t rank)
{
    if (content->n > side_stream_kind(kind)->shared_most)
        return false;
    SharedSide s = {kind, bytes_ref(content), rankset_single(rank)};
    VECTOR_APPEND(shared, s);
    return true;
}

void shared_sides_encode(const Vector *shared, WendBuf *out)
{
    buf_unsigned(out, shared->len);
    for (uint32_t i = 0; i < shared->len; i++) {
        const SharedSide *s = shared_at(shared, i);
        buf_unsigned(out, s->kind);
        rankset_encode(&s->ranks, out);
        buf_counted(out, s->content->data, s->content->n);
    }
}

bool shared_sides_decode(Vector *shared, WendCursor *c, uint32_t world)
{
    size_t n = cursor_count(c, 4);
    for (size_t i = 0; i < n && !c->failed; i++) {
        SharedSide s = {.kind = (uint32_t)cursor_unsigned(c)};
        if (s.kind >= WEND_SIDE_KINDS || !rankset_decode(&s.ranks, c, world)) {
            rankset_clear(&s.ranks);
            return false;
        }
        WendCursor block = cursor_block(c);
        s.content = bytes_new(block.p, (size_t)(block.end - block.p));
        VECTOR_APPEND(shared, s);
    }
    return !c->failed;
}

static SharedSide *find(Vector *shared, Map *by_content, const SharedSide *like)
{
    void *at = map_get(by_content, like->content);
    SharedSide *s = at ? shared_at(shared, NUMBER_OF(at) - 1) : NULL;
    return s && s->kind == like->kind ? s : NULL;
}

void shared_sides_include(Vector *shared, const Vector *more)
{
    AUTO(Map) by_content = map_new(bytes_hash, bytes_equal, NULL, NULL);
    for (uint32_t i = 0; i < shared->len; i++)
        map_put(by_content, shared_at(shared, i)->content, OF_NUMBER(i + 1));
    for (uint32_t i = 0; i < more->len; i++) {
        const SharedSide *theirs = shared_at(more, i);
        SharedSide *ours = find(shared, by_content, theirs);
        if (ours) {
            rankset_include(&ours->ranks, &theirs->ranks);
            continue;
        }
        SharedSide s = {theirs->kind, bytes_ref(theirs->content), rankset_copy(&theirs->ranks)};
        VECTOR_APPEND(shared, s);
    }
}

uint64_t shared_sides_memory(const Vector *shared)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < shared->len; i++)
        all += sizeof(SharedSide) + shared_at(shared, i)->content->n;
    return all;
}
