/* SPDX-License-Identifier: BSD-3-Clause */
/* side-codec.c: side streams: what is decoded is what was coded, in few bytes; damage is found. */
#include "../../lib/record/results.h"
#include "../../lib/record/side-stream.h"
#include "../../lib/record/values.h"

#include <glib.h>
#include <string.h>

static GRand *dice;

typedef struct {
    WendSideKindNumber kind;
    GArray *elements; /* WendSideElement */
    WendSideCodec *codec;
    WendBuf rows;
} Stream;

static Stream *stream_new(WendSideKindNumber kind)
{
    Stream *s = g_new0(Stream, 1);
    s->kind = kind;
    s->elements = g_array_new(FALSE, TRUE, sizeof(WendSideElement));
    s->codec = g_new(WendSideCodec, 1);
    side_codec_init(s->codec, side_stream_kind(kind));
    if (side_stream_kind(kind)->tabled)
        buf_block(&s->rows, &(WendBuf)WEND_BUF_INIT);
    return s;
}

static void stream_free(Stream *s)
{
    g_array_unref(s->elements);
    g_free(s->codec);
    buf_clear(&s->rows);
    g_free(s);
}

static void add_row(Stream *s, const WendSideElement *elements, guint n)
{
    WendBuf row = WEND_BUF_INIT;
    RangeEncoder to;
    range_encoder_begin(&to, &row);
    for (guint i = 0; i < n; i++) {
        WendSideElement e = elements[i];
        side_codec_encode(s->codec, &to, &e);
        g_assert_cmpmem(&e, sizeof e, &elements[i], sizeof e);
    }
    range_encoder_end(&to);
    buf_unsigned(&s->rows, n);
    buf_block(&s->rows, &row);
    buf_clear(&row);
    g_array_append_vals(s->elements, elements, n);
}

static void assert_same(const WendSideKind *kind, const WendSideElement *a,
                        const WendSideElement *b)
{
    const WendSideForm *form = &kind->forms[a->code];
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
    side_reader_open(r, s->kind, &head, cursor_of(s->rows.data, bytes));
    while ((e = side_reader_next(r))) {
        g_assert_cmpuint(n, <, s->elements->len);
        assert_same(side_stream_kind(s->kind), e,
                    &g_array_index(s->elements, WendSideElement, n++));
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
        Stream *s = stream_new(WEND_SIDE_VALUES);
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

static WendSideElement result(WendResultCode code, gint64 number)
{
    WendSideElement e;
    memset(&e, 0, sizeof e);
    e.code = code;
    e.sub = code == WEND_RESULT_NUMBER ? 8 : 0;
    e.step = 2;
    e.numbers[0] = number;
    return e;
}

/* Tickets that eight ranks draw, with their turns: under two bytes each. */
static void test_tickets(void)
{
    enum { ROWS = 20, N = 1000 };
    static WendSideElement row[2 * N];
    Stream *s = stream_new(WEND_SIDE_RESULTS);
    gint64 ticket = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < N; i++) {
            ticket += g_rand_int_range(dice, 1, 16);
            row[2 * i] = result(WEND_RESULT_TURN, ticket);
            row[2 * i + 1] = result(WEND_RESULT_NUMBER, ticket);
        }
        add_row(s, row, 2 * N);
    }
    assert_whole(s);
    g_assert_cmpuint(s->rows.len, <, 2 * ROWS * N);
    stream_free(s);
}

/* The bytes that ROUNDS pieces of data take, of which each changes a part of the one before. */
static gsize data_bytes(double (*value)(int round, int i), int rounds)
{
    Stream *s = stream_new(WEND_SIDE_RESULTS);
    for (int round = 0; round < rounds; round++) {
        WendSideElement e = result(WEND_RESULT_DATA, 0);
        e.n_bytes = WEND_SIDE_BYTES;
        for (int i = 0; i < WEND_SIDE_BYTES / 8; i++) {
            double v = value(round, i);
            memcpy(&e.bytes[8 * i], &v, sizeof v);
        }
        add_row(s, &e, 1);
    }
    assert_whole(s);
    gsize n = s->rows.len;
    stream_free(s);
    return n;
}

static double equal(int round, int i)
{
    return round == 0 ? g_rand_double(dice) : i * 1.5;
}

static double smooth(int round, int i)
{
    return 300 + (round + i) * 0.001;
}

static double noise(int round, int i)
{
    return g_rand_double(dice) + round + i;
}

/* Data that is as before costs next to nothing, smooth data less than it has, and noise hardly
 * more. */
static void test_data(void)
{
    enum { ROUNDS = 200 };
    g_assert_cmpuint(data_bytes(equal, ROUNDS), <, ROUNDS * 30);
    g_assert_cmpuint(data_bytes(smooth, ROUNDS), <, ROUNDS * WEND_SIDE_BYTES * 3 / 4);
    g_assert_cmpuint(data_bytes(noise, ROUNDS), <, ROUNDS * WEND_SIDE_BYTES * 21 / 20);
}

/* Numbers that go up and down, of any size. */
static gint64 some_number(void)
{
    guint64 bits = (guint64)g_rand_int(dice) << 32 | g_rand_int(dice);
    return (gint64)(bits >> g_rand_int_range(dice, 0, 64)) * (g_rand_boolean(dice) ? 1 : -1);
}

/* Symbols that come again, and others. */
static WendSideElement some_symbol(guint code)
{
    WendSideElement e;
    memset(&e, 0, sizeof e);
    e.code = code;
    e.numbers[0] = g_rand_boolean(dice) ? g_rand_int_range(dice, 0, 8) : some_number() & INT32_MAX;
    if (code > 0)
        e.step = g_rand_boolean(dice) ? 1 : (guint64)some_number();
    return e;
}

static WendSideElement some_element(WendSideKindNumber kind)
{
    WendSideElement e;
    memset(&e, 0, sizeof e);
    if (side_stream_kind(kind)->symbols)
        return some_symbol((guint)g_rand_int_range(dice, 0, (gint)side_stream_kind(kind)->n_forms));
    e.code = (guint)g_rand_int_range(dice, 0, (gint)side_stream_kind(kind)->n_forms);
    e.sub = (guint)g_rand_int_range(dice, 0, WEND_SIDE_SUBS);
    e.step = g_rand_boolean(dice) ? 1 : (guint64)some_number();
    const WendSideForm *form = &side_stream_kind(kind)->forms[e.code];
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
    for (int i = 0; i < 200 * WEND_SIDE_KINDS; i++) {
        WendSideKindNumber kind = (WendSideKindNumber)(i % WEND_SIDE_KINDS);
        if (side_stream_kind(kind)->n_forms == 0) /* times have rows of their own */
            continue;
        Stream *s = stream_new(kind);
        for (int r = 0; r < 5; r++) {
            WendSideElement row[20];
            guint n = (guint)g_rand_int_range(dice, 1, 20);
            for (guint k = 0; k < n; k++)
                row[k] = k > 0 && g_rand_boolean(dice) ? row[k - 1] : some_element(s->kind);
            add_row(s, row, n);
        }
        assert_whole(s);
        stream_free(s);
    }
}

/* Rows that are there can be read. What is cut off, or has another byte, is found or is another
 * stream, and never more than was claimed. */
static void test_damage(WendSideKindNumber kind)
{
    Stream *s = stream_new(kind);
    gboolean damaged;
    WendSideElement row[50];
    for (int r = 0; r < 4; r++) {
        for (int i = 0; i < 50; i++)
            row[i] = some_element(kind);
        add_row(s, row, 50);
    }
    for (gsize n = 0; n < s->rows.len; n += 37) {
        guint elements = read_back(s, n, &damaged);
        g_assert_cmpuint(elements, <=, s->elements->len);
        g_assert_true(damaged || elements % 50 == 0);
        g_assert_cmpuint(elements, <, s->elements->len);
    }
    guint found = 0, tried = 0;
    for (gsize at = 0; at < s->rows.len; at += 1 + s->rows.len / 40, tried++) {
        const WendSideHead head = {0};
        WendSideReader *r = g_new(WendSideReader, 1);
        guint n = 0;
        s->rows.data[at] ^= 0x55;
        side_reader_open(r, kind, &head, cursor_of(s->rows.data, s->rows.len));
        while (n <= 4 * 50 && side_reader_next(r))
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
    test_tickets();
    test_data();
    test_any();
    test_damage(WEND_SIDE_VALUES);
    test_damage(WEND_SIDE_RESULTS);
    test_damage(WEND_SIDE_SITES);
    g_rand_free(dice);
    return 0;
}
