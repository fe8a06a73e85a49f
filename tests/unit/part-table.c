/* SPDX-License-Identifier: BSD-3-Clause */
/* part-table.c: see part-table.h. */
#include "part-table.h"

#include <glib.h>
#include <string.h>

static void free_array(gpointer a)
{
    g_array_unref(a);
}
static void free_stream(gpointer s)
{
    g_ptr_array_unref(s);
}

static GArray *read_words(WendCursor *c)
{
    GArray *a = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (size_t n = cursor_count(c, 1); n > 0; n--) {
        gint64 w = cursor_signed(c);
        g_array_append_val(a, w);
    }
    return a;
}

static double read_double(WendCursor *c)
{
    const guint8 *p = cursor_bytes(c, 8);
    g_assert_nonnull(p);
    guint64 bits = 0;
    for (guint i = 0; i < 8; i++)
        bits += (guint64)p[i] << (8 * i);
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

/* One, or as many as an arithmetic run has. */
static GPtrArray *read_entry(WendCursor *c)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(free_array);
    guint64 head = cursor_unsigned(c);
    GArray *words = g_array_new(FALSE, FALSE, sizeof(gint64)),
           *steps = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint64 i = 0; i < head >> 1; i++)
        g_array_append_vals(words, (gint64[]){cursor_signed(c)}, 1);
    guint64 count = head & 1 ? cursor_unsigned(c) : 1;
    for (guint64 i = 0; i < head >> 1 && head & 1; i++)
        g_array_append_vals(steps, (gint64[]){cursor_signed(c)}, 1);
    g_assert_true(!(head & 1) || count > 1);
    for (guint64 k = 0; k < count; k++) {
        g_ptr_array_add(all, g_array_copy(words));
        for (guint i = 0; i < steps->len && k + 1 < count; i++)
            g_array_index(words, gint64, i) += g_array_index(steps, gint64, i);
    }
    g_array_unref(words);
    g_array_unref(steps);
    return all;
}

static void add_entry(GPtrArray *stream, const GPtrArray *entry)
{
    for (guint i = 0; i < entry->len; i++)
        g_ptr_array_add(stream, g_array_ref(entry->pdata[i]));
}

static void expand(const WendCursor *rules, guint64 rule, const GPtrArray *entries,
                   GPtrArray *stream)
{
    WendCursor c = rules[rule];
    for (guint64 n = cursor_unsigned(&c); n > 0; n--) {
        guint64 id = cursor_unsigned(&c), repeats = cursor_unsigned(&c);
        for (; repeats > 0; repeats--)
            if (id & 1)
                expand(rules, id >> 1, entries, stream);
            else
                add_entry(stream, entries->pdata[id >> 1]);
    }
}

static void read_piece(WendCursor *c, GPtrArray *stream)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    guint64 repeats = cursor_unsigned(c);
    for (size_t n = repeats ? 1 : cursor_count(c, 1); n > 0; n--)
        g_ptr_array_add(entries, read_entry(c));
    for (guint64 i = 0; i < repeats; i++)
        add_entry(stream, entries->pdata[0]);
    if (!repeats) {
        size_t n = cursor_count(c, 1);
        WendCursor *rules = g_new(WendCursor, n);
        for (size_t i = 0; i < n; i++) {
            rules[i] = *c;
            for (guint64 k = 2 * cursor_unsigned(c); k > 0; k--)
                cursor_unsigned(c);
        }
        g_assert_false(c->failed);
        expand(rules, 0, entries, stream);
        g_free(rules);
    }
    g_ptr_array_unref(entries);
}

static GPtrArray *read_stream(WendCursor *c)
{
    GPtrArray *stream = g_ptr_array_new_with_free_func(free_array);
    guint64 entries = cursor_unsigned(c);
    WendCursor pieces = cursor_block(c);
    while (pieces.p < pieces.end)
        read_piece(&pieces, stream);
    g_assert_false(pieces.failed);
    g_assert_cmpuint(stream->len, ==, entries);
    return stream;
}

Table read_table(WendCursor *c)
{
    Table t = {
        g_ptr_array_new_with_free_func(free_array),  g_ptr_array_new_with_free_func(free_array),
        g_ptr_array_new_with_free_func(free_stream), g_ptr_array_new_with_free_func(free_stream),
        g_array_new(FALSE, FALSE, sizeof(guint64)),  g_array_new(FALSE, FALSE, sizeof(Stat))};
    for (size_t n = cursor_count(c, 1); n > 0; n--)
        g_ptr_array_add(t.shapes, read_words(c));
    for (size_t n = cursor_count(c, 1); n > 0; n--) {
        guint64 shape = cursor_unsigned(c);
        gboolean elastic = shape & 1;
        shape /= 2;
        g_assert_cmpuint(shape, <, t.shapes->len);
        g_array_append_val(t.shape_of, shape);
        g_ptr_array_add(t.slots,
                        elastic ? g_array_new(FALSE, FALSE, sizeof(gint64)) : read_words(c));
        g_ptr_array_add(t.values,
                        elastic ? read_stream(c) : g_ptr_array_new_with_free_func(free_array));
    }
    for (guint i = 0; i < t.shapes->len; i++)
        g_ptr_array_add(t.streams, read_stream(c));
    size_t timed = cursor_count(c, 2);
    g_assert_true(timed == 0 || timed == t.slots->len);
    for (size_t i = 0; i < 2 * timed; i++) {
        Stat s = {cursor_unsigned(c), 0, 0, 0, 0};
        if (s.count > 0) {
            s.mean = read_double(c);
            s.min = read_double(c);
            s.max = read_double(c);
            s.m2 = read_double(c);
        }
        g_array_append_val(t.stats, s);
    }
    g_assert_false(c->failed);
    return t;
}

void table_clear(Table *t)
{
    g_ptr_array_unref(t->shapes);
    g_ptr_array_unref(t->slots);
    g_ptr_array_unref(t->values);
    g_ptr_array_unref(t->streams);
    g_array_unref(t->shape_of);
    g_array_unref(t->stats);
}
