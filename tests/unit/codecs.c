/* codecs.c: decode of encode is the input: rank sets, slot vectors, words, times. */
#include "../../lib/codec.h"
#include "../../lib/rankset.h"
#include "../../lib/timing.h"
#include "../../lib/vector.h"

#include <math.h>
#include <string.h>

static GRand *dice;

/* An ascending row of ranks below WORLD: everything, strides, blocks or noise. */
static GArray *some_ranks(guint32 world)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 step = g_rand_int_range(dice, 1, 5), from = g_rand_int_range(dice, 0, 3), kind = g_rand_int_range(dice, 0, 3);
    for (guint32 r = from; r < world; r++)
        if (kind == 0 ? r % step == 0 : kind == 1 ? r / 7 % 2 == 0 : g_rand_boolean(dice)) g_array_append_val(ranks, r);
    if (ranks->len == 0) g_array_append_val(ranks, from);
    return ranks;
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
        WendCursor c = wend_cursor(b.data, b.len);
        g_assert_true(rankset_decode(&back, &c, world));
        g_assert_true(c.p == c.end && rankset_equal(&s, &back));
        g_autofree guint32 *expanded = rankset_expand(&back);
        g_assert_cmpmem(expanded, back.n * 4, row, ranks->len * 4);
        for (guint32 r = 0, k = 0; r < world + 3; r++) {
            gboolean in = k < ranks->len && row[k] == r;
            g_assert_cmpint(rankset_contains(&s, r), ==, in);
            k += in;
        }
        WendCursor small = wend_cursor(b.data, b.len);
        RankSet none;
        g_assert_false(rankset_decode(&none, &small, row[ranks->len - 1])); /* a world in which the last one is not */
        g_assert_false(rankset_unite(&s, &back));
        wend_buf_clear(&b);
        rankset_clear(&s);
        rankset_clear(&back);
        g_array_unref(ranks);
    }
}

static gint64 some_value(int kind, guint32 rank)
{
    switch (kind) {
    case 0: return 5;
    case 1: return rank + 3;
    case 2: return rank % 4 == 0 ? WEND_CONST(3) : (gint64)rank - 1;
    case 3: return rank < 10 ? 7 : rank < 20 ? (gint64)rank + 1 : WEND_ABSENT;
    case 4: return g_rand_int_range(dice, 0, 3);
    case 5: return g_rand_boolean(dice) ? G_MAXINT64 - rank : G_MININT64 + 0x200000 + rank;
    default: return rank / 8 * 100;
    }
}

static void test_vectors(void)
{
    for (int i = 0; i < 5000; i++) {
        GArray *ranks = some_ranks(g_rand_int_range(dice, 4, 120));
        guint32 n = ranks->len;
        const guint32 *row = (const guint32 *)(gpointer)ranks->data;
        g_autofree gint64 *values = g_new(gint64, n), *selfs = g_new(gint64, n), *out = g_new(gint64, n);
        int kind = g_rand_int_range(dice, 0, 7);
        gboolean own = g_rand_boolean(dice);
        for (guint32 k = 0; k < n; k++) {
            values[k] = some_value(kind, row[k]);
            selfs[k] = own ? row[k] : row[k] % 5 ? (gint64)row[k] / 2 : WEND_UNKNOWN;
        }
        Vector v = vector_fit(row, values, selfs, n), back;
        if (kind == 0) g_assert_true(v.constant && v.value == 5);
        if (kind == 1 && own) g_assert_true(v.relative && v.delta == 3);
        if (kind == 2 && own && n > 60) g_assert_cmpuint(v.n_pieces, <=, n / 2 + 1);
        WendBuf b = WEND_BUF_INIT;
        vector_encode(&v, &b);
        WendCursor c = wend_cursor(b.data, b.len);
        g_assert_true(vector_decode(&back, &c));
        g_assert_true(c.p == c.end && vector_equal(&v, &back));
        vector_values(&back, row, selfs, n, out);
        g_assert_cmpmem(out, n * 8, values, n * 8);
        wend_buf_clear(&b);
        vector_clear(&v);
        vector_clear(&back);
        g_array_unref(ranks);
    }
}

static void test_words(void)
{
    guint32 to[] = {2, 0, 1};
    gint64 from[] = {WEND_CONST(1), WEND_CONST(2), WEND_CONST(0)};
    gint64 words[] = {0, 1, -1, 63, -64, 1LL << 32, G_MAXINT64, G_MININT64, G_MAXINT64 / 4, -(G_MAXINT64 / 4) - 3, WEND_ABSENT, WEND_UNKNOWN, WEND_IGNORE,
                      WEND_PLAIN, WEND_CONST(0), WEND_CONST(1), WEND_CONST(2), WEND_SPECIAL_BASE, WEND_SPECIAL_BASE + 1, WEND_HANDLE(3, 4000000000u),
                      WEND_SEGMENT(WEND_SEGMENT_WIN, 1LL << 40), 0x6f77206f6c6c6568};
    WendBuf b = WEND_BUF_INIT;
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) codec_put_word(&b, words[i], to);
    WendCursor c = wend_cursor(b.data, b.len);
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) g_assert_cmpint(codec_word(&c, from, 3), ==, words[i]);
    g_assert_true(!c.failed && c.p == c.end);
    wend_buf_clear(&b);
    codec_put_word(&b, WEND_CONST(0), to); /* number 2, which an archive of two constants does not have */
    c = wend_cursor(b.data, b.len);
    codec_word(&c, from, 2);
    g_assert_true(c.failed);
    wend_buf_clear(&b);
}

static void test_times(void)
{
    guint32 last = 0;
    for (double t = 1e-10; t < 1e9; t *= 1.003) {
        guint32 code = timing_code(t);
        g_assert_cmpuint(code, >=, last);
        g_assert_cmpfloat(fabs(timing_seconds(code) - t), <=, t * 0.0005 + 1.3e-10);
        last = code;
    }
    g_assert_cmpuint(timing_code(0), ==, 0);
    g_assert_cmpuint(timing_code(-1), ==, 0);
    g_assert_cmpuint(timing_code(NAN), ==, 0);
    g_assert_cmpfloat(timing_seconds(timing_code(INFINITY)), >, 1e9);
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
        for (int i = 0; i < EACH; i++) m2 += (x[p][i] - mean) * (x[p][i] - mean);
        parts[p] = timing_from_moments(EACH, mean, low, high, m2);
        min = MIN(min, low);
        max = MAX(max, high);
    }
    long double mean = sum / (PARTS * EACH);
    for (int p = 0; p < PARTS; p++)
        for (int i = 0; i < EACH; i++) squares += (x[p][i] - mean) * (x[p][i] - mean);
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
    WendCursor c = wend_cursor(buf.data, buf.len);
    TimingSum back = timing_decode(&c);
    WendTiming again = timing_result(&back);
    g_assert_cmpmem(&a, sizeof a, &again, sizeof again);
    wend_buf_clear(&buf);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dice = g_rand_new_with_seed(5);
    g_test_add_func("/codecs/ranksets", test_ranksets);
    g_test_add_func("/codecs/vectors", test_vectors);
    g_test_add_func("/codecs/words", test_words);
    g_test_add_func("/codecs/times", test_times);
    g_test_add_func("/codecs/sums", test_sums);
    int result = g_test_run();
    g_rand_free(dice);
    return result;
}
