/* SPDX-License-Identifier: BSD-3-Clause */
/* shard.c: see shard.h. */
#include "shard.h"

#include "tree.h"
#include "variants.h"

Vector *shards_new(void)
{
    return vector_new(sizeof(Shard));
}

static const Shard *shard_at(const Vector *shards, uint32_t i)
{
    return &VECTOR_AT(shards, Shard, i);
}

void shards_encode(const Vector *shards, WendBuf *out)
{
    buf_unsigned(out, shards->len);
    for (uint32_t i = 0; i < shards->len; i++) {
        const Shard *s = shard_at(shards, i);
        buf_unsigned(out, s->first - (i ? shard_at(shards, i - 1)->first : 0));
        buf_unsigned(out, s->member);
        buf_unsigned(out, s->frame);
        buf_unsigned(out, s->classes);
        buf_unsigned(out, s->totals.mpi_calls);
        buf_unsigned(out, s->totals.polls);
        buf_unsigned(out, s->totals.frees);
    }
}

bool shards_decode(Vector *shards, WendCursor *c, const RankSet *ranks)
{
    uint64_t n = cursor_unsigned(c), last = 0;
    for (uint64_t i = 0; i < n && !c->failed; i++) {
        uint64_t more = cursor_unsigned(c);
        if (c->failed || more > RANKSET_MAX || (i > 0 && more == 0))
            return false;
        Shard s = {.first = (uint32_t)(last += more)};
        s.member = cursor_unsigned(c);
        s.frame = cursor_unsigned(c);
        s.classes = cursor_unsigned(c);
        s.totals.mpi_calls = cursor_unsigned(c);
        s.totals.polls = cursor_unsigned(c);
        s.totals.frees = cursor_unsigned(c);
        if (s.member > INT32_MAX || s.frame > INT32_MAX || !rankset_contains(ranks, s.first))
            return false;
        VECTOR_APPEND(shards, s);
    }
    return !c->failed;
}

static void insert(Vector *shards, const Shard *s)
{
    uint32_t at = shards->len;
    while (at > 0 && shard_at(shards, at - 1)->first > s->first)
        at--;
    vector_insert_all(shards, at, s, 1);
}

void shards_include(Vector *shards, const Vector *more)
{
    for (uint32_t i = 0; i < more->len; i++)
        insert(shards, shard_at(more, i));
}

/* -- when a shard is made -- */

/* Data that a shard has in common with others are stored twice. So a shard is made only if the
 * classes are at least OF_PARTS/PARTS as many as the ranks, and there are TERMINALS_LEAST terminals
 * for each rank. It has LEAST ranks or, from tree_least on, as many terminals as LEAST ranks with
 * TERMINALS_MANY each. */
enum { PARTS = 4, OF_PARTS = 3, TERMINALS_LEAST = 16, TERMINALS_MANY = 128 };

static bool are_most(uint64_t kinds, uint64_t ranks)
{
    return kinds * PARTS >= ranks * OF_PARTS;
}

bool shard_is_due(const WendMerge *m, uint32_t least)
{
    uint64_t ranks = 0, terminals = 0;
    for (uint32_t i = 0; i < m->classes->len; i++) {
        const Class *k = VECTOR_POINTER(m->classes, i);
        ranks += k->ranks.n;
        for (uint32_t q = 0; q < k->n_sequences; q++)
            terminals += k->sequences[q].table.n_terminals;
    }
    return (ranks >= least
            || (ranks >= tree_least(least) && terminals >= (uint64_t)TERMINALS_MANY * least))
           && terminals >= TERMINALS_LEAST * ranks
           /* classes that differ only in values or in trip counts may become one at the root */
           && are_most(map_size(m->by_shapes), ranks) && are_most(variants_kinds(m), ranks);
}

void shard_replaces(WendMerge *m, const Shard *shard)
{
    map_clear(m->by_key);
    map_clear(m->by_shapes);
    vector_resize(m->classes, 0);
    insert(m->shards, shard);
}
