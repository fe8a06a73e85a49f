/* SPDX-License-Identifier: BSD-3-Clause */
/* shard.c: see shard.h. */
#include "shard.h"

#include "tree.h"
#include "variants.h"

GArray *shards_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(Shard));
}

static const Shard *shard_at(const GArray *shards, guint i)
{
    return &g_array_index(shards, Shard, i);
}

void shards_encode(const GArray *shards, WendBuf *out)
{
    wend_buf_unsigned(out, shards->len);
    for (guint i = 0; i < shards->len; i++) {
        const Shard *s = shard_at(shards, i);
        wend_buf_unsigned(out, s->first - (i ? shard_at(shards, i - 1)->first : 0));
        wend_buf_unsigned(out, s->member);
        wend_buf_unsigned(out, s->frame);
        wend_buf_unsigned(out, s->classes);
        wend_buf_unsigned(out, s->totals.mpi_calls);
        wend_buf_unsigned(out, s->totals.polls);
        wend_buf_unsigned(out, s->totals.frees);
    }
}

gboolean shards_decode(GArray *shards, WendCursor *c, const RankSet *ranks)
{
    guint64 n = wend_cursor_unsigned(c), last = 0;
    for (guint64 i = 0; i < n && !c->failed; i++) {
        guint64 more = wend_cursor_unsigned(c);
        if (c->failed || more > RANKSET_MAX || (i > 0 && more == 0))
            return FALSE;
        Shard s = {.first = (guint32)(last += more)};
        s.member = wend_cursor_unsigned(c);
        s.frame = wend_cursor_unsigned(c);
        s.classes = wend_cursor_unsigned(c);
        s.totals.mpi_calls = wend_cursor_unsigned(c);
        s.totals.polls = wend_cursor_unsigned(c);
        s.totals.frees = wend_cursor_unsigned(c);
        if (s.member > G_MAXINT32 || s.frame > G_MAXINT32 || !rankset_contains(ranks, s.first))
            return FALSE;
        g_array_append_val(shards, s);
    }
    return !c->failed;
}

static void insert(GArray *shards, const Shard *s)
{
    guint at = shards->len;
    while (at > 0 && shard_at(shards, at - 1)->first > s->first)
        at--;
    g_array_insert_vals(shards, at, s, 1);
}

void shards_include(GArray *shards, const GArray *more)
{
    for (guint i = 0; i < more->len; i++)
        insert(shards, shard_at(more, i));
}

/* -- when a shard is made -- */

/* Data that a shard has in common with others are stored twice. So a shard is made only if the
 * classes are at least OF_PARTS/PARTS as many as the ranks, and there are TERMINALS_LEAST terminals
 * for each rank. It has LEAST ranks or, from tree_least on, as many terminals as LEAST ranks with
 * TERMINALS_MANY each. */
enum { PARTS = 4, OF_PARTS = 3, TERMINALS_LEAST = 16, TERMINALS_MANY = 128 };

static gboolean are_most(guint64 kinds, guint64 ranks)
{
    return kinds * PARTS >= ranks * OF_PARTS;
}

gboolean shard_is_due(const WendMerge *m, guint32 least)
{
    guint64 ranks = 0, terminals = 0;
    for (guint i = 0; i < m->classes->len; i++) {
        const Class *k = g_ptr_array_index(m->classes, i);
        ranks += k->ranks.n;
        for (guint q = 0; q < k->n_sequences; q++)
            terminals += k->sequences[q].table.n_terminals;
    }
    return (ranks >= least
            || (ranks >= tree_least(least) && terminals >= (guint64)TERMINALS_MANY * least))
           && terminals >= TERMINALS_LEAST * ranks
           /* classes that differ only in values or in trip counts may become one at the root */
           && are_most(g_hash_table_size(m->by_shapes), ranks)
           && are_most(variants_kinds(m), ranks);
}

void shard_replaces(WendMerge *m, const Shard *shard)
{
    g_hash_table_remove_all(m->by_key);
    g_hash_table_remove_all(m->by_shapes);
    g_ptr_array_set_size(m->classes, 0);
    insert(m->shards, shard);
}
