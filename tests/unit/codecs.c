/* SPDX-License-Identifier: BSD-3-Clause */
/* codecs.c: decode of encode is the input: rank sets, slot vectors, words, times. */
#include "../../lib/base/containers.h"
#include "../../lib/merge/derive.h"
#include "../../lib/merge/hosts.h"
#include "../../lib/ranks/rankset.h"
#include "../../lib/merge/timing.h"
#include "../../lib/ranks/rank-vector.h"
#include "../../lib/record/codec.h"
#include "../../lib/record/neighbours.h"
#include "delta-sequence-of.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static GRand *dice;

/* An ascending row of ranks below WORLD: everything, strides, blocks or noise. */
static GArray *some_ranks(guint32 world)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 step = g_rand_int_range(dice, 1, 5), from = g_rand_int_range(dice, 0, 3),
            kind = g_rand_int_range(dice, 0, 3);
    for (guint32 r = from; r < world; r++)
        if (kind == 0 ? r % step == 0 : kind == 1 ? r / 7 % 2 == 0 : g_rand_boolean(dice))
            g_array_append_val(ranks, r);
    if (ranks->len == 0)
        g_array_append_val(ranks, from);
    return ranks;
}

/* Keys of one to four bytes, few and many: they ascend, and places of one key are in the order they
 * were in; a part of the order is rearranged alone. */
static void test_order(void)
{
    for (int i = 0; i < 2000; i++) {
        guint n = g_rand_int_range(dice, 0, 400), from = g_rand_int_range(dice, 0, n + 1),
              to = g_rand_int_range(dice, from, n + 1);
        guint32 mask = G_MAXUINT32 >> g_rand_int_range(dice, 0, 32);
        g_autofree guint32 *keys = g_new(guint32, n + 1), *order = g_new(guint32, n + 1),
                           *seen = g_new0(guint32, n + 1);
        for (guint k = 0; k < n; k++)
            keys[k] = g_rand_int(dice) & mask;
        vector_indices(order, n);
        vector_sort_indices(order + from, keys, to - from);
        for (guint k = 0; k < n; k++) {
            g_assert_cmpuint(seen[order[k]]++, ==, 0);
            if (k < from || k >= to)
                g_assert_cmpuint(order[k], ==, k);
            else if (k > from)
                g_assert_true(keys[order[k - 1]] < keys[order[k]]
                              || (keys[order[k - 1]] == keys[order[k]] && order[k - 1] < order[k]));
        }
    }
}

static void test_ranksets(void)
{
    for (int i = 0; i < 3000; i++) {
        guint32 world = g_rand_int_range(dice, 4, 200);
        GArray *ranks = some_ranks(world);
        const guint32 *row = (const guint32 *)(gpointer)ranks->data;
        RankSet s = rankset_from_sorted(row, ranks->len), back;
        WendBuf b = WEND_BUF_INIT;
        rankset_encode(&s, &b);
        WendCursor c = cursor_of(b.data, b.len);
        g_assert_true(rankset_decode(&back, &c, world));
        g_assert_true(c.p == c.end && rankset_equal(&s, &back));
        g_autofree guint32 *expanded = rankset_expand(&back);
        g_assert_cmpmem(expanded, back.n * 4, row, ranks->len * 4);
        for (guint32 r = 0, k = 0; r < world + 3; r++) {
            gboolean in = k < ranks->len && row[k] == r;
            g_assert_cmpint(rankset_contains(&s, r), ==, in);
            k += in;
        }
        WendCursor small = cursor_of(b.data, b.len);
        RankSet none;
        /* a world in which the last one is not */
        g_assert_false(rankset_decode(&none, &small, row[ranks->len - 1]));
        g_assert_false(rankset_unite(&s, &back));
        buf_clear(&b);
        rankset_clear(&s);
        rankset_clear(&back);
        g_array_unref(ranks);
    }
}

/* A world's ranks in sets, as they are told together. */
static void test_rows_of_sets(void)
{
    guint in_columns = 0;
    for (int i = 0; i < 3000; i++) {
        guint32 world = g_rand_int_range(dice, 1, 200);
        guint n = g_rand_int_range(dice, 1, MIN(world, 12) + 1),
              kind = g_rand_int_range(dice, 0, 4);
        g_autofree RankSet *sets = g_new0(RankSet, n), *back = g_new0(RankSet, n);
        g_autofree guint *of = g_new(guint, world);
        for (guint32 r = 0; r < world; r++) {
            of[r] = r < n       ? r
                    : kind == 0 ? r % n
                    : kind == 1 ? MIN((guint)__builtin_ctz(r), n - 1)
                    : kind == 2 ? r * n / world
                                : (guint)g_rand_int_range(dice, 0, (gint32)n + 1);
        }
        for (guint k = 0; k < n; k++) {
            g_autoptr(GArray) own = g_array_new(FALSE, FALSE, sizeof(guint32));
            for (guint32 r = 0; r < world; r++)
                if (of[r] == k)
                    g_array_append_val(own, r);
            sets[k] = rankset_from_sorted((const guint32 *)(gpointer)own->data, own->len);
        }
        WendBuf b = WEND_BUF_INIT;
        ranksets_encode(sets, n, &b);
        in_columns += b.data[0];
        WendCursor c = cursor_of(b.data, b.len);
        g_assert_true(ranksets_decode(back, n, &c, world) && c.p == c.end);
        for (guint k = 0; k < n; k++)
            g_assert_true(rankset_equal(&sets[k], &back[k]));
        for (guint k = 0; k < n; k++)
            rankset_clear(&back[k]);
        for (gsize cut = 0; cut < b.len; cut++) {
            WendCursor part = cursor_of(b.data, cut);
            g_assert_false(ranksets_decode(back, n, &part, world));
            for (guint k = 0; k < n; k++)
                rankset_clear(&back[k]);
        }
        WendCursor small = cursor_of(b.data, b.len);
        /* a world that does not have its last rank */
        if (of[world - 1] < n)
            g_assert_false(ranksets_decode(back, n, &small, world - 1));
        for (guint k = 0; k < n; k++)
            rankset_clear(&back[k]);
        buf_clear(&b);
        for (guint k = 0; k < n; k++)
            rankset_clear(&sets[k]);
    }
    g_assert_cmpuint(in_columns, >, 100);
    g_assert_cmpuint(in_columns, <, 2900);
}

/* Runs that no writer writes, told in columns: where they begin, how many ranks they have, their
 * steps. */
static void test_rows_of_sets_told_wrong(void)
{
    enum { WORLD = 1000 };
    const gint64 most = G_MAXINT64, least = WEND_SPECIAL_BASE;
    const gint64 rows[][3] = {{0, 0, 1},
                              {0, 2, 0},
                              {WORLD, 1, 1},
                              {0, WORLD + 1, 1},
                              {0, 2, WORLD},
                              {2, 500, 2},
                              {-1, 3, 1},
                              {0, -2, 1},
                              {5, 2, -1},
                              {most, most, most},
                              {0, most, most},
                              {0, most, -1},
                              {least, least, least},
                              {0, 1, WORLD + 1},
                              {999, 1, 1},
                              {1, 500, 2}};
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        WendBuf b = WEND_BUF_INIT;
        RankSet set;
        buf_unsigned(&b, 1); /* in columns, of which the first says that it is one run */
        for (int k = -1; k < 3; k++) {
            DeltaSequenceBuilder *column = delta_sequence_builder_new();
            delta_sequence_builder_add(column, (DeltaSequenceRun){k < 0 ? 1 : rows[i][k], 0, 1});
            delta_sequence_builder_encode(column, &b, NULL);
        }
        WendCursor c = cursor_of(b.data, b.len);
        g_assert_true(ranksets_decode(&set, 1, &c, WORLD) == (i + 2 >= G_N_ELEMENTS(rows)));
        rankset_clear(&set);
        buf_clear(&b);
    }
}

/* Boxes of a grid as ranks: a short grammar of differences, and those that are in one are found. */
static void test_boxes(void)
{
    enum { X = 9, Y = 7, Z = 5 };
    for (int i = 0; i < 500; i++) {
        guint from[3], to[3];
        const guint size[3] = {X, Y, Z};
        g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (int d = 0; d < 3; d++) {
            from[d] = (guint)g_rand_int_range(dice, 0, (gint32)size[d]);
            to[d] = (guint)g_rand_int_range(dice, (gint32)from[d], (gint32)size[d]);
        }
        /* each so many in x: corners, or a coarse grid */
        guint apart = (guint)g_rand_int_range(dice, 1, 4);
        for (guint z = from[2]; z <= to[2]; z++)
            for (guint y = from[1]; y <= to[1]; y++)
                for (guint x = from[0]; x <= to[0]; x += apart) {
                    guint32 rank = (z * Y + y) * X + x;
                    g_array_append_val(ranks, rank);
                }
        const guint32 *row = (const guint32 *)(gpointer)ranks->data;
        RankSet s = rankset_from_sorted(row, ranks->len), back;
        WendBuf b = WEND_BUF_INIT;
        rankset_encode_shortest(&s, &b);
        g_assert_cmpuint(b.len, <=, 36);
        WendCursor c = cursor_of(b.data, b.len);
        g_assert_true(rankset_decode(&back, &c, X * Y * Z) && c.p == c.end
                      && rankset_equal(&s, &back));
        for (guint32 r = 0, k = 0, index; r < X * Y * Z + 3; r++) {
            gboolean in = k < ranks->len && row[k] == r;
            g_assert_true(rankset_find(&back, r, &index) == in && (!in || index == k));
            k += in;
        }
        WendCursor small = cursor_of(b.data, b.len);
        RankSet none;
        /* a world in which the last one is not */
        g_assert_false(rankset_decode(&none, &small, row[ranks->len - 1]));
        buf_clear(&b);
        rankset_clear(&s);
        rankset_clear(&back);
    }
}

static gint64 some_value(int kind, guint32 rank)
{
    switch (kind) {
    case 0:
        return 5;
    case 1:
        return rank + 3;
    case 2:
        return rank % 4 == 0 ? WEND_CONST(3) : (gint64)rank - 1;
    case 3:
        return rank < 10 ? 7 : rank < 20 ? (gint64)rank + 1 : WEND_ABSENT;
    case 4:
        return g_rand_int_range(dice, 0, 3);
    case 5:
        return g_rand_boolean(dice) ? G_MAXINT64 - rank : G_MININT64 + 0x200000 + rank;
    default:
        return rank / 8 * 100;
    }
}

typedef struct {
    RankSet ranks;
    RankVector first, values;
} Side;

static RankVector united(const RankVectorOn *a, const RankVectorOn *b)
{
    RankVector v = rank_vector_copy(a->values);
    if (rank_vector_join(&v, b->values))
        return v;
    rank_vector_clear(&v);
    return rank_vector_unite(a, b);
}

static void absorb(Side *a, Side *b, gboolean by_first)
{
    RankVectorOn x = {&a->ranks, &a->values, by_first ? &a->first : NULL},
                 y = {&b->ranks, &b->values, by_first ? &b->first : NULL};
    RankVectorOn f = {&a->ranks, &a->first, NULL}, g = {&b->ranks, &b->first, NULL};
    RankVector values = united(&x, &y), first = united(&f, &g);
    rank_vector_clear(&a->values);
    rank_vector_clear(&a->first);
    a->values = values;
    a->first = first;
    g_assert_true(rankset_unite(&a->ranks, &b->ranks));
    rank_vector_clear(&b->values);
    rank_vector_clear(&b->first);
    rankset_clear(&b->ranks);
}

static Side merged(GArray *ranks, const gint64 *firsts, const gint64 *values, gboolean by_first,
                   gboolean in_order)
{
    g_autoptr(GArray) sides = g_array_new(FALSE, FALSE, sizeof(Side));
    for (guint i = 0; i < ranks->len; i++) {
        guint32 rank = g_array_index(ranks, guint32, i);
        Side s = {rankset_single(rank), rank_vector_single(firsts[i], rank),
                  rank_vector_single(values[i], by_first ? firsts[i] : (gint64)rank)};
        g_array_append_val(sides, s);
    }
    while (sides->len > 1) {
        guint a = in_order ? 0 : g_rand_int_range(dice, 0, sides->len),
              b = in_order ? 1 : g_rand_int_range(dice, 0, sides->len);
        if (a == b)
            continue;
        absorb(&g_array_index(sides, Side, a), &g_array_index(sides, Side, b), by_first);
        g_array_remove_index(sides, b);
    }
    return g_array_index(sides, Side, 0);
}

static void side_clear(Side *s)
{
    rankset_clear(&s->ranks);
    rank_vector_clear(&s->first);
    rank_vector_clear(&s->values);
}

/* Merged in any order it is the same vector, with the same values. */
static void test_vectors(void)
{
    for (int i = 0; i < 2000; i++) {
        GArray *ranks = some_ranks(g_rand_int_range(dice, 4, 120));
        guint32 n = ranks->len;
        const guint32 *row = (const guint32 *)(gpointer)ranks->data;
        g_autofree gint64 *values = g_new(gint64, n), *selfs = g_new(gint64, n);
        int kind = g_rand_int_range(dice, 0, 7), own = g_rand_int_range(dice, 0, 3);
        for (guint32 k = 0; k < n; k++) {
            values[k] = some_value(kind, row[k]);
            selfs[k] = own == 0     ? row[k]
                       : own == 1   ? (gint64)row[k] / 2
                       : row[k] % 5 ? (gint64)row[k] / 2
                                    : WEND_UNKNOWN;
        }
        Side one = merged(ranks, selfs, values, own > 0, TRUE),
             other = merged(ranks, selfs, values, own > 0, FALSE);
        const RankVector *v = &one.values;
        if (kind == 0)
            g_assert_true(rank_vector_is_constant(v) && v->value == 5);
        if (kind == 1 && own == 0)
            g_assert_true(rank_vector_is_relative(v) && v->delta == 3);
        g_assert_true(rank_vector_equal(v, &other.values)
                      && rank_vector_equal(&one.first, &other.first)
                      && rankset_equal(&one.ranks, &other.ranks));
        for (guint32 k = 0; k < n; k++) {
            g_assert_cmpint(rank_vector_at(&one.first, k, row[k]), ==, selfs[k]);
            g_assert_cmpint(rank_vector_at(v, k, own ? selfs[k] : (gint64)row[k]), ==, values[k]);
        }
        WendBuf b = WEND_BUF_INIT;
        RankVector back;
        rank_vector_encode(v, &b);
        WendCursor c = cursor_of(b.data, b.len);
        g_assert_true(rank_vector_decode(&back, &c, n));
        g_assert_true(c.p == c.end && rank_vector_equal(v, &back));
        buf_clear(&b);
        rank_vector_clear(&back);
        side_clear(&one);
        side_clear(&other);
        g_array_unref(ranks);
    }
}

/* A word that is a mark, or a difference that is none, does not come out of a merging process. */
static void test_vectors_damaged(void)
{
    const struct {
        guint form;
        gint64 words[2];
        gboolean whole;
    } rows[] = {{1, {5}, TRUE},
                {1, {WEND_ABSENT}, TRUE},
                {1, {RANK_VECTOR_MARK(0) - 1}, TRUE},
                {1, {RANK_VECTOR_MARK(0)}, FALSE},
                {1, {RANK_VECTOR_DELTAS}, FALSE},
                {1, {RANK_VECTOR_DELTAS_OF_SELF}, FALSE},
                {2, {-3}, TRUE},
                {2, {WEND_ABSENT}, FALSE},
                {2, {RANK_VECTOR_NO_DELTA}, FALSE},
                {3, {5, 2}, TRUE},
                {3, {RANK_VECTOR_RELATIVE, 2}, FALSE},
                {3, {5, WEND_UNKNOWN}, FALSE},
                {5, {5}, FALSE}};
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        WendBuf b = WEND_BUF_INIT;
        RankVector v;
        buf_unsigned(&b, rows[i].form);
        buf_signed(&b, rows[i].words[0]);
        if (rows[i].form == 3)
            buf_signed(&b, rows[i].words[1]);
        WendCursor c = cursor_of(b.data, b.len);
        g_assert_true(rank_vector_decode(&v, &c, 1) == rows[i].whole);
        rank_vector_clear(&v);
        buf_clear(&b);
    }
}

/* -- slots by others -- */

enum { SENDERS = 12 };

static void free_slots(RankVector *slots, guint n)
{
    for (guint k = 0; k < n; k++)
        rank_vector_clear(&slots[k]);
}

static RankVector rank_vector_of(const gint64 *words, guint n)
{
    for (guint r = 1; r < n; r++)
        if (words[r] != words[0])
            return rank_vector_deltas(deltas_of(words, n), FALSE);
    return (RankVector){.value = words[0], .delta = RANK_VECTOR_NO_DELTA};
}

/* Counts by chance and their running sum, as MPI_Gatherv has them, twice. */
static void test_slot_sums(void)
{
    enum { RANKS = SENDERS, COUNTS = 9, SLOTS = 2 + 4 * COUNTS };
    for (int round = 0; round < 50; round++) {
        gint64 words[SLOTS][RANKS];
        RankVector slots[SLOTS];
        /* a displacement that is one too much on one rank, and those after it */
        guint lied = (guint)g_rand_int_range(dice, 2, COUNTS);
        for (guint r = 0; r < RANKS; r++) {
            words[0][r] = r;
            words[1][r] = 77;
            for (guint half = 0; half < 2; half++) {
                guint counts = 2 + 2 * half * COUNTS, displs = counts + COUNTS;
                gint64 sum = 0;
                for (guint k = 0; k < COUNTS; k++) {
                    words[counts + k][r] = g_rand_int_range(dice, 100, 5000);
                    words[displs + k][r] = sum + (half && k >= lied && r == 5);
                    sum += words[counts + k][r];
                }
            }
        }
        for (guint k = 0; k < SLOTS; k++)
            slots[k] = rank_vector_of(words[k], RANKS);
        g_autofree Derived *derived = derive_slots(slots, SLOTS, RANKS);
        g_assert_nonnull(derived);
        for (guint k = 0; k < SLOTS; k++) {
            guint half = k >= 2 + 2 * COUNTS, displs = 2 + (2 * half + 1) * COUNTS, at = k - displs;
            gboolean sum = k > displs && k < displs + COUNTS && !(half && at == lied);
            g_assert_cmpint(derived[k].kind, ==, sum ? DERIVED_SUM : DERIVED_NONE);
            if (sum)
                g_assert_cmpuint(derived[k].back, ==, COUNTS + 1);
        }
        g_assert_null(derive_slots(slots, 2 + COUNTS, RANKS));
        free_slots(slots, SLOTS);
    }
}

/* What MPI_Alltoallv receives is what the others send; not if one of them lies. */
static void test_slots_across(void)
{
    enum { N = SENDERS, GAP = 3, SLOTS = 1 + N + GAP + N + 1 };
    for (int round = 0; round < 60; round++) {
        gint64 words[SLOTS][N];
        RankVector slots[SLOTS];
        guint constant = (guint)g_rand_int_range(dice, 1, N), send = 1, receive = send + N + GAP;
        gboolean lies = round % 3 == 1, all_send_the_same = round % 3 == 2;
        for (guint r = 0; r < N; r++) {
            for (guint k = 0; k < SLOTS; k++)
                words[k][r] = k < N ? 1 : (gint64)r;
            words[0][r] = r;
        }
        for (guint to = 0; to < N; to++) {
            gint64 same = g_rand_int_range(dice, 100, 5000);
            for (guint from = 0; from < N; from++) {
                gint64 count =
                    to == constant || all_send_the_same ? same : g_rand_int_range(dice, 100, 5000);
                words[send + to][from] = count;
                words[receive + from][to] = count;
            }
        }
        if (lies)
            words[receive + (guint)g_rand_int_range(dice, 0, N)][g_rand_int_range(dice, 0, N)]++;
        for (guint k = 0; k < SLOTS; k++)
            slots[k] = rank_vector_of(words[k], N);
        g_autofree Derived *derived = derive_slots(slots, SLOTS, N);
        g_assert_true((derived != NULL) == (round % 3 == 0));
        for (guint k = 0; derived && k < SLOTS; k++) {
            g_assert_cmpint(derived[k].kind, ==,
                            k >= receive && k < receive + N ? DERIVED_ACROSS : DERIVED_NONE);
            if (derived[k].kind)
                g_assert_cmpuint(derived[k].back, ==, receive - send);
        }
        free_slots(slots, SLOTS);
    }
}

/* What the structures of common codes cost does not depend on how many ranks there are. */
static gint64 grid_value(int form, gint64 r, gint64 width)
{
    gint64 n = width * width, x = r % width, y = r / width;
    switch (form) {
    case 0:
        return x + 1 < width ? r + 1 : r + 1 - width; /* torus, east */
    case 1:
        return y + 1 < width ? r + width : x; /* torus, north */
    case 2:
        return x * width + y; /* transpose */
    case 3:
        return r ^ (width / 2);
    case 4:
        return r / 2;
    case 5:
        return 2 * r + 1 < n ? 2 * r + 1 : WEND_CONST(1);
    /* no torus: MPI_PROC_NULL at the border */
    case 6:
        return x > 0 ? r - 1 : WEND_CONST(1);
    /* sizes by position */
    case 7:
        return x == 0 || x == width - 1 ? (y == 0 || y == width - 1 ? 100 : 200) : 400;
    default:
        return (x + y) % width * width + y;
    }
}

static void test_structures(void)
{
    for (int form = 0; form < 9; form++) {
        gsize sizes[3];
        gint64 widths[] = {16, 64, 256};
        for (int i = 0; i < 3; i++) {
            gint64 n = widths[i] * widths[i];
            g_autofree gint64 *words = g_new(gint64, n);
            for (gint64 r = 0; r < n; r++)
                words[r] = grid_value(form, r, widths[i]);
            AUTO(DeltaSequence) s = deltas_of(words, n);
            sizes[i] = delta_sequence_size(s);
            for (gint64 r = 0; r < n; r++)
                g_assert_cmpint(delta_sequence_at(s, r), ==, words[r]);
        }
        g_test_message("form %d: %zu %zu %zu", form, sizes[0], sizes[1], sizes[2]);
        if (form < 8)
            g_assert_cmpuint(sizes[2], <=, 24);
    }
}

/* -- hosts -- */

static void test_hosts(void)
{
    static const char *const names[] = {"node7", "node10",       "login",        "node8",
                                        "node9", "gpu-003.site", "gpu-001.site", "gpu-005.site",
                                        "node7", "r1n1",         "r1n2",         "r2n1",
                                        "1",     "odd;name",     "node[3]",      "gpu-6.site"};
    Hosts *h = hosts_new(), *others = hosts_new();
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        hosts_add(i % 3 ? h : others, names[i]);
        hosts_add(h, names[i / 2]);
    }
    WendBuf b = WEND_BUF_INIT;
    hosts_encode(others, &b);
    WendCursor c = cursor_of(b.data, b.len);
    Hosts *back = hosts_decode(&c);
    g_assert_true(back && c.p == c.end);
    hosts_include(h, back);
    g_autofree char *text = hosts_text(h);
    g_assert_cmpstr(
        text, ==,
        "1;gpu-6.site;gpu-[001-005/2].site;login;node[7-10];node[3];odd_name;r1n[1-2];r2n1");
    g_assert_cmpuint(
        hosts_count("1;gpu-6.site;gpu-[001-005/2].site;login;node[7-10];r1n[1-2];r2n1"), ==, 13);
    buf_clear(&b);
    hosts_free(h);
    hosts_free(others);
    hosts_free(back);
    Hosts *none = hosts_new(), *many = hosts_new();
    g_assert_null(hosts_text(none));
    for (guint i = 0; i < 1000; i++) {
        g_autofree char *name = g_strdup_printf("n%u", (i * 37) % 1000);
        hosts_add(many, name);
    }
    g_autofree char *all = hosts_text(many);
    g_assert_cmpstr(all, ==, "n[0-999]");
    hosts_free(none);
    hosts_free(many);
}

/* A set takes in another that it overlaps. */
static void test_include(void)
{
    for (int i = 0; i < 2000; i++) {
        guint32 world = g_rand_int_range(dice, 4, 100);
        GArray *rows[] = {some_ranks(world), some_ranks(world)};
        RankSet sets[2];
        for (int k = 0; k < 2; k++)
            sets[k] = rankset_from_sorted((const guint32 *)(gpointer)rows[k]->data, rows[k]->len);
        RankSet both = rankset_copy(&sets[0]);
        rankset_include(&both, &sets[1]);
        guint32 n = 0;
        for (guint32 r = 0; r < world; r++) {
            gboolean in = rankset_contains(&sets[0], r) || rankset_contains(&sets[1], r);
            g_assert_cmpint(rankset_contains(&both, r), ==, in);
            n += in;
        }
        g_assert_cmpuint(both.n, ==, n);
        for (int k = 0; k < 2; k++) {
            rankset_clear(&sets[k]);
            g_array_unref(rows[k]);
        }
        rankset_clear(&both);
    }
}

static void test_words(void)
{
    guint32 to[] = {2, 0, 1};
    gint64 from[] = {WEND_CONST(1), WEND_CONST(2), WEND_CONST(0)};
    gint64 words[] = {0,
                      1,
                      -1,
                      63,
                      -64,
                      1LL << 32,
                      G_MAXINT64,
                      G_MININT64,
                      G_MAXINT64 / 4,
                      -(G_MAXINT64 / 4) - 3,
                      WEND_ABSENT,
                      WEND_UNKNOWN,
                      WEND_IGNORE,
                      WEND_PLAIN,
                      WEND_CONST(0),
                      WEND_CONST(1),
                      WEND_CONST(2),
                      WEND_SPECIAL_BASE,
                      WEND_SPECIAL_BASE + 1,
                      WEND_HANDLE(3, 4000000000u),
                      WEND_SEGMENT(WEND_SEGMENT_WIN, 1LL << 40),
                      0x6f77206f6c6c6568};
    WendBuf b = WEND_BUF_INIT;
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        codec_put_word(&b, words[i], to);
    WendCursor c = cursor_of(b.data, b.len);
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        g_assert_cmpint(codec_word(&c, from, 3), ==, words[i]);
    g_assert_true(!c.failed && c.p == c.end);
    buf_clear(&b);
    /* number 2, which an archive of two constants does not have */
    codec_put_word(&b, WEND_CONST(0), to);
    c = cursor_of(b.data, b.len);
    codec_word(&c, from, 2);
    g_assert_true(c.failed);
    buf_clear(&b);
}

static void test_times(void)
{
    for (guint bits = 2; bits <= 11; bits += 3) {
        guint32 last = 0;
        for (double t = 1e-10; t < 1e9; t *= 1.003) {
            guint32 code = timing_code(t, bits);
            g_assert_cmpuint(code, >=, last);
            g_assert_cmpfloat(fabs(timing_seconds(code, bits) - t), <=,
                              ldexp(t + 1.25e-10, -(int)bits) + 1.3e-10);
            last = code;
        }
        g_assert_cmpuint(timing_code(0, bits), ==, 0);
        g_assert_cmpuint(timing_code(-1, bits), ==, 0);
        g_assert_cmpuint(timing_code(NAN, bits), ==, 0);
        g_assert_cmpfloat(timing_seconds(timing_code(INFINITY, bits), bits), >, 1e9);
    }
}

/* Of times by chance, over ten orders of magnitude: the mean to its standard error, one to 0.8 %;
 * the rest to 6 %, or 3 % of many, of what they are and, where they are near it, of the mean. */
static void test_time_numbers(void)
{
    for (int i = 0; i < 20000; i++) {
        guint64 times = i % 10 ? 1 : 1000; /* so often each of few */
        WendTiming t = {.count = 1 + (guint64)g_test_rand_int_range(0, 9)}, back;
        double around = exp(g_test_rand_double_range(log(1e-8), log(100))),
               wide = i % 3 ? g_test_rand_double_range(0, 2) : 0.001, sum = 0, sum2 = 0;
        for (guint64 k = 0; k < t.count; k++) {
            double x = around * exp(wide * g_test_rand_double_range(-1, 1));
            t.min = k ? MIN(t.min, x) : x;
            t.max = MAX(t.max, x);
            sum += x;
            sum2 += x * x;
        }
        t.mean = sum / (double)t.count;
        t.stddev = sqrt(MAX(sum2 / (double)t.count - t.mean * t.mean, 0));
        t.count *= times;
        gint64 numbers[TIMING_NUMBERS];
        guint finer = timing_to_numbers(&t, numbers);
        back = (WendTiming){.count = t.count};
        g_assert_cmpuint(finer, ==, timing_finer(&back, numbers)); /* a reader knows */
        if (!finer)
            g_assert_cmpint(numbers[TIMING_FINER], ==, 0);
        back = (WendTiming){.count = t.count};
        timing_from_numbers(&back, numbers);
        /* the mean itself stands for what is this near it */
        double rest = times == 1 ? 1 / 14.0 : 1 / 28.0, close = 1.6 * rest * t.mean;
        double mean =
            t.count == 1
                ? 1 / 120.0
                : MIN(rest, MAX(1.2 * t.stddev / t.mean / sqrt((double)t.count), 1 / 1000.0));
        g_assert_cmpfloat(fabs(back.mean - t.mean), <=, t.mean * mean + 3e-10);
        g_assert_cmpfloat(fabs(back.min - t.min), <=,
                          (t.min > t.mean * 0.8 ? close : t.min * rest) + 1e-9);
        g_assert_cmpfloat(fabs(back.max - t.max), <=, MAX(t.max * rest, close) + 1e-9);
        g_assert_cmpfloat(fabs(back.stddev - t.stddev), <=, t.stddev * rest + 1e-9);
        g_assert_true(back.min <= back.mean && back.mean <= back.max);
        if (t.count == 1)
            g_assert_true(numbers[TIMING_BELOW] == 0 && numbers[TIMING_ABOVE] == 0
                          && numbers[TIMING_DEVIATION] == 0);
    }
    gint64 wild[TIMING_NUMBERS] = {G_MAXINT64, G_MAXINT64, G_MAXINT64, G_MININT64, G_MAXINT64};
    for (guint64 count = 1; count < 100000; count *= 9) {
        WendTiming t = {.count = count};
        timing_from_numbers(&t, wild);
        g_assert_true(isfinite(t.mean) && isfinite(t.min) && isfinite(t.max) && isfinite(t.stddev));
    }
}

/* Against the plain formulas over all values, in two orders that must give the same bits. */
static void test_sums(void)
{
    enum { PARTS = 40, EACH = 50 };
    static double x[PARTS][EACH];
    TimingSum parts[PARTS], up = {0}, down = {0};
    long double sum = 0, squares = 0;
    double min = INFINITY, max = 0;
    for (int p = 0; p < PARTS; p++) {
        double mean = 0, m2 = 0, low = INFINITY, high = 0;
        for (int i = 0; i < EACH; i++) {
            x[p][i] = g_rand_double_range(dice, 1e-7, p % 3 ? 2e-7 : 1e-3);
            sum += x[p][i];
            mean += x[p][i] / EACH;
            low = MIN(low, x[p][i]);
            high = MAX(high, x[p][i]);
        }
        for (int i = 0; i < EACH; i++)
            m2 += (x[p][i] - mean) * (x[p][i] - mean);
        parts[p] = timing_from_moments(EACH, mean, low, high, m2);
        min = MIN(min, low);
        max = MAX(max, high);
    }
    long double mean = sum / (PARTS * EACH);
    for (int p = 0; p < PARTS; p++)
        for (int i = 0; i < EACH; i++)
            squares += (x[p][i] - mean) * (x[p][i] - mean);
    for (int p = 0; p < PARTS; p++) {
        timing_add(&up, &parts[p]);
        timing_add(&down, &parts[PARTS - 1 - p]);
    }
    WendTiming a = timing_result(&up), b = timing_result(&down);
    g_assert_cmpmem(&a, sizeof a, &b, sizeof b);
    g_assert_cmpuint(a.count, ==, PARTS * EACH);
    g_assert_cmpfloat(fabs(a.mean - (double)mean), <, (double)mean * 1e-12);
    g_assert_cmpfloat(fabs(a.stddev - sqrt((double)squares / (PARTS * EACH))), <, a.stddev * 1e-9);
    g_assert_true(a.min == min && a.max == max);
    WendBuf buf = WEND_BUF_INIT;
    timing_encode(&up, &buf);
    WendCursor c = cursor_of(buf.data, buf.len);
    TimingSum back = timing_decode(&c);
    WendTiming again = timing_result(&back);
    g_assert_cmpmem(&a, sizeof a, &again, sizeof again);
    buf_clear(&buf);
}

/* N times by chance, lognormal: e^(spread × normal). */
static TimingSum sample(guint n, double around, double spread)
{
    double mean = 0, m2 = 0, min = INFINITY, max = 0;
    for (guint i = 0; i < n; i++) {
        double normal = -6, before = mean;
        for (int k = 0; k < 12; k++)
            normal += g_rand_double(dice);
        double x = around * exp(spread * normal);
        mean += (x - mean) / (i + 1);
        m2 += (x - before) * (x - mean);
        min = MIN(min, x);
        max = MAX(max, x);
    }
    return timing_from_moments(n, mean, min, max, m2);
}

/* How many of a thousand pairs are alike, of which the first has one call beside them that took
 * LONGEST (0: none). */
static guint alike_but_one(double longest, guint n, double around, double spread, guint other_n,
                           double other_around, double other_spread)
{
    guint all = 0;
    for (int i = 0; i < 1000; i++) {
        TimingSum a = sample(n, around, spread), b = sample(other_n, other_around, other_spread),
                  one = timing_from_moments(longest > 0, longest, longest, longest, 0);
        timing_add(&a, &one);
        gboolean yes = timing_alike(&a, &b);
        g_assert_cmpint(timing_alike(&b, &a), ==, yes);
        all += yes;
    }
    return all;
}

static guint alike(guint n, double around, double spread, guint other_n, double other_around,
                   double other_spread)
{
    return alike_but_one(0, n, around, spread, other_n, other_around, other_spread);
}

static void test_alike(void)
{
    g_assert_cmpuint(alike(50, 1e-6, 0.5, 50, 1e-6, 0.5), >, 950);
    g_assert_cmpuint(alike(1000, 1e-6, 0.5, 30, 1e-6, 0.5), >, 950);
    /* of many rows that are of one, none is another, */
    g_assert_cmpuint(alike(1000, 1e-6, 0.5, 1000, 1e-6, 0.5), ==, 1000);
    /* or hardly one if it is of few calls */
    g_assert_cmpuint(alike(5000, 1e-6, 0.8, 8, 1e-6, 0.8), >, 995);
    g_assert_cmpuint(alike(1, 1e-3, 0.5, 100, 1e-3, 0.5), >, 950);
    g_assert_cmpuint(alike(1, 1e-3, 0.05, 1, 1e-3, 0.05), ==, 1000);
    /* the archive does not tell them apart */
    g_assert_cmpuint(alike(1000, 1e-6, 0, 1000, 1.002e-6, 0), ==, 1000);
    g_assert_cmpuint(alike(1000, 1e-6, 0, 1000, 1.02e-6, 0), ==, 0);
    /* an eighth of a deviation */
    g_assert_cmpuint(alike(5000, 1e-6, 0.5, 5000, 1.08e-6, 0.5), >, 990);
    g_assert_cmpuint(alike(5000, 1e-6, 0.5, 5000, 1.3e-6, 0.5), <, 10); /* half of one */
    g_assert_cmpuint(alike(200, 1e-6, 0.5, 200, 2e-6, 0.5), <, 10);
    g_assert_cmpuint(alike(200, 1e-6, 0.1, 200, 1e-6, 0.5), <, 10); /* of one mean, nearly */
    g_assert_cmpuint(alike(1, 1e-3, 0.1, 1, 3e-3, 0.1), <, 10);
    g_assert_cmpuint(alike(1, 1e-3, 0.1, 100, 2e-3, 0.1), <, 10);
    /* A call that the machine held up says nothing of the others: neither that they differ, nor
     * that they do not. */
    g_assert_cmpuint(alike_but_one(1e-2, 1000, 1e-6, 0.5, 1000, 1e-6, 0.5), >, 990);
    g_assert_cmpuint(alike_but_one(1e-2, 1000, 1e-6, 0.1, 1000, 3e-6, 0.1), <, 10);
    /* of one mean, with it */
    g_assert_cmpuint(alike_but_one(1e-2, 1000, 1e-6, 0.1, 1000, 11e-6, 0.1), <, 10);
    /* But of twenty calls it is much of their deviation, by right: these means are three standard
     * errors apart, and these deviations less. */
    TimingSum most =
                  timing_from_moments(327640, 8.123e-6, 1e-8, 2.4e-5, 327640 * 6.143e-6 * 6.143e-6),
              few = timing_from_moments(20, 3.828e-6, 1e-6, 1.134e-5, 20 * 2.186e-6 * 2.186e-6);
    g_assert_true(timing_alike(&most, &few) && timing_alike(&few, &most));
    TimingSum none = {0}, one = sample(1, 1, 0);
    g_assert_true(timing_alike(&none, &none) && !timing_alike(&none, &one)
                  && !timing_alike(&one, &none));
}

/* The words of a graph's neighbours are taken apart as they were put together, and not if one is
 * missing, one is left over or a number is changed that says how many there are. */
static void test_neighbours(void)
{
    for (int i = 0; i < 200; i++) {
        gint64 weighted = g_rand_int_range(dice, 0, 2), words[64] = {weighted};
        gint64 degrees[2] = {g_rand_int_range(dice, 0, 8), g_rand_int_range(dice, 0, 8)};
        gint64 n = WEND_NEIGHBOURS_HEAD + (degrees[0] + degrees[1]) * (1 + weighted);
        memcpy(&words[1], degrees, sizeof degrees);
        for (gint64 k = WEND_NEIGHBOURS_HEAD; k < n; k++)
            words[k] = k;
        Neighbours graph = {0};
        g_assert_true(neighbours_read(words, n, &graph));
        const gint64 *next = words + WEND_NEIGHBOURS_HEAD;
        for (int k = 0; k < 2; next += degrees[k++]) {
            g_assert_cmpint(graph.n[k], ==, degrees[k]);
            g_assert_true(graph.ranks[k] == next);
        }
        for (int k = 0; weighted && k < 2; next += degrees[k++])
            g_assert_true(graph.weights[k] == next);
        g_assert_true(graph.weighted == weighted && next == words + n);
        g_assert_false(neighbours_read(words, n + 1, &graph));
        for (gint64 less = 0; less < n; less++)
            g_assert_false(neighbours_read(words, less, &graph));
        static const gint64 wrong[] = {-1, 9, G_MAXINT64, G_MININT64};
        for (int k = 0; k < 3; k++)
            for (gsize w = 0; w < G_N_ELEMENTS(wrong); w++) {
                gint64 right = words[k];
                words[k] = wrong[w];
                g_assert_false(neighbours_read(words, n, &graph));
                words[k] = right;
            }
        g_assert_false(neighbours_read(NULL, n, &graph));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dice = g_rand_new_with_seed(5);
    g_test_add_func("/codecs/order", test_order);
    g_test_add_func("/codecs/ranksets", test_ranksets);
    g_test_add_func("/codecs/ranksets/rows", test_rows_of_sets);
    g_test_add_func("/codecs/ranksets/rows-told-wrong", test_rows_of_sets_told_wrong);
    g_test_add_func("/codecs/ranksets/boxes", test_boxes);
    g_test_add_func("/codecs/include", test_include);
    g_test_add_func("/codecs/hosts", test_hosts);
    g_test_add_func("/codecs/vectors", test_vectors);
    g_test_add_func("/codecs/vectors/damaged", test_vectors_damaged);
    g_test_add_func("/codecs/slots/sums", test_slot_sums);
    g_test_add_func("/codecs/slots/across", test_slots_across);
    g_test_add_func("/codecs/structures", test_structures);
    g_test_add_func("/codecs/words", test_words);
    g_test_add_func("/codecs/times", test_times);
    g_test_add_func("/codecs/time-numbers", test_time_numbers);
    g_test_add_func("/codecs/sums", test_sums);
    g_test_add_func("/codecs/alike", test_alike);
    g_test_add_func("/codecs/neighbours", test_neighbours);
    int result = g_test_run();
    g_rand_free(dice);
    return result;
}
