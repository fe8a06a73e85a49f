/* SPDX-License-Identifier: BSD-3-Clause */
/* varint.c: what WendBuf writes, WendCursor reads back; and nothing hostile gets past the
 * cursor. */
#include "../../lib/base/buf.h"

#include <glib.h>
#include <string.h>

static void test_round_trip(void)
{
    GRand *rand = g_rand_new_with_seed(128);
    WendBuf b = WEND_BUF_INIT;
    GArray *values = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint bits = 0; bits <= 64; bits++) /* around every power of two */
        for (gint d = -2; d <= 2; d++) {
            guint64 v = (bits == 64 ? 0 : G_GUINT64_CONSTANT(1) << bits) + (guint64)d;
            g_array_append_val(values, v);
        }
    for (guint i = 0; i < 10000; i++) {
        guint64 v =
            ((guint64)g_rand_int(rand) << 32 | g_rand_int(rand)) >> g_rand_int_range(rand, 0, 64);
        g_array_append_val(values, v);
    }
    for (guint i = 0; i < values->len; i++) {
        guint64 v = g_array_index(values, guint64, i);
        size_t before = b.len;
        buf_unsigned(&b, v);
        size_t size = 1;
        for (guint64 rest = v; rest >= 128; rest /= 128)
            size++;
        g_assert_cmpuint(b.len - before, ==, size);
        buf_signed(&b, (gint64)v);
    }
    g_assert_false(b.failed);
    WendCursor c = cursor_of(b.data, b.len);
    for (guint i = 0; i < values->len; i++) {
        g_assert_cmpuint(cursor_unsigned(&c), ==, g_array_index(values, guint64, i));
        g_assert_cmpint(cursor_signed(&c), ==, (gint64)g_array_index(values, guint64, i));
    }
    g_assert_false(c.failed);
    g_assert_true(c.p == c.end);
    g_assert_cmpuint(cursor_unsigned(&c), ==, 0); /* past the end */
    g_assert_true(c.failed);
    buf_clear(&b);
    g_array_unref(values);
    g_rand_free(rand);
}

/* Known bytes: the format is what docs say, not what this code does. */
static void test_known_bytes(void)
{
    WendBuf b = WEND_BUF_INIT;
    buf_unsigned(&b, 0);
    buf_unsigned(&b, 300);
    buf_signed(&b, -1);
    buf_signed(&b, 1);
    buf_signed(&b, -65);
    buf_string(&b, "abc");
    buf_signed(&b, INT64_MIN);
    static const guint8 expected[] = {0,    0xac, 0x02, 1,    2,    0x81, 0x01,
                                      3,    'a',  'b',  'c',  0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    g_assert_cmpmem(b.data, b.len, expected, sizeof expected);
    buf_clear(&b);
    g_assert_null(b.data);
}

static gboolean reads(const void *bytes, size_t n, guint64 *v)
{
    WendCursor c = cursor_of(bytes, n);
    *v = cursor_unsigned(&c);
    g_assert_true(!c.failed || *v == 0);
    return !c.failed;
}

static void test_hostile_numbers(void)
{
    guint64 v;
    g_assert_false(reads("", 0, &v));
    g_assert_false(reads(NULL, 0, &v));
    g_assert_false(reads("\x80", 1, &v));                                          /* cut off */
    g_assert_false(reads("\x80\x00", 2, &v));                                      /* a long zero */
    g_assert_false(reads("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, &v));     /* 65 bits */
    g_assert_false(reads("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, &v)); /* 11 bytes */
    g_assert_true(reads("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, &v));
    g_assert_cmpuint(v, ==, G_MAXUINT64);
}

static void test_blocks(void)
{
    WendBuf inner = WEND_BUF_INIT, outer = WEND_BUF_INIT;
    buf_unsigned(&inner, 1000);
    buf_block(&outer, &inner);
    buf_unsigned(&outer, 5);
    WendCursor c = cursor_of(outer.data, outer.len), block = cursor_block(&c);
    g_assert_cmpuint(cursor_unsigned(&block), ==, 1000);
    g_assert_true(block.p == block.end);
    g_assert_cmpuint(cursor_unsigned(&block), ==, 0); /* must not run on into the rest */
    g_assert_true(block.failed);
    g_assert_cmpuint(cursor_unsigned(&c), ==, 5);
    g_assert_false(c.failed);

    for (size_t n = 0; n < outer.len; n++) { /* cut anywhere, a read fails and gives nothing */
        c = cursor_of(outer.data, n);
        block = cursor_block(&c);
        g_assert_true(n >= 3 || (block.failed && c.failed && block.p == block.end));
        cursor_unsigned(&c);
        g_assert_true(c.failed);
    }
    buf_clear(&inner);
    buf_clear(&outer);

    c = cursor_of("\x03zz", 3); /* three of one byte cannot be in two bytes; two of two neither */
    g_assert_cmpuint(cursor_count(&c, 1), ==, 0);
    g_assert_true(c.failed);
    c = cursor_of("\x02zzz", 4);
    g_assert_cmpuint(cursor_count(&c, 2), ==, 0);
    g_assert_true(c.failed);
    c = cursor_of("\x02zzzz", 5);
    g_assert_cmpuint(cursor_count(&c, 2), ==, 2);
    g_assert_false(c.failed);
    g_assert_null(cursor_bytes(&c, 5));
    g_assert_true(c.failed);
    g_assert_null(cursor_bytes(&c, 0)); /* and stays so */
}

static void test_failed_writer(void)
{
    WendBuf b = WEND_BUF_INIT, block = {.failed = true};
    buf_unsigned(&b, 1);
    buf_block(&b, &block);
    g_assert_true(b.failed);
    buf_unsigned(&b, 2);
    g_assert_cmpuint(b.len, ==, 1);
    buf_clear(&b);
    g_assert_false(b.failed);
    char x = 0;
    buf_bytes(&b, &x, 1);
    buf_bytes(&b, &x, SIZE_MAX - 1); /* more than there is: refused before anything is read */
    g_assert_true(b.failed);
    g_assert_cmpuint(b.len, ==, 1);
    buf_clear(&b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/varint/round-trip", test_round_trip);
    g_test_add_func("/varint/known-bytes", test_known_bytes);
    g_test_add_func("/varint/hostile-numbers", test_hostile_numbers);
    g_test_add_func("/varint/blocks", test_blocks);
    g_test_add_func("/varint/failed-writer", test_failed_writer);
    return g_test_run();
}
