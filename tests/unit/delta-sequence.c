/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence.c: decode of encode is the input, in no more bytes than the shape of the words
 * asks for; what no writer writes is refused. */
#include "../../lib/record/words.h"
#include "delta-sequence-of.h"

#include <glib.h>
#include <math.h>

static GRand *dice;

static void check_deltas(const DeltaSequence *s, const gint64 *words, guint64 n)
{
    g_assert_cmpuint(delta_sequence_length(s), ==, n);
    for (guint64 i = 0; i < n; i++) {
        DeltaSequenceRun run = delta_sequence_run(s, i);
        g_assert_true(run.count >= 1 && run.count <= n - i);
        g_assert_cmpint(run.value, ==, words[i]);
        g_assert_cmpint((gint64)((guint64)run.value + (guint64)run.step * (run.count - 1)), ==,
                        words[i + run.count - 1]);
    }
}

static void test_deltas(void)
{
    guint32 to[] = {4, 1, 0};
    gint64 from[] = {WEND_CONST(2), WEND_CONST(1), WEND_UNKNOWN, WEND_UNKNOWN, WEND_CONST(0)};
    for (int i = 0; i < 6000; i++) {
        guint64 n = g_rand_int_range(dice, 1, 200);
        g_autofree gint64 *words = g_new(gint64, n);
        int kind = g_rand_int_range(dice, 0, 7), period = g_rand_int_range(dice, 1, 9),
            special = g_rand_int_range(dice, 0, 4);
        for (guint64 k = 0; k < n; k++) {
            gint64 at = (gint64)k;
            words[k] = kind == 0   ? at * period - 7
                       : kind == 1 ? at / period * 100 + at % period
                       : kind == 2 ? at ^ period
                       : kind == 3 ? g_rand_int_range(dice, 0, 3) * 1000
                       : kind == 4
                           ? (gint64)((guint64)g_rand_int(dice) << 32 | g_rand_int(dice)) / 2
                       : kind == 5                    ? g_rand_int_range(dice, 0, 1 << 14)
                       : g_rand_int_range(dice, 0, 9) ? g_rand_int_range(dice, -8, 8)
                                                      : (gint64)1 << g_rand_int_range(dice, 0, 62);
            if (kind == 4 && words[k] < WEND_SPECIAL_BASE)
                words[k] = G_MAXINT64;
            if (special == 0 && at % period == 0)
                words[k] = WEND_CONST(at % 3);
            if (special == 1 && g_rand_int_range(dice, 0, 10) == 0)
                words[k] = at % 2 ? WEND_ABSENT : G_MININT64;
        }
        AUTO(DeltaSequence) s = deltas_of(words, n);
        check_deltas(s, words, n);
        for (int archive = 0; archive < 3; archive++) {
            WendBuf b = WEND_BUF_INIT;
            if (archive < 2)
                delta_sequence_encode(s, &b, archive ? to : NULL);
            else
                delta_sequence_encode_shortest(s, &b, to);
            WendCursor c = cursor_of(b.data, b.len);
            AUTO(DeltaSequence)
            back = delta_sequence_decode(&c, n, archive ? from : NULL,
                                         archive ? G_N_ELEMENTS(from) : 0);
            g_assert_true(back && c.p == c.end);
            if (!archive)
                g_assert_true(delta_sequence_equal(s, back));
            if (special > 0 || kind > 4)
                check_deltas(back, words, n);
            for (gsize cut = 0; cut < b.len; cut++) { /* never more than there is */
                WendCursor part = cursor_of(b.data, cut);
                AUTO(DeltaSequence)
                none = delta_sequence_decode(&part, n, archive ? from : NULL,
                                             archive ? G_N_ELEMENTS(from) : 0);
                g_assert_null(none);
            }
            buf_clear(&b);
        }
    }
}

/* What comes out of the shortest form of N words; its bytes. */
static gsize check_shortest(const gint64 *words, guint64 n)
{
    AUTO(DeltaSequence) s = deltas_of(words, n);
    WendBuf b = WEND_BUF_INIT;
    delta_sequence_encode_shortest(s, &b, NULL);
    WendCursor c = cursor_of(b.data, b.len);
    AUTO(DeltaSequence) back = delta_sequence_decode(&c, n, NULL, 0);
    g_assert_true(back && c.p == c.end);
    check_deltas(back, words, n);
    g_assert_true(delta_sequence_equal(s, back) && delta_sequence_equal(back, s));
    gsize bytes = b.len;
    buf_clear(&b);
    delta_sequence_encode(back, &b, NULL); /* as what it is */
    c = cursor_of(b.data, b.len);
    AUTO(DeltaSequence) again = delta_sequence_decode(&c, n, NULL, 0);
    g_assert_true(again && c.p == c.end && delta_sequence_equal(s, again));
    buf_clear(&b);
    return bytes;
}

/* Neighbours in one dimension of a torus, as ranks or as what is added to these, from any rank on
 * that a block begins with; and what is one word away from that. */
static void test_deltas_turned(void)
{
    for (int i = 0; i < 3000; i++) {
        guint64 stride = g_rand_int_range(dice, 1, 6), extent = g_rand_int_range(dice, 2, 7),
                shift = g_rand_int_range(dice, 1, (gint32)extent), block = stride * extent;
        guint64 n = block * g_rand_int_range(dice, 1, 7);
        gint64 base = i % 3 ? 0 : g_rand_int_range(dice, -1000, 1000);
        gboolean relative = i % 2;
        g_autofree gint64 *words = g_new(gint64, n);
        for (guint64 k = 0; k < n; k++) {
            guint64 x = k / stride % extent, to = k + ((x + shift) % extent) * stride - x * stride;
            words[k] = base + (gint64)to - (relative ? (gint64)k : 0);
        }
        g_assert_cmpuint(check_shortest(words, n), <=, 5 + (base != 0));
        words[g_rand_int_range(dice, 0, (gint32)n)] += g_rand_int_range(dice, 1, 9);
        check_shortest(words, n);
    }
    const gint64 last[] = {G_MAXINT64 - 1, G_MAXINT64, G_MAXINT64 - 2},
                 least[] = {WEND_SPECIAL_BASE + 1, WEND_SPECIAL_BASE};
    check_shortest(last, G_N_ELEMENTS(last));
    check_shortest(least, G_N_ELEMENTS(least));
}

/* Partners and sizes of a tree, and how many are on its levels: rows that grow or fall by a factor,
 * among others. */
static void test_deltas_geometric(void)
{
    for (int i = 0; i < 3000; i++) {
        gint64 words[100];
        gint64 ratio = g_rand_int_range(dice, 2, 5) * (i % 2 ? 1 : -1),
               word = g_rand_int_range(dice, 1, 9) * (i % 3 ? 1 : -1);
        guint before = g_rand_int_range(dice, 0, 4), count = g_rand_int_range(dice, 4, 20),
              behind = g_rand_int_range(dice, 0, 4), n = before + count + behind;
        for (guint k = 0; k < n; k++) {
            gboolean inside = k >= before && k < before + count;
            words[k] = inside ? word : k % 2 ? -7 : g_rand_int_range(dice, 0, 50);
            if (inside)
                word *= ratio;
        }
        for (guint k = 0; i % 4 == 0 && k < n / 2; k++) {
            gint64 first = words[k];
            words[k] = words[n - 1 - k];
            words[n - 1 - k] = first;
        }
        g_assert_cmpuint(check_shortest(words, n), <=, 6 + 3 * (before + behind + 1));
    }
    gint64 to_the_end[64]; /* up to where the next product would be no word */
    for (int k = 0; k < 63; k++)
        to_the_end[k] = (gint64)1 << k;
    check_shortest(to_the_end, 63);
    for (int k = 0; k < 63; k++)
        to_the_end[k] = -((gint64)1 << k);
    check_shortest(to_the_end, 63);
    to_the_end[63] = G_MININT64;
    check_shortest(to_the_end, 64);
}

/* Numbers that no writer writes. */
static void test_deltas_told_wrong(void)
{
    const struct {
        guint64 n;
        guint numbers;
        guint64 words[8];
    } rows[] = {
        {4, 7, {1, 2, 2, 1, 1, 18, 4}}, /* a difference that is not there */
        /* coded, of no words that there could be */
        {4, 4, {2, 0, 0, 1}},
        {4, 5, {2, 0, 2, G_MAXUINT64, 1}},     /* from a special word on */
        {4, 5, {2, 0, 2, G_MAXUINT64 - 1, 1}}, /* above the largest word */
        {4, 5, {2, 1, 5, G_MAXUINT64, 0}},     /* more numbers than 2^64 */
        /* none, more than there are, behind the end, over the end */
        {4, 5, {4, 0, 0, 4, 2}},
        {4, 5, {4, 0, 5, 4, 2}},
        {4, 5, {4, 8, 1, 4, 2}},
        {4, 5, {4, 2, 4, 4, 2}},
        /* a block of more words than there are, one that is not turned, and one by more than it
         * has */
        {4, 4, {5, 5, 2, 0}},
        {4, 4, {5, 4, 1, 0}},
        {4, 4, {5, 4, 8, 0}},
        /* above the largest word, below the least ordinary one */
        {4, 4, {5, 4, 3, G_MAXUINT64 - 1}},
        {4, 4, {5, 4, 3, G_MAXUINT64}},
        {64, 5, {4, 0, 64, 4, 2}}, /* 2^63 and more */
        /* always the same; that many are not made room for */
        {G_GUINT64_CONSTANT(1) << 24, 5, {4, 0, 1 << 24, 2, 2}},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        WendBuf b = WEND_BUF_INIT;
        for (guint k = 0; k < rows[i].numbers; k++)
            buf_unsigned(&b, rows[i].words[k]);
        WendCursor c = cursor_of(b.data, b.len);
        AUTO(DeltaSequence) none = delta_sequence_decode(&c, rows[i].n, NULL, 0);
        g_assert_null(none);
        buf_clear(&b);
    }
}

/* -- words without a pattern: about what they carry -- */

enum { CODED = 2000 };

/* ENTROPY: bits of a word. */
static void check_coded(const gint64 *words, guint64 n, double entropy)
{
    AUTO(DeltaSequence) s = deltas_of(words, n);
    WendBuf b = WEND_BUF_INIT;
    delta_sequence_encode(s, &b, NULL);
    g_assert_cmpfloat((double)b.len, <, 20 + 1.03 * (double)n * entropy / 8);
    WendCursor c = cursor_of(b.data, b.len);
    AUTO(DeltaSequence) back = delta_sequence_decode(&c, n, NULL, 0);
    g_assert_true(back && c.p == c.end);
    check_deltas(back, words, n);
    buf_clear(&b);
}

/* Any as likely as any other, whatever their number: a width for all would take up to a bit
 * more. */
static void test_deltas_even(void)
{
    gint64 words[CODED];
    for (gint32 range = 5; range < 1 << 30; range = range / 2 * 3 + 1) {
        for (int i = 0; i < CODED; i++)
            words[i] = g_rand_int_range(dice, -range, range + 1);
        check_coded(words, CODED, log2(2.0 * range + 1));
    }
    for (int i = 0; i < CODED; i++)
        words[i] = (gint64)(((guint64)g_rand_int(dice) << 32 | g_rand_int(dice)) >> 2);
    check_coded(words, CODED, 62);
}

/* Most are small and a few are not: a width for all would be that of the largest. */
static void test_deltas_skewed(void)
{
    enum { MEAN = 400 };
    const double entropy = log2(MEAN * 2.718281828); /* of the exponential distribution */
    gint64 words[CODED];
    for (int i = 0; i < CODED; i++)
        words[i] = -3 - (gint64)(MEAN * log(1 - g_rand_double(dice)));
    check_coded(words, CODED, entropy);
}

/* Few that are far apart, special ones among them, and of these some more often: what tells which
 * one takes no more. */
static void test_deltas_few(void)
{
    gint64 words[CODED];
    for (int i = 0; i < CODED; i++) {
        int which = g_rand_int_range(dice, 0, 6);
        words[i] = which < 3 ? 7 : which == 3 ? WEND_ABSENT : which == 4 ? G_MAXINT64 : -1000000;
    }
    check_coded(words, CODED, 0.5 + 3 * log2(6) / 6);
}

/* Words that are as far apart as can be, of which there are more than numbers that tell them
 * apart. */
static void test_deltas_wide(void)
{
    gint64 words[] = {WEND_SPECIAL_BASE, G_MAXINT64, WEND_ABSENT, 0, G_MININT64, 5, G_MAXINT64, -1};
    for (guint n = 1; n <= G_N_ELEMENTS(words); n++)
        check_coded(words, n, 80);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dice = g_rand_new_with_seed(5);
    g_test_add_func("/delta-sequence/runs", test_deltas);
    g_test_add_func("/delta-sequence/turned", test_deltas_turned);
    g_test_add_func("/delta-sequence/geometric", test_deltas_geometric);
    g_test_add_func("/delta-sequence/told-wrong", test_deltas_told_wrong);
    g_test_add_func("/delta-sequence/even", test_deltas_even);
    g_test_add_func("/delta-sequence/skewed", test_deltas_skewed);
    g_test_add_func("/delta-sequence/few", test_deltas_few);
    g_test_add_func("/delta-sequence/wide", test_deltas_wide);
    int result = g_test_run();
    g_rand_free(dice);
    return result;
}
