/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage.c: when memory runs out at any allocation, what was accepted before is still there,
 * whole, and nothing crashes.
 *
 * Linked with -Wl,--wrap: the library's allocations come here, and fail from the n-th on until the
 * shortage is over. */
#include "../../lib/record/grammar.h"
#include "part-table.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static guint64 allowed = G_MAXUINT64; /* allocations still granted */
static gboolean allow(void)
{
    return allowed > 0 && allowed--;
}
void *__wrap_malloc(size_t n)
{
    return allow() ? __real_malloc(n) : NULL;
}
void *__wrap_calloc(size_t n, size_t size)
{
    return allow() ? __real_calloc(n, size) : NULL;
}
void *__wrap_realloc(void *p, size_t n)
{
    return allow() ? __real_realloc(p, n) : NULL;
}

/* -- grammar -- */

static void expand(WendCursor *rules, guint rule, GArray *out)
{
    WendCursor c = rules[rule];
    for (guint64 n = cursor_unsigned(&c); n > 0; n--) {
        guint64 id = cursor_unsigned(&c), exp = cursor_unsigned(&c);
        for (; exp > 0; exp--) {
            guint32 terminal = (guint32)(id >> 1);
            if (id & 1)
                expand(rules, terminal, out);
            else
                g_array_append_val(out, terminal);
        }
    }
    g_assert_false(c.failed);
}

static void check(WendGrammar *g, const GArray *accepted)
{
    WendBuf b = WEND_BUF_INIT;
    grammar_encode(g, NULL, &b);
    g_assert_false(b.failed);
    WendCursor c = cursor_of(b.data, b.len);
    size_t n = cursor_count(&c, 1);
    WendCursor *rules = g_new(WendCursor, n);
    for (size_t i = 0; i < n; i++) {
        rules[i] = c;
        for (guint64 k = 2 * cursor_unsigned(&c); k > 0; k--)
            cursor_unsigned(&c);
    }
    g_assert_true(c.p == c.end);
    GArray *out = g_array_new(FALSE, FALSE, sizeof(guint32));
    expand(rules, 0, out);
    g_assert_cmpmem(out->data, out->len * sizeof(guint32), accepted->data,
                    accepted->len * sizeof(guint32));
    g_assert_cmpuint(grammar_length(g), ==, accepted->len);
    g_array_unref(out);
    g_free(rules);
    buf_clear(&b);
}

/* Loops that break off, loops in loops, and noise: all paths allocate. */
static GArray *input(guint32 seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    GArray *a = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i < 60; i++) {
        guint trips = g_rand_int_range(rand, 0, 6), length = g_rand_int_range(rand, 1, 12),
              noise = g_rand_int_range(rand, 0, 8);
        for (guint t = 0; t < trips * length + noise; t++) {
            guint32 v = t < trips * length ? t % length % 5 : (guint32)g_rand_int_range(rand, 0, 4);
            g_array_append_val(a, v);
        }
    }
    g_rand_free(rand);
    return a;
}

static void test_grammar(void)
{
    for (guint round = 0; round < 400; round++) {
        GArray *in = input(round), *accepted = g_array_new(FALSE, FALSE, sizeof(guint32));
        allowed = round % 40;
        WendGrammar *g = round % 3 ? grammar_new() : grammar_new_deferring();
        if (!g) {
            g_assert_cmpuint(round % 40, <, 3);
            allowed = G_MAXUINT64;
            g = round % 3 ? grammar_new() : grammar_new_deferring();
        }
        guint refused = 0;
        for (guint i = 0; i < in->len; i++) {
            if (refused == 5)
                allowed = G_MAXUINT64; /* memory is there again: appending goes on */
            guint32 v = g_array_index(in, guint32, i);
            if (grammar_append(g, v, 1))
                g_array_append_val(accepted, v);
            else
                refused++;
        }
        allowed = 0;
        WendBuf b = WEND_BUF_INIT;
        grammar_encode(g, NULL, &b);
        g_assert_true(b.failed);
        buf_clear(&b);
        allowed = G_MAXUINT64;
        check(g, accepted);
        grammar_free(g);
        g_array_unref(in);
        g_array_unref(accepted);
    }
}

/* -- table -- */

static void test_cst(void)
{
    for (guint round = 0; round < 200; round++) {
        allowed = round;
        WendCst *t = cst_new();
        if (!t) {
            allowed = G_MAXUINT64;
            continue;
        }
        guint entries = 0, refused = 0;
        for (gint64 i = 0; i < 400; i++) {
            gint64 shape[] = {i % 37, i % 3}, slots[20] = {i % 111, 5};
            WendPoolKey key;
            guint32 number;
            if (cst_request(t, shape, 2, slots, 2, i % 2, &key, &number))
                cst_release(t, key);
            WendTerminalEntry *e = cst_terminal(t, shape, 2, slots, 2 + i % 19);
            if (e && cst_outcome(t, e->shape, slots, i % 20))
                entries++;
            refused += !e;
            if (refused == 10)
                allowed = G_MAXUINT64;
        }
        allowed = G_MAXUINT64;
        WendBuf b = WEND_BUF_INIT;
        cst_encode(t, FALSE, NULL, 0, &b);
        g_assert_false(b.failed);
        WendCursor c = cursor_of(b.data, b.len);
        Table table = read_table(&c);
        g_assert_true(c.p == c.end);
        guint found = 0;
        for (guint i = 0; i < table.streams->len; i++)
            found += ((GPtrArray *)table.streams->pdata[i])->len;
        g_assert_cmpuint(found, ==, entries);
        table_clear(&table);
        buf_clear(&b);
        cst_free(t);
    }
}

/* A call that was accepted: its terminal and its slots. */
typedef struct {
    guint32 terminal;
    guint n;
    gint64 slots[3];
} Accepted;

/* What is told of ACCEPTED by a table: by the slots of its terminal, or by the next entry of its
 * values. */
static void check_calls(const WendCst *t, const GArray *accepted)
{
    WendBuf b = WEND_BUF_INIT;
    cst_encode(t, FALSE, NULL, 0, &b);
    g_assert_false(b.failed);
    WendCursor c = cursor_of(b.data, b.len);
    Table table = read_table(&c);
    g_autofree guint *at = g_new0(guint, table.slots->len + 1);
    g_autofree gint64 *last = g_new0(gint64, 3 * table.slots->len + 1);
    for (guint i = 0; i < accepted->len; i++) {
        const Accepted *a = &g_array_index(accepted, Accepted, i);
        const GPtrArray *values = table.values->pdata[a->terminal];
        const GArray *words =
            values->len ? values->pdata[at[a->terminal]++] : table.slots->pdata[a->terminal];
        g_assert_cmpuint(words->len, ==, a->n);
        for (guint k = 0; k < a->n; k++) {
            gint64 *slot = &last[3 * a->terminal + k];
            *slot = g_array_index(words, gint64, k) + (values->len ? *slot : 0);
            g_assert_cmpint(*slot, ==, a->slots[k]);
        }
    }
    for (guint i = 0; i < table.values->len; i++)
        g_assert_cmpuint(at[i], ==, ((const GPtrArray *)table.values->pdata[i])->len);
    table_clear(&table);
    buf_clear(&b);
}

static void test_values(void)
{
    gsize patience = cst_patience;
    guint elastic = 0;
    cst_patience = 0;
    for (guint round = 1; round < 300; round++) { /* the table itself comes first */
        allowed = round;
        WendCst *t = cst_new();
        GRand *rand = g_rand_new_with_seed(round);
        GArray *accepted = g_array_new(FALSE, FALSE, sizeof(Accepted));
        guint refused = 0;
        for (gint64 i = 0; i < 2000; i++) {
            gint64 shape[] = {i % 3, 1};
            Accepted a = {.n = i % 3 + 1};
            for (guint k = 0; k < a.n; k++)
                a.slots[k] = k == 0 && i % 2 ? i : g_rand_int_range(rand, 0, 200);
            const WendTerminalEntry *e = cst_call(t, shape, 2, a.slots, a.n);
            refused += !e;
            if (refused == 10)
                allowed = G_MAXUINT64;
            if (!e)
                continue;
            a.terminal = e->number;
            g_array_append_val(accepted, a);
            if (i < 1999)
                continue;
            cst_call_undo(t, e); /* the outcome could not be told */
            g_array_set_size(accepted, accepted->len - 1);
        }
        allowed = G_MAXUINT64;
        elastic += cst_elastic_calls(t) > 0;
        check_calls(t, accepted);
        cst_free(t);
        g_array_unref(accepted);
        g_rand_free(rand);
    }
    cst_patience = patience;
    g_assert_cmpuint(elastic, >, 200);
}

/* Outcomes in turn, disturbed now and then, and noise: what repeats itself begins and ends. */
static gint64 outcome_at(guint i)
{
    guint part = i / 9000, noise = (i * 2654435761u) >> 20;
    return part % 3 == 2 ? noise : i % 1500 == 0 ? noise % 50 : i % 6;
}

static void test_outcomes(void)
{
    enum { N = 36000 };
    guint refusals = 0;
    for (guint round = 0; round < 150; round++) {
        WendCst *t = cst_new();
        gint64 words[5] = {0};
        GArray *accepted = g_array_new(FALSE, FALSE, sizeof(gint64));
        guint refused = 0;
        g_assert_nonnull(cst_terminal(t, words, 1, words, 0));
        allowed = round;
        for (guint i = 0; i < N; i++) {
            words[2] = outcome_at(i);
            if (cst_outcome(t, 0, words, 2 + (gsize)words[2] % 4))
                g_array_append_val(accepted, words[2]);
            else if (++refused == 3)
                allowed = round; /* some more memory, and again none */
        }
        allowed = G_MAXUINT64;
        refusals += refused;
        WendBuf b = WEND_BUF_INIT;
        cst_encode(t, FALSE, NULL, 0, &b);
        WendCursor c = cursor_of(b.data, b.len);
        Table table = read_table(&c);
        const GPtrArray *stream = table.streams->pdata[0];
        g_assert_cmpuint(stream->len, ==, accepted->len);
        for (guint i = 0; i < stream->len; i++) {
            const GArray *entry = stream->pdata[i];
            words[2] = g_array_index(accepted, gint64, i);
            g_assert_cmpmem(entry->data, entry->len * sizeof *words, words,
                            (2 + (gsize)words[2] % 4) * sizeof *words);
        }
        table_clear(&table);
        g_array_unref(accepted);
        buf_clear(&b);
        cst_free(t);
    }
    g_assert_cmpuint(refusals, >, 1000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/shortage/grammar", test_grammar);
    g_test_add_func("/shortage/cst", test_cst);
    g_test_add_func("/shortage/values", test_values);
    g_test_add_func("/shortage/outcomes", test_outcomes);
    return g_test_run();
}
