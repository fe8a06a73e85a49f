/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-vector.c: neighbours of some ranks of a torus, as those of all. */
#include "../../lib/ranks/rank-vector.h"

#include <glib.h>
#include "../../lib/record/words.h"
#include "delta-sequence-of.h"

enum { WORLD = 128 };

static GRand *dice;

/* Of RANKS[N], those that are kept: every so many, blocks, or noise. */
static guint32 some_of(const guint32 *ranks, guint32 n, guint32 *kept)
{
    guint32 step = g_rand_int_range(dice, 1, 5), kind = g_rand_int_range(dice, 0, 3), m = 0;
    for (guint32 i = 0; i < n; i++)
        if (kind == 0 ? i % step == 0 : kind == 1 ? ranks[i] / 4 % 2 == 0 : g_rand_boolean(dice))
            kept[m++] = ranks[i];
    if (m == 0)
        kept[m++] = ranks[0];
    return m;
}

/* VALUES as a vector, as they are or as differences to SELFS. */
static RankVector make_vector(const gint64 *values, const gint64 *selfs, guint32 n,
                              gboolean of_self)
{
    gint64 words[WORLD];
    for (guint32 i = 0; i < n; i++)
        words[i] = of_self && !word_is_special(values[i]) ? values[i] - selfs[i] : values[i];
    return rank_vector_deltas(deltas_of(words, n), of_self);
}

/* Some ranks of a torus, which has another width and another distance each time; self is the rank,
 * as itself or as slot 0 says, or the rank in the block. */
typedef struct {
    guint32 ranks[WORLD], n;
    gint64 values[WORLD], selfs[WORLD];
    gboolean of_self, both; /* BOTH: some of them wrap, some do not */
    guint self;
    RankSet set;
    RankVector vector, first;
} Part;

static void make_part(Part *p, gint other)
{
    guint32 all[WORLD], wrapping = 0;
    guint32 block = g_rand_int_range(dice, 2, WORLD / 2), turn = g_rand_int_range(dice, 1, block);
    for (guint32 r = 0; r < WORLD; r++)
        all[r] = r;
    p->n = some_of(all, WORLD, p->ranks);
    p->self = g_rand_int_range(dice, 0, 3);
    p->of_self = p->self == 2 || g_rand_boolean(dice);
    for (guint32 i = 0; i < p->n; i++) {
        guint32 place = p->ranks[i] % block;
        gboolean wraps = place + turn >= block;
        wrapping += wraps;
        p->selfs[i] = p->self == 2 ? place : p->ranks[i];
        p->values[i] = p->selfs[i] + turn - (wraps ? block : 0);
    }
    p->both = wrapping > 0 && wrapping < p->n;
    if (other == 1)
        p->values[g_rand_int_range(dice, 0, p->n)] += 1 + g_rand_int_range(dice, 0, 40);
    if (other == 2)
        p->values[g_rand_int_range(dice, 0, p->n)] = WEND_CONST(2);
    if (other == 3) /* another rank wraps */
        p->values[g_rand_int_range(dice, 0, p->n)] += g_rand_boolean(dice) ? block : -(gint64)block;
    p->set = rankset_from_sorted(p->ranks, p->n);
    p->vector = make_vector(p->values, p->selfs, p->n, p->of_self);
    gint64 firsts[WORLD] = {0};
    for (guint32 i = 0; i < p->n && p->self == 2; i++)
        firsts[i] = p->selfs[i];
    p->first = p->self == 2 ? rank_vector_deltas(deltas_of(firsts, p->n), FALSE)
                            : (RankVector){.value = RANK_VECTOR_RELATIVE, .delta = 0};
}

/* What is completed says of the ranks what they have. A torus is completed, and what is none
 * because of one rank is not. */
static void test_complete(void)
{
    guint completed = 0, refused = 0;
    for (int i = 0; i < 8000; i++) {
        Part p;
        RankVector whole = {0};
        gint other = g_rand_int_range(dice, 0, 4);
        make_part(&p, other);
        const RankVectorOn on = {&p.set, &p.vector, p.self ? &p.first : NULL};
        gboolean is = rank_vector_complete(&on, WORLD, &whole);
        if (other == 0)
            g_assert_true(is == p.both);
        if (other > 1)
            g_assert_false(is && p.both && p.n > 2);
        for (guint32 k = 0; is && k < p.n; k++)
            g_assert_cmpint(rank_vector_at(&whole, p.ranks[k], p.selfs[k]), ==, p.values[k]);
        if (is)
            g_assert_true(delta_sequence_length(whole.deltas) == WORLD);
        completed += is;
        refused += !is && other > 0;
        rank_vector_clear(&whole);
        rank_vector_clear(&p.vector);
        rank_vector_clear(&p.first);
        rankset_clear(&p.set);
    }
    g_assert_cmpuint(completed, >, 1000);
    g_assert_cmpuint(refused, >, 1000);
}

/* Words at the ends of what there is are no neighbours, and overflow nothing. */
static void test_far(void)
{
    const gint64 rows[][2] = {{G_MAXINT64, G_MININT64 + 0x200000},
                              {G_MININT64 + 0x200000, G_MAXINT64},
                              {G_MAXINT64, G_MAXINT64 - 1},
                              {WEND_ABSENT, 5},
                              {5, WEND_ABSENT},
                              {WORLD, 0}};
    const guint32 ranks[] = {0, WORLD - 1};
    RankSet set = rankset_from_sorted(ranks, 2);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        for (int of_self = 0; of_self < 2; of_self++) {
            RankVector v = rank_vector_deltas(deltas_of(rows[i], 2), of_self), whole;
            const RankVectorOn on = {&set, &v, NULL};
            g_assert_false(rank_vector_complete(&on, WORLD, &whole));
            rank_vector_clear(&v);
        }
    rankset_clear(&set);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dice = g_rand_new_with_seed(7);
    g_test_add_func("/rank-vector/complete", test_complete);
    g_test_add_func("/rank-vector/far", test_far);
    int status = g_test_run();
    g_rand_free(dice);
    return status;
}
