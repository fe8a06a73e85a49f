/* SPDX-License-Identifier: BSD-3-Clause */
/* printable.c: whatever the bytes, what is printed has no character that directs a terminal, and
 * the bytes can be had back from it. */
#include "../../lib/base/printable.h"

#include <glib.h>
#include <string.h>

static char *printable(const char *text, gsize n, gboolean utf8)
{
    char small[1];
    gsize length = printable_text(small, sizeof small, text, n, utf8);
    g_assert_cmpstr(small, ==, "");
    char *out = g_malloc(length + 1);
    g_assert_cmpuint(printable_text(out, length + 1, text, n, utf8), ==, length);
    g_assert_cmpuint(strlen(out), ==, length);
    return out;
}

/* By GLib's tables, which are not ours. */
static gboolean is_safe(gunichar c)
{
    static const struct {
        gunichar first, last;
    } never[] = {
        {0x061C, 0x061C}, {0x200B, 0x200F},   {0x2028, 0x202E},
        {0x2060, 0x2064}, {0x2066, 0x2069},   {0xFE00, 0xFE0F},
        {0xFEFF, 0xFEFF}, {0xE0000, 0xE007F}, {0xE0100, 0xE01EF},
    };
    for (guint i = 0; i < G_N_ELEMENTS(never); i++)
        if (c >= never[i].first && c <= never[i].last)
            return FALSE;
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
    case G_UNICODE_SURROGATE:
        return FALSE;
    default:
        return TRUE;
    }
}

static GString *decode(const char *s)
{
    GString *bytes = g_string_new(NULL);
    while (*s) {
        if (*s != '\\') {
            g_string_append_c(bytes, *s++);
            continue;
        }
        static const char simple[] = "\\\\n\nr\rt\t";
        const char letter = s[1];
        guint digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
        if (digits == 0) {
            const char *at = simple;
            while (*at && *at != letter)
                at += 2;
            g_assert_true(*at);
            g_string_append_c(bytes, at[1]);
        } else {
            char number[9] = "";
            memcpy(number, s + 2, digits);
            gunichar c = (gunichar)g_ascii_strtoull(number, NULL, 16);
            if (letter == 'x')
                g_string_append_c(bytes, (char)c);
            else
                g_string_append_unichar(bytes, c);
        }
        s += 2 + digits;
    }
    return bytes;
}

static void check(const char *text, gsize n, gboolean utf8)
{
    g_autofree char *out = printable(text, n, utf8);
    g_assert_true(g_utf8_validate(out, -1, NULL));
    for (const char *p = out; *p; p = g_utf8_next_char(p)) {
        g_assert_true(is_safe(g_utf8_get_char(p)));
        g_assert_true(utf8 || (guchar)*p < 0x7F);
    }
    GString *back = decode(out);
    g_assert_cmpmem(back->str, back->len, text, n);
    g_string_free(back, TRUE);
}

static void test_known(void)
{
    static const struct {
        const char *text, *utf8, *ascii;
    } rows[] = {
        {"plain text, 100 %", "plain text, 100 %", "plain text, 100 %"},
        {"a\\n", "a\\\\n", "a\\\\n"},
        {"\n\r\t\a\033[2J\x7f", "\\n\\r\\t\\x07\\x1b[2J\\x7f", "\\n\\r\\t\\x07\\x1b[2J\\x7f"},
        {"\xc3\xbc", "\xc3\xbc", "\\u00fc"}, /* u with dots */
        {"\xc2\x9b"
         "2J",
         "\\u009b2J", "\\u009b2J"}, /* C1 as a character */
        {"\x9b"
         "2J",
         "\\x9b2J", "\\x9b2J"},                 /* and as a byte */
        {"\xe2\x80\xae", "\\u202e", "\\u202e"}, /* right-to-left override */
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\\U0001f600"},
        {"\xf3\xa0\x81\x81", "\\U000e0041", "\\U000e0041"},     /* a tag */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
        {"\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf"},               /* overlong */
        {"\xe2\x80", "\\xe2\\x80", "\\xe2\\x80"},               /* cut */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *utf8 = printable(rows[i].text, strlen(rows[i].text), TRUE);
        g_autofree char *ascii = printable(rows[i].text, strlen(rows[i].text), FALSE);
        g_assert_cmpstr(utf8, ==, rows[i].utf8);
        g_assert_cmpstr(ascii, ==, rows[i].ascii);
    }
    check("a\0b", 3, TRUE);
}

static void test_each_character(void)
{
    for (gunichar c = 0; c < 0x110000; c++) {
        char text[8];
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        gsize n = (gsize)g_unichar_to_utf8(c, text);
        check(text, n, TRUE);
        if (c < 0x3000)
            check(text, n, FALSE);
    }
}

static void test_random_bytes(void)
{
    static const gunichar hostile[] = {0,      '\n',   0x1b,   '\\',   0x7f,   0x85,   0x9b,
                                       0x200b, 0x2028, 0x202e, 0x2066, 0xfeff, 0xe0001};
    GRand *rand = g_rand_new_with_seed(30);
    for (guint i = 0; i < 200000; i++) {
        GString *text = g_string_new(NULL);
        for (guint k = (guint)g_rand_int_range(rand, 0, 12); k > 0; k--) {
            switch (g_rand_int_range(rand, 0, 4)) {
            case 0:
                g_string_append_c(text, (char)g_rand_int(rand));
                break;
            case 1:
                g_string_append_unichar(text,
                                        hostile[g_rand_int_range(rand, 0, G_N_ELEMENTS(hostile))]);
                break;
            case 2:
                g_string_append_unichar(text, (gunichar)g_rand_int_range(rand, 0, 0xD800));
                break;
            default:
                g_string_append_c(text, (char)g_rand_int_range(rand, 0x80, 0x100));
            }
        }
        check(text->str, text->len, g_rand_boolean(rand));
        g_string_free(text, TRUE);
    }
    g_rand_free(rand);
}

/* Whatever the room: a whole number of forms, from the first on. */
static void test_cut(void)
{
    static const char text[] = "a\033b\xe2\x80\xae\xc3\xbc\\";
    g_autofree char *whole = printable(text, sizeof text - 1, TRUE);
    for (gsize room = 1; room <= strlen(whole) + 1; room++) {
        char out[64];
        memset(out, '#', sizeof out);
        g_assert_cmpuint(printable_text(out, room, text, sizeof text - 1, TRUE), ==, strlen(whole));
        g_assert_cmpuint(strlen(out), <, room);
        g_assert_true(g_str_has_prefix(whole, out));
        GString *back = decode(out);
        g_assert_cmpmem(back->str, back->len, text, back->len);
        g_string_free(back, TRUE);
    }
}

static void test_locale(void)
{
    static const struct {
        const char *all, *ctype, *lang;
        gboolean utf8;
    } rows[] = {
        {NULL, NULL, NULL, FALSE},
        {"C", NULL, "en_US.UTF-8", FALSE},
        {"", "", "en_US.UTF-8", TRUE},
        {NULL, "C.utf8", "C", TRUE},
        {NULL, NULL, "de_DE@euro", FALSE},
        {NULL, NULL, "de_DE.ISO-8859-1", FALSE},
        {"de_DE.utf-8@euro", NULL, NULL, TRUE},
        {"UTF-8", NULL, NULL, TRUE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"}, *const values[] = {
                                                                        rows[i].all, rows[i].ctype,
                                                                        rows[i].lang};
        for (guint k = 0; k < 3; k++) {
            if (values[k])
                g_setenv(names[k], values[k], TRUE);
            else
                g_unsetenv(names[k]);
        }
        g_assert_cmpint(printable_utf8(), ==, rows[i].utf8);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/printable/known", test_known);
    g_test_add_func("/printable/each-character", test_each_character);
    g_test_add_func("/printable/random-bytes", test_random_bytes);
    g_test_add_func("/printable/cut", test_cut);
    g_test_add_func("/printable/locale", test_locale);
    return g_test_run();
}
