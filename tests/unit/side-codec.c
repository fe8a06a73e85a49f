/* SPDX-License-Identifier: BSD-3-Clause */
/* side-codec.c: side streams: what is decoded is what was coded, in few bytes; damage is found. */
#include "../../lib/record/side-stream.h"
#include "../../lib/record/values.h"

#include <glib.h>
#include <string.h>

static GRand *dice;

typedef struct {
    GArray *elements; /* WendSideElement */
    WendSideCodec *codec;
    WendBuf rows;
} Stream;

static Stream *stream_new(void)
{
    Stream *s = g_new0(Stream, 1);
    s->elements = g_array_new(FALSE, TRUE, sizeof(WendSideElement));
    s->codec = g_new(WendSideCodec, 1);
    wend_side_codec_init(s->codec, wend_side_kind(WEND_SIDE_VALUES));
    return s;
}

static void stream_free(Stream *s)
{
    g_array_unref(s->elements);
    g_free(s->codec);
    wend_buf_clear(&s->rows);
    g_free(s);
}

static void add_row(Stream *s, const WendSideElement *elements, guint n)
{
    WendBuf row = WEND_BUF_INIT;
    RangeEncoder to;
    range_encoder_begin(&to, &row);
    for (guint i = 0; i < n; i++) {
        WendSideElement e = elements[i];
        wend_side_encode(s->codec, &to, &e);
        g_assert_cmpmem(&e, sizeof e, &elements[i], sizeof e);
    }
    range_encoder_end(&to);
    wend_buf_unsigned(&s->rows, n);
    wend_buf_block(&s->rows, &row);
    wend_buf_clear(&row);
    g_array_append_vals(s->elements, elements, n);
}

static void assert_same(const WendSideElement *a, const WendSideElement *b)
{
    const WendSideForm *form = &wend_side_kind(WEND_SIDE_VALUES)->forms[a->code];
    g_assert_cmpuint(a->step, ==, b->step);
    g_assert_cmpuint(a->code, ==, b->code);
    g_assert_cmpuint(a->sub, ==, b->sub);
    if (form->numbers)
        g_assert_cmpmem(a->numbers, form->numbers * sizeof *a->numbers, b->numbers,
                        form->numbers * sizeof *b->numbers);
    else
        g_assert_cmpmem(a->bytes, a->n_bytes, b->bytes, b->n_bytes);
}

/* Reads the first BYTES bytes of the rows. Returns how many elements are good, and in *DAMAGED
 * whether the reader found the end to be none. */
static guint read_back(const Stream *s, gsize bytes, gboolean *damaged)
{
    const WendSideHead head = {0};
    WendSideReader *r = g_new(WendSideReader, 1);
    const WendSideElement *e;
    guint n = 0;
    wend_side_open(r, WEND_SIDE_VALUES, &head, wend_cursor(s->rows.data, bytes));
    while ((e = wend_side_next(r))) {
        g_assert_cmpuint(n, <, s->elements->len);
        assert_same(e, &g_array_index(s->elements, WendSideElement, n++));
    }
    *damaged = r->failed;
    g_free(r);
    return n;
}

static void assert_whole(const Stream *s)
{
    gboolean damaged;
    g_assert_cmpuint(read_back(s, s->rows.len, &damaged), ==, s->elements->len);
    g_assert_false(damaged);
}

static WendSideElement clock_value(guint64 step, double seconds)
{
    WendSideElement e;
    memset(&e, 0, sizeof e);
    e.step = step;
    e.code = WEND_VALUE_WTIME;
    e.seconds = seconds;
    return e;
}

/* What libraries make of a number of nanoseconds or microseconds, and other doubles. */
static double as_seconds(int kind, guint64 ns)
{
    switch (kind) {
    case 0:
        return (double)(ns / 1000000000) + (double)(ns % 1000000000) * 1e-9;
    case 1:
        return (double)(ns / 1000000000) + (double)(ns % 1000000000) / 1e9;
    case 2:
        return (double)ns / 1e9;
    case 3:
        return (double)ns * 1e-9;
    case 4:
        return (double)(ns / 1000) / 1e6;
    case 5:
        return (double)(ns / 1000000000) + (double)(ns / 1000 % 1000000) * 1e-6;
    default:
        return -(double)ns / 3;
    }
}

/* A loop that reads the clock: under two bytes a value, whatever the library makes of it. */
static void test_clocks(void)
{
    enum { ROWS = 50, N = 1000 };
    static WendSideElement row[N];
    for (int kind = 0; kind <= 6; kind++) {
        Stream *s = stream_new();
        guint64 ns = 123456789012345;
        for (int r = 0; r < ROWS; r++) {
            for (int i = 0; i < N; i++) {
                ns += 50 + (guint64)g_rand_int_range(dice, 0, 16)
                      + (i % 100 == 0 ? (guint64)g_rand_int_range(dice, 0, 100000) : 0);
                row[i] = clock_value(1 + i % 3, as_seconds(kind, ns));
            }
            add_row(s, row, N);
        }
        assert_whole(s);
        g_assert_cmpuint(s->rows.len, <, kind < 6 ? 2 * ROWS * N : 9 * ROWS * N);
        g_assert_cmpuint(s->rows.len, <, kind < 4 ? ROWS * N : 9 * ROWS * N);
        stream_free(s);
    }
}

/* Numbers that go up and down, of any size. */
static gint64 some_number(void)
{
    guint64 bits = (guint64)g_rand_int(dice) << 32 | g_rand_int(dice);
    return (gint64)(bits >> g_rand_int_range(dice, 0, 64)) * (g_rand_boolean(dice) ? 1 : -1);
}

static WendSideElement some_element(void)
{
    WendSideElement e;
    memset(&e, 0, sizeof e);
    e.code = (guint)g_rand_int_range(dice, 0, WEND_VALUES);
    e.sub = (guint)g_rand_int_range(dice, 0, WEND_SIDE_SUBS);
    e.step = g_rand_boolean(dice) ? 1 : (guint64)some_number();
    const WendSideForm *form = &wend_side_kind(WEND_SIDE_VALUES)->forms[e.code];
    for (guint i = 0; i < form->numbers; i++)
        e.numbers[i] = some_number();
    if (form->seconds)
        e.seconds = g_rand_double_range(dice, 0, 2e9);
    if (form->numbers)
        return e;
    e.n_bytes = g_rand_boolean(dice) ? WEND_SIDE_BYTES : (guint)g_rand_int_range(dice, 0, 300);
    guint8 same = (guint8)g_rand_int_range(dice, 0, 3);
    for (guint i = 0; i < e.n_bytes; i++)
        e.bytes[i] = same ? same : (guint8)g_rand_int(dice);
    return e;
}

static void test_any(void)
{
    for (int i = 0; i < 200; i++) {
        Stream *s = stream_new();
        for (int r = 0; r < 5; r++) {
            WendSideElement row[20];
            guint n = (guint)g_rand_int_range(dice, 1, 20);
            for (guint k = 0; k < n; k++)
                row[k] = k > 0 && g_rand_boolean(dice) ? row[k - 1] : some_element();
            add_row(s, row, n);
        }
        assert_whole(s);
        stream_free(s);
    }
}

/* Rows that are there can be read. What is cut off, or has another byte, is found or is another
 * stream, and never more than was claimed. */
static void test_damage(void)
{
    Stream *s = stream_new();
    gboolean damaged;
    WendSideElement row[50];
    for (int r = 0; r < 4; r++) {
        for (int i = 0; i < 50; i++)
            row[i] = some_element();
        add_row(s, row, 50);
    }
    for (gsize n = 0; n < s->rows.len; n += 37) {
        guint elements = read_back(s, n, &damaged);
        g_assert_cmpuint(elements, <=, s->elements->len);
        g_assert_true(damaged || elements % 50 == 0);
        g_assert_cmpuint(elements, <, s->elements->len);
    }
    guint found = 0, tried = 0;
    for (gsize at = 0; at < s->rows.len; at += 101, tried++) {
        const WendSideHead head = {0};
        WendSideReader *r = g_new(WendSideReader, 1);
        guint n = 0;
        s->rows.data[at] ^= 0x55;
        wend_side_open(r, WEND_SIDE_VALUES, &head, wend_cursor(s->rows.data, s->rows.len));
        while (n <= 4 * 50 && wend_side_next(r))
            n++;
        found += r->failed;
        s->rows.data[at] ^= 0x55;
        g_free(r);
    }
    g_assert_cmpuint(tried, >, 20);
    g_assert_cmpuint(found * 10, >, tried * 9);
    stream_free(s);
}

int main(void)
{
    dice = g_rand_new_with_seed(7);
    test_clocks();
    test_any();
    test_damage();
    g_rand_free(dice);
    return 0;
}
