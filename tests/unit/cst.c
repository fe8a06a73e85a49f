/* SPDX-License-Identifier: BSD-3-Clause */
/* cst.c: numbers by first occurrence, pools, streams and timing, read back from the encoded table
 * with a reader of its own. */
#include "../../lib/record/part.h"
#include "part-table.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static WendTerminalEntry *terminal(WendCst *t, gint64 function, gint64 slot)
{
    gint64 shape[] = {function, -7, function * 3}, slots[] = {slot};
    WendTerminalEntry *e = cst_terminal(t, shape, 3, slots, 1);
    g_assert_nonnull(e);
    return e;
}

static void test_numbers(void)
{
    WendCst *t = cst_new();
    WendTerminalEntry *first = terminal(t, 50, 1);
    g_assert_cmpuint(first->number, ==, 0);
    g_assert_cmpuint(terminal(t, 50, 2)->number, ==, 1);
    g_assert_cmpuint(terminal(t, 50, 2)->shape, ==, 0);
    g_assert_cmpuint(terminal(t, 10, 2)->number, ==, 2);
    g_assert_cmpuint(terminal(t, 10, 2)->shape, ==, 1);
    for (guint i = 3; i < 50000; i++) /* through many sizes of the table */
        g_assert_cmpuint(terminal(t, i % 300, 1000 + i)->number, ==, i);
    for (guint i = 49999; i >= 3; i--)
        g_assert_cmpuint(terminal(t, i % 300, 1000 + i)->number, ==, i);
    g_assert_true(terminal(t, 50, 1) == first);

    /* The border between shape and slots counts, and so do empty rows. */
    gint64 words[] = {1, 2, 3, 4};
    guint n = 50000;
    for (guint cut = 0; cut <= 4; cut++)
        g_assert_cmpuint(cst_terminal(t, words, cut, words + cut, 4 - cut)->number, ==, n++);
    g_assert_cmpuint(cst_terminal(t, words, 0, NULL, 0)->number, ==, n++);
    for (guint cut = 0; cut <= 4; cut++)
        g_assert_cmpuint(cst_terminal(t, words, cut, words + cut, 4 - cut)->number, ==,
                         50000 + cut);
    cst_free(t);
    cst_free(NULL);
}

/* Against a hash table of strings, with rows of all lengths that often differ in one word only. */
static void test_random_signatures(void)
{
    GRand *rand = g_rand_new_with_seed(3);
    WendCst *t = cst_new();
    GHashTable *model = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < 100000; i++) {
        gint64 words[300] = {0};
        guint n_shape = g_rand_int_range(rand, 0, 10) ? g_rand_int_range(rand, 0, 12)
                                                      : g_rand_int_range(rand, 0, 150);
        guint n_slots = g_rand_int_range(rand, 0, 10) ? g_rand_int_range(rand, 0, 6)
                                                      : g_rand_int_range(rand, 0, 150);
        guint n = n_shape + n_slots;
        if (n > 0)
            words[g_rand_int_range(rand, 0, n)] = g_rand_int_range(rand, 0, 4);
        GString *key = g_string_new(NULL);
        for (guint k = 0; k < n; k++)
            g_string_append_printf(key, "%s%" G_GINT64_FORMAT, k == n_shape ? "/" : " ", words[k]);
        g_string_append_printf(key, " %u %u", n_shape, n_slots);
        gpointer number;
        if (!g_hash_table_lookup_extended(model, key->str, NULL, &number)) {
            number = GUINT_TO_POINTER(g_hash_table_size(model));
            g_hash_table_insert(model, g_strdup(key->str), number);
        }
        g_assert_cmpuint(cst_terminal(t, words, n_shape, words + n_shape, n_slots)->number, ==,
                         GPOINTER_TO_UINT(number));
        g_string_free(key, TRUE);
    }
    g_hash_table_unref(model);
    cst_free(t);
    g_rand_free(rand);
}

static WendPoolKey request(WendCst *t, gint64 function, guint32 expected_number)
{
    gint64 shape[] = {function}, slots[] = {0, 1};
    WendPoolKey key;
    guint32 number;
    g_assert_true(cst_request(t, shape, 1, slots, 2, false, &key, &number));
    g_assert_cmpuint(number, ==, expected_number);
    return key;
}

static void test_pools(void)
{
    WendCst *t = cst_new();
    WendPoolKey a = request(t, 1, 0), b = request(t, 1, 1), c = request(t, 2, 2);
    g_assert_cmpuint(a.k, ==, 0);
    g_assert_cmpuint(b.k, ==, 1);
    g_assert_cmpuint(c.k, ==, 0); /* another signature: a pool of its own */
    cst_release(t, b);
    cst_release(t, a); /* whatever the order of completion */
    a = request(t, 1, 0);
    b = request(t, 1, 1);
    cst_release(t, a);
    a = request(t, 1, 0); /* the smallest that is free */
    request(t, 1, 3);     /* a k never taken: the next number */
    cst_free(t);
}

/* Many pending in one pool, released in any order: always the smallest free k, against a plain
 * array. */
static void test_pool_model(void)
{
    enum { MOST = 3000 };
    GRand *rand = g_rand_new_with_seed(5);
    WendCst *t = cst_new();
    gboolean taken[MOST] = {FALSE};
    WendPoolKey keys[MOST];
    guint ever = 0, pending = 0;
    gint64 word = 9;
    for (guint i = 0; i < 40000; i++) {
        gboolean grow = (i / 4000) % 2 == 0;
        if (pending < MOST && (pending == 0 || g_rand_int_range(rand, 0, 10) < (grow ? 8 : 2))) {
            guint k = 0;
            while (taken[k])
                k++;
            WendPoolKey key;
            guint32 number;
            g_assert_true(cst_request(t, &word, 1, NULL, 0, true, &key, &number));
            g_assert_cmpuint(key.k, ==, k);
            g_assert_cmpuint(number, ==, k); /* only one pool: numbers in step with k */
            ever = MAX(ever, k + 1);
            keys[k] = key;
            taken[k] = TRUE;
            pending++;
        } else {
            guint k = g_rand_int_range(rand, 0, ever);
            while (!taken[k])
                k = (k + 1) % ever;
            cst_release(t, keys[k]);
            taken[k] = FALSE;
            pending--;
        }
    }
    g_assert_cmpuint(ever, >, 1000); /* it was a test */
    cst_free(t);
    g_rand_free(rand);
}

/* -- what is written, read back -- */

static Table encode_and_read(const WendCst *t, gboolean timing)
{
    WendBuf b = WEND_BUF_INIT;
    cst_encode(t, timing, NULL, 0, &b);
    g_assert_false(b.failed);
    WendCursor c = cursor_of(b.data, b.len);
    Table table = read_table(&c);
    g_assert_true(c.p == c.end);
    buf_clear(&b);
    return table;
}

static void assert_words(const GArray *a, const gint64 *words, gsize n)
{
    g_assert_cmpuint(a->len, ==, n);
    g_assert_true(n == 0 || memcmp(a->data, words, n * sizeof *words) == 0);
}

static void test_table(void)
{
    WendCst *t = cst_new();
    gint64 a[] = {4, INT64_MIN + 3, -1}, b[] = {6}, s[] = {INT64_MAX, INT64_MIN, 0};
    cst_terminal(t, a, 3, s, 3);
    cst_terminal(t, b, 1, s, 0);
    cst_terminal(t, a, 3, s + 1, 2);
    Table table = encode_and_read(t, FALSE);
    g_assert_cmpuint(table.shapes->len, ==, 2);
    assert_words(table.shapes->pdata[0], a, 3);
    assert_words(table.shapes->pdata[1], b, 1);
    g_assert_cmpuint(table.slots->len, ==, 3);
    assert_words(table.slots->pdata[0], s, 3);
    assert_words(table.slots->pdata[1], s, 0);
    assert_words(table.slots->pdata[2], s + 1, 2);
    g_assert_cmpuint(g_array_index(table.shape_of, guint64, 0), ==, 0);
    g_assert_cmpuint(g_array_index(table.shape_of, guint64, 1), ==, 1);
    g_assert_cmpuint(g_array_index(table.shape_of, guint64, 2), ==, 0);
    g_assert_cmpuint(table.stats->len, ==, 0);
    table_clear(&table);
    cst_free(t);
}

/* Calls that have not returned: behind the others, with the polls before the first, and the table
 * as it was. */
static void test_unfinished(void)
{
    for (guint polls = 0; polls <= 5; polls += 5) {
        WendCst *t = cst_new();
        gint64 a[] = {4, 9}, b[] = {5, 1}, c[] = {7, 1}, s[] = {3, 2, 1};
        WendTerminalEntry *e = cst_terminal(t, a, 2, s, 2);
        cst_outcome(t, e->shape, s, 2);
        stat_add(&e->times->duration, 1.0);
        const WendUnfinished calls[] = {
            {.shape = b,
             .n_shape = 2,
             .slots = s,
             .n_slots = 1,
             .number = 0,
             .times = 2,
             .polls = polls},
            {.shape = c, .n_shape = 2, .slots = s, .n_slots = 0, .number = 1, .times = 1},
            {.shape = b, .n_shape = 2, .slots = s, .n_slots = 2, .number = 0, .times = 4},
        };
        WendBuf out = WEND_BUF_INIT;
        cst_encode(t, TRUE, calls, G_N_ELEMENTS(calls), &out);
        g_assert_false(out.failed);
        WendCursor cursor = cursor_of(out.data, out.len);
        Table table = read_table(&cursor);
        g_assert_true(cursor.p == cursor.end);
        g_assert_cmpuint(table.shapes->len, ==, 3);
        assert_words(table.shapes->pdata[1], b, 2);
        assert_words(table.shapes->pdata[2], c, 2);
        g_assert_cmpuint(table.slots->len, ==, 4);
        for (guint i = 0; i < 3; i++) {
            g_assert_cmpuint(g_array_index(table.shape_of, guint64, 1 + i), ==,
                             1 + calls[i].number);
            assert_words(table.slots->pdata[1 + i], s, calls[i].n_slots);
            g_assert_cmpuint(g_array_index(table.stats, Stat, 2 * (1 + i)).count, ==, 0);
        }
        const GPtrArray *stream = table.streams->pdata[1];
        g_assert_cmpuint(stream->len, ==, 6);
        for (guint i = 0; i < 6; i++)
            assert_words(stream->pdata[i], (gint64[]){i ? 0 : polls, 0}, 2);
        stream = table.streams->pdata[2];
        g_assert_cmpuint(stream->len, ==, 1);
        table_clear(&table);
        table = encode_and_read(t, TRUE);
        g_assert_cmpuint(table.shapes->len, ==, 1);
        g_assert_cmpuint(cst_terminals(t), ==, 1);
        table_clear(&table);
        buf_clear(&out);
        cst_free(t);
    }
}

static void test_streams(void)
{
    GRand *rand = g_rand_new_with_seed(8);
    WendCst *t = cst_new();
    enum { SHAPES = 5 };
    GPtrArray *model[SHAPES];
    for (guint i = 0; i < SHAPES; i++) {
        terminal(t, 100 + i, 0);
        model[i] = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    }
    for (guint i = 0; i < 20000; i++) {
        guint shape = g_rand_int_range(rand, 0, SHAPES - 1); /* the last one stays empty */
        gint64 words[40];
        guint n = g_rand_int_range(rand, 0, 20) ? g_rand_int_range(rand, 0, 3)
                                                : g_rand_int_range(rand, 0, 40);
        for (guint k = 0; k < n; k++)
            words[k] =
                g_rand_int_range(rand, -1, 2) * (g_rand_int_range(rand, 0, 50) ? 1 : INT64_MAX);
        for (guint repeats = g_rand_int_range(rand, 0, 4) ? 1 : g_rand_int_range(rand, 1, 30);
             repeats > 0; repeats--) {
            g_assert_true(cst_outcome(t, shape, words, n));
            GArray *entry = g_array_new(FALSE, FALSE, sizeof(gint64));
            g_array_append_vals(entry, words, n);
            g_ptr_array_add(model[shape], entry);
        }
        if (i % 4000 != 0 && i != 19999)
            continue;
        Table table = encode_and_read(t, FALSE); /* in between too: recording goes on */
        for (guint s = 0; s < SHAPES; s++) {
            GPtrArray *stream = table.streams->pdata[s];
            g_assert_cmpuint(stream->len, ==, model[s]->len);
            for (guint k = 0; k < stream->len; k++) {
                GArray *entry = model[s]->pdata[k];
                assert_words(stream->pdata[k], (gint64 *)entry->data, entry->len);
            }
        }
        table_clear(&table);
    }
    for (guint i = 0; i < SHAPES; i++)
        g_ptr_array_unref(model[i]);
    cst_free(t);
    g_rand_free(rand);
}

static void test_stream_memory(void)
{
    WendCst *t = cst_new();
    terminal(t, 1, 1);
    gint64 words[] = {0, 0, 5};
    cst_outcome(t, 0, words, 3);
    size_t memory = cst_memory(t);
    for (guint i = 0; i < 1000000; i++) {
        terminal(t, 1, 1);
        g_assert_true(cst_outcome(t, 0, words, 3));
    }
    g_assert_cmpuint(cst_memory(t), ==, memory);
    cst_free(t);
}

/* -- outcomes that come again in some order -- */

enum { KINDS = 6, MOST_WIDTH = 7 };

/* Outcome KIND of a stream; VARIED: of its own width. */
static gsize outcome_words(gint64 *words, guint kind, gboolean varied)
{
    gsize n = varied ? kind % MOST_WIDTH : MOST_WIDTH;
    for (gsize i = 0; i < n; i++)
        words[i] = i == n / 2 ? (gint64)kind
                   : i == 1   ? (gint64)(kind % 3) - (kind % 3 == 2 ? INT64_MAX : 0)
                              : 0;
    return n;
}

/* Kinds of N outcomes in a row: loops and loops in loops that begin, change and break off, runs,
 * noise. */
static GArray *outcome_kinds(GRand *rand, guint n, guint repeated)
{
    GArray *kinds = g_array_new(FALSE, FALSE, sizeof(guint));
    while (kinds->len < n) {
        guint body[40], length = g_rand_int_range(rand, 1, 40),
                        alphabet = g_rand_int_range(rand, 1, 1 + KINDS),
                        how = g_rand_int_range(rand, 0, 6);
        for (guint i = 0; i < length; i++)
            body[i] = g_rand_int_range(rand, 0, 10) ? (guint)g_rand_int_range(rand, 0, alphabet)
                                                    : (guint)g_rand_int_range(rand, 0, 400);
        guint passes = how ? g_rand_int_range(rand, 1, 1 + repeated) : 1,
              inner = how == 1 ? g_rand_int_range(rand, 1, length + 1) : 0;
        for (guint pass = 0; pass < passes; pass++) {
            for (guint i = 0; i < length; i++)
                for (guint run = how == 2 ? 1 + body[i] % 5 : 1; run > 0; run--)
                    g_array_append_val(kinds, body[i]);
            for (guint i = 0; i < 20 * inner; i++)
                g_array_append_val(kinds, body[i % inner]);
            if (how == 3 && pass % 16 == 0) { /* a disturbance, another each time */
                guint kind = g_rand_int_range(rand, 0, 1000);
                g_array_append_val(kinds, kind);
            }
            for (guint i = 0; how == 5 && i < 2 * length; i++) { /* in equal steps, of one width */
                guint kind = body[0] + 21 * i;
                g_array_append_val(kinds, kind);
            }
            for (guint i = 0; how == 4 && i < length; i++) { /* noise */
                guint kind = g_rand_int_range(rand, 0, 1 + 50 * alphabet);
                g_array_append_val(kinds, kind);
            }
        }
    }
    g_array_set_size(kinds, n);
    return kinds;
}

static void assert_kinds(const WendCst *t, const GArray *kinds, guint n, gboolean varied)
{
    Table table = encode_and_read(t, FALSE);
    const GPtrArray *stream = table.streams->pdata[0];
    g_assert_cmpuint(stream->len, ==, n);
    for (guint i = 0; i < n; i++) {
        gint64 words[MOST_WIDTH];
        gsize width = outcome_words(words, g_array_index(kinds, guint, i), varied);
        assert_words(stream->pdata[i], words, width);
    }
    table_clear(&table);
}

static WendBuf encoded(const WendCst *t)
{
    WendBuf b = WEND_BUF_INIT;
    cst_encode(t, FALSE, NULL, 0, &b);
    g_assert_false(b.failed);
    return b;
}

/* What is read is what was added, whenever that is, and however often it was written before. */
static void test_repetitions(void)
{
    GRand *rand = g_rand_new_with_seed(21);
    for (guint round = 0; round < 40; round++) {
        gboolean varied = round % 2;
        guint n = g_rand_int_range(rand, 1, 120000);
        GArray *kinds = outcome_kinds(rand, n, round % 4 < 2 ? 300 : 8000);
        WendCst *t = cst_new(), *silent = cst_new();
        terminal(t, 1, 1);
        terminal(silent, 1, 1);
        for (guint i = 0, next = 0; i < n; i++) {
            gint64 words[MOST_WIDTH];
            gsize width = outcome_words(words, g_array_index(kinds, guint, i), varied);
            g_assert_true(cst_outcome(t, 0, words, width) && cst_outcome(silent, 0, words, width));
            if (i == next) {
                assert_kinds(t, kinds, i + 1, varied);
                next += g_rand_int_range(rand, 1, 40000);
            }
        }
        assert_kinds(t, kinds, n, varied);
        WendBuf a = encoded(t), b = encoded(silent);
        g_assert_cmpmem(a.data, a.len, b.data, b.len);
        buf_clear(&a);
        buf_clear(&b);
        cst_free(t);
        cst_free(silent);
        g_array_unref(kinds);
    }
    g_rand_free(rand);
}

/* Taken back, the last outcome is not there, wherever it was. */
static void test_repetition_undo(void)
{
    enum { BEFORE = 9000, AFTER = 60 };
    for (guint period = 1; period < 12; period += 5)
        for (guint n = BEFORE; n < BEFORE + AFTER; n++) {
            GArray *kinds = g_array_new(FALSE, FALSE, sizeof(guint));
            WendCst *t = cst_new();
            terminal(t, 1, 1);
            for (guint i = 0; i < n; i++) {
                gint64 words[MOST_WIDTH];
                guint kind = i % 500 == 499 ? 7 : i / 2 % period;
                g_array_append_val(kinds, kind);
                g_assert_true(cst_outcome(t, 0, words, outcome_words(words, kind, FALSE)));
            }
            cst_outcome_undo(t, 0);
            assert_kinds(t, kinds, n - 1, FALSE);
            cst_free(t);
            g_array_unref(kinds);
        }
}

/* Entries that go up in equal steps, from and to where words end, beside special ones and over
 * them; each row once or some times; and the last entry taken back. */
static void test_rises(void)
{
    enum { WIDTH = 3 };
    const gint64 starts[] = {0,
                             -1,
                             5,
                             WEND_ABSENT,
                             WEND_CONST(3),
                             G_MAXINT64 - 40,
                             WEND_SPECIAL_BASE + 30,
                             WEND_SPECIAL_BASE,
                             G_MININT64},
                 by[] = {0, 1, -1, 7, G_GINT64_CONSTANT(1) << 40, G_MAXINT64 / 8, G_MININT64 / 8};
    GRand *rand = g_rand_new_with_seed(55);
    for (guint round = 0; round < 1000; round++) {
        WendCst *t = cst_new();
        GArray *all = g_array_new(FALSE, FALSE, sizeof(gint64));
        terminal(t, 1, 1);
        for (guint rows = g_rand_int_range(rand, 1, 6); rows > 0; rows--) {
            gint64 start[WIDTH], step[WIDTH];
            for (guint i = 0; i < WIDTH; i++) {
                start[i] = starts[g_rand_int_range(rand, 0, G_N_ELEMENTS(starts))];
                step[i] =
                    by[g_rand_int_range(rand, 0, g_rand_boolean(rand) ? 4 : G_N_ELEMENTS(by))];
            }
            guint length = g_rand_int_range(rand, 1, 80);
            for (guint times = g_rand_int_range(rand, 1, 4); times > 0; times--)
                for (guint k = 0; k < length; k++) {
                    gint64 words[WIDTH];
                    for (guint i = 0; i < WIDTH; i++)
                        words[i] = (gint64)((guint64)start[i] + (guint64)step[i] * k);
                    g_array_append_vals(all, words, WIDTH);
                    g_assert_true(cst_outcome(t, 0, words, WIDTH));
                }
        }
        if (round % 2) {
            cst_outcome_undo(t, 0);
            g_array_set_size(all, all->len - WIDTH);
        }
        Table table = encode_and_read(t, FALSE);
        const GPtrArray *stream = table.streams->pdata[0];
        g_assert_cmpuint(stream->len, ==, all->len / WIDTH);
        for (guint i = 0; i < stream->len; i++)
            assert_words(stream->pdata[i], &g_array_index(all, gint64, WIDTH * i), WIDTH);
        table_clear(&table);
        cst_free(t);
        g_array_unref(all);
    }
    g_rand_free(rand);
}

static size_t memory_of(const GArray *kinds, guint n, gboolean varied, size_t *bytes)
{
    WendCst *t = cst_new();
    terminal(t, 1, 1);
    for (guint i = 0; i < n; i++) {
        gint64 words[MOST_WIDTH];
        g_assert_true(
            cst_outcome(t, 0, words, outcome_words(words, g_array_index(kinds, guint, i), varied)));
    }
    WendBuf b = encoded(t);
    size_t memory = cst_memory(t);
    *bytes = b.len;
    buf_clear(&b);
    cst_free(t);
    return memory;
}

/* Outcomes in turn, turns in turns, and such as go up in equal steps, again and again or on and on,
 * take no more for a million calls than for ten thousand. */
static void test_repetition_memory(void)
{
    enum { FEW = 10000, MANY = 1000000 };
    for (guint how = 0; how < 6; how++) {
        GArray *kinds = g_array_new(FALSE, FALSE, sizeof(guint));
        for (guint i = 0; i < MANY; i++) {
            guint kind = how == 0   ? i % 2
                         : how == 1 ? i / 3 % 4
                         : how == 2 ? i % 7 * (i % 7) % 5
                         : how == 3 ? (i % 130 < 120 ? i % 130 % 4 : i % 130)
                         : how == 4 ? 21 * (i % 40)
                                    : 21 * i;
            g_array_append_val(kinds, kind);
        }
        for (guint varied = 0; varied < 2; varied++) {
            size_t few_bytes, many_bytes, few = memory_of(kinds, FEW, varied, &few_bytes),
                                          many = memory_of(kinds, MANY, varied, &many_bytes);
            g_assert_cmpuint(many, <=, few);
            g_assert_cmpuint(many_bytes, <=, few_bytes + 16); /* larger counts */
        }
        g_array_unref(kinds);
    }
}

/* Where nothing comes again it costs no more than half on top of the runs. */
static void test_repetition_bound(void)
{
    enum { N = 300000, TABLE = 1 << 15 };
    GRand *rand = g_rand_new_with_seed(34);
    for (guint round = 0; round < 8; round++) {
        WendCst *t = cst_new();
        WendBuf runs = WEND_BUF_INIT;
        terminal(t, 1, 1);
        for (guint i = 0, before = G_MAXUINT; i < N; i++) {
            gboolean loop = round >= 4 && i / (N / 8) % 2 == 0;
            guint kind = loop ? i % 9 : (guint)g_rand_int_range(rand, 0, 4 << 3 * (round % 4));
            gint64 words[MOST_WIDTH];
            gsize n = outcome_words(words, kind, FALSE);
            g_assert_true(cst_outcome(t, 0, words, n));
            if (kind != before) {
                buf_unsigned(&runs, 1);
                buf_unsigned(&runs, n);
                for (gsize k = 0; k < n; k++)
                    buf_signed(&runs, words[k]);
            }
            before = kind;
            if (i % 64 == 0)
                g_assert_cmpuint(cst_memory(t), <=, runs.cap + runs.cap / 2 + TABLE);
        }
        buf_clear(&runs);
        cst_free(t);
    }
    g_rand_free(rand);
}

static void assert_near(double a, double b, double tolerance)
{
    g_assert_cmpfloat(fabs(a - b), <=, tolerance * fabs(b));
}

/* A slow first call, then many fast and nearly equal ones, against two passes over the values. */
static void test_timing(void)
{
    GRand *rand = g_rand_new_with_seed(13);
    WendCst *t = cst_new();
    WendTerminalEntry *e = terminal(t, 1, 1);
    terminal(t, 2, 1); /* never timed */
    enum { N = 100000 };
    double *v = g_new(double, N), sum = 0, m2 = 0, min = INFINITY, max = 0;
    for (guint i = 0; i < N; i++) {
        v[i] = i == 0 ? 1e-3 : 2e-6 + 1e-8 * g_rand_double(rand);
        sum += v[i];
        min = MIN(min, v[i]);
        max = MAX(max, v[i]);
        stat_add(&e->times->duration, v[i]);
    }
    stat_add(&e->times->interval, 0.25);
    for (guint i = 0; i < N; i++)
        m2 += (v[i] - sum / N) * (v[i] - sum / N);
    Table table = encode_and_read(t, TRUE);
    g_assert_cmpuint(table.stats->len, ==, 4);
    const Stat *s = &g_array_index(table.stats, Stat, 0);
    g_assert_cmpuint(s[0].count, ==, N);
    assert_near(s[0].mean, sum / N, 1e-9);
    assert_near(s[0].m2, m2, 1e-6);
    g_assert_true(s[0].min == min && s[0].max == max);
    g_assert_cmpuint(s[1].count, ==, 1);
    g_assert_true(s[1].mean == 0.25 && s[1].min == 0.25 && s[1].max == 0.25 && s[1].m2 == 0);
    g_assert_cmpuint(s[2].count, ==, 0);
    g_assert_cmpuint(s[3].count, ==, 0);
    table_clear(&table);
    g_free(v);
    cst_free(t);
    g_rand_free(rand);
}

/* Of a shape with many signatures the later ones share their times, which are told once; those of
 * other shapes stay their own. */
static void test_times_shared(void)
{
    enum { N = 2 * WEND_TIMED_APART };
    WendCst *t = cst_new();
    for (guint i = 0; i < N; i++) {
        stat_add(&terminal(t, 1, i)->times->duration, 1.0 + i);
        stat_add(&terminal(t, 2, i % 2)->times->interval, 0.5);
    }
    for (guint i = 0; i < N; i++)
        stat_add(&terminal(t, 1, i)->times->duration, 1.0 + i);
    Table table = encode_and_read(t, TRUE);
    g_assert_cmpuint(table.stats->len, ==, 2 * (N + 2));
    guint shared = 0;
    for (guint i = 0, own = 0; i < N + 2; i++) {
        const Stat *s = &g_array_index(table.stats, Stat, 2 * i);
        if (g_array_index(table.shape_of, guint64, i) == 1) {
            g_assert_cmpuint(s[1].count, ==, N / 2);
            continue;
        }
        guint number = own++;
        g_assert_cmpuint(s[1].count, ==, 0);
        if (number < WEND_TIMED_APART) {
            g_assert_cmpuint(s[0].count, ==, 2);
            g_assert_true(s[0].min == 1.0 + number && s[0].max == 1.0 + number);
        } else if (s[0].count > 0) {
            shared++;
            g_assert_cmpuint(s[0].count, ==, 2 * (N - WEND_TIMED_APART));
            g_assert_true(s[0].min == 1.0 + WEND_TIMED_APART && s[0].max == N);
        }
    }
    g_assert_cmpuint(shared, ==, 1);
    table_clear(&table);
    cst_free(t);
}

/* -- a whole part -- */

static char *read_string(WendCursor *c)
{
    size_t n = cursor_count(c, 1);
    return g_strndup((const char *)cursor_bytes(c, n), n);
}

static void assert_string(WendCursor *c, const char *expected)
{
    char *s = read_string(c);
    g_assert_cmpstr(s, ==, expected);
    g_free(s);
}

static void test_part(void)
{
    WendFacts facts = {0};
    facts_add(&facts, "run.program", "/bin/app");
    facts_add(&facts, "run.job", "");
    WendCst *t = cst_new(), *polls = cst_new();
    WendGrammar *g = grammar_new(), *polls_grammar = grammar_new();
    WendTerminalEntry *e = terminal(t, 1, 1);
    stat_add(&e->times->duration, 1.5);
    grammar_append(g, e->number, 3);
    grammar_append(polls_grammar, terminal(polls, 3, 3)->number, 1000);
    WendBuf b = WEND_BUF_INIT;
    part_begin(&b, &facts, 3, 16, 2);
    part_sequence(&b, &(WendPartSequence){.kind = WEND_SEQUENCE_THREAD,
                                          .id = 0,
                                          .calls = t,
                                          .grammar = g,
                                          .polls_after = 7,
                                          .polls = polls,
                                          .polls_grammar = polls_grammar});
    part_sequence(&b, &(WendPartSequence){
                          .kind = WEND_SEQUENCE_CALLBACK, .id = -5, .calls = t, .grammar = g});
    g_assert_false(b.failed);

    WendCursor c = cursor_of(b.data, b.len);
    g_assert_cmpmem(cursor_bytes(&c, 8), 8, "WENDPART", 8);
    g_assert_cmpuint(cursor_unsigned(&c), ==, WEND_PART_VERSION);
    g_assert_cmpuint(cursor_unsigned(&c), ==, 2);
    assert_string(&c, "run.program");
    assert_string(&c, "/bin/app");
    assert_string(&c, "run.job");
    assert_string(&c, "");
    g_assert_cmpuint(cursor_unsigned(&c), ==, 3);
    g_assert_cmpuint(cursor_unsigned(&c), ==, 16);
    g_assert_cmpuint(cursor_unsigned(&c), ==, 2);
    for (guint i = 0; i < 2; i++) {
        g_assert_cmpuint(cursor_unsigned(&c), ==, i);
        g_assert_cmpint(cursor_signed(&c), ==, i ? -5 : 0);
        Table calls = read_table(&c);
        g_assert_cmpuint(calls.slots->len, ==, 1);
        g_assert_cmpuint(calls.stats->len, ==, 2);
        WendCursor grammar = cursor_block(&c);
        /* one rule of one symbol: terminal 0, three times */
        g_assert_cmpmem(grammar.p, (gsize)(grammar.end - grammar.p), "\1\1\0\3", 4);
        g_assert_cmpuint(cursor_unsigned(&c), ==, i ? 0 : 7);
        Table failing = read_table(&c);
        g_assert_cmpuint(failing.slots->len, ==, i ? 0 : 1);
        g_assert_cmpuint(failing.stats->len, ==, 0);
        grammar = cursor_block(&c);
        if (i == 0)
            g_assert_cmpmem(grammar.p, (gsize)(grammar.end - grammar.p), "\1\1\0\xe8\7", 5);
        else
            g_assert_cmpmem(grammar.p, (gsize)(grammar.end - grammar.p), "\1\0", 2);
        table_clear(&calls);
        table_clear(&failing);
    }
    g_assert_false(c.failed);
    g_assert_true(c.p == c.end);
    buf_clear(&b);
    buf_clear(&facts.bytes);
    cst_free(t);
    cst_free(polls);
    grammar_free(g);
    grammar_free(polls_grammar);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cst/numbers", test_numbers);
    g_test_add_func("/cst/random-signatures", test_random_signatures);
    g_test_add_func("/cst/pools", test_pools);
    g_test_add_func("/cst/pool-model", test_pool_model);
    g_test_add_func("/cst/table", test_table);
    g_test_add_func("/cst/unfinished", test_unfinished);
    g_test_add_func("/cst/streams", test_streams);
    g_test_add_func("/cst/rises", test_rises);
    g_test_add_func("/cst/stream-memory", test_stream_memory);
    g_test_add_func("/cst/repetitions", test_repetitions);
    g_test_add_func("/cst/repetition-undo", test_repetition_undo);
    g_test_add_func("/cst/repetition-memory", test_repetition_memory);
    g_test_add_func("/cst/repetition-bound", test_repetition_bound);
    g_test_add_func("/cst/timing", test_timing);
    g_test_add_func("/cst/times-shared", test_times_shared);
    g_test_add_func("/cst/part", test_part);
    return g_test_run();
}
