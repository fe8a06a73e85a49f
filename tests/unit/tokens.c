/* SPDX-License-Identifier: BSD-3-Clause */
/* tokens.c: text of any kind as tokens of C: nothing of it can be more than the token. That
 * compilers read the same is tested where they do (tests/proxygen/injection.bats). */
#include <glib.h>
#include <string.h>

#include "../../lib/base/identifier.h"
#include "src/proxygen/emit/c-tokens.h"

/* What the phases of translation before tokens could make of it (C11, 5.1.1.2), in any encoding. */
static void assert_plain(const char *text)
{
    for (const char *p = text; *p; p++)
        g_assert_true(*p >= ' ' && *p <= '~');
    g_assert_null(strstr(text, "??"));
    g_assert_true(!*text || text[strlen(text) - 1] != '\\');
}

/* The characters of a literal, or of a list of constants, as a compiler reads them. */
static GByteArray *read_back(const char *text, char quote)
{
    GByteArray *bytes = g_byte_array_new();
    g_assert_cmpint(*text, ==, quote);
    for (const char *p = text + 1; *p;) {
        if (*p == quote && quote == '"') {
            g_assert_cmpstr(p, ==, "\""); /* the end is the end */
            return bytes;
        }
        guint8 c = (guint8)*p;
        if (*p++ == '\\') {
            c = (guint8)*p++;
            if (c == 'n')
                c = '\n';
            else if (g_ascii_isdigit(c)) {
                c = (guint8)((c - '0') * 64 + (p[0] - '0') * 8 + (p[1] - '0'));
                p += 2;
            } else
                g_assert_nonnull(strchr("\\\"'?", c));
        }
        g_byte_array_append(bytes, &c, 1);
        if (quote == '"')
            continue;
        g_assert_true(g_str_has_prefix(p, "', "));
        p += strlen("', ");
        if (strcmp(p, "0") == 0)
            return bytes;
        g_assert_cmpint(*p, ==, quote);
        p++;
    }
    g_assert_not_reached();
}

static void check_string(const char *text, gsize n)
{
    g_autofree char *token = c_token_string(text, (gssize)n);
    assert_plain(token);
    GByteArray *bytes = read_back(token, n > C_LITERAL_MOST ? '\'' : '"');
    g_assert_cmpmem(bytes->data, bytes->len, text, n);
    g_byte_array_unref(bytes);
}

/* Characters that mean something, more often than others. */
static char some_character(void)
{
    static const char special[] = "\\\"'?/*\n\r%01x(){}<>#=-!";
    if (g_test_rand_bit())
        return special[g_test_rand_int_range(0, sizeof special)];
    return (char)g_test_rand_int_range(0, 256);
}

static void test_strings(void)
{
    static const gsize lengths[] = {0, 1, 2, 3, C_LITERAL_MOST, C_LITERAL_MOST + 1};
    g_autofree char *text = g_malloc(C_LITERAL_MOST + 2);
    for (guint round = 0; round < 3000; round++) {
        gsize n = round < G_N_ELEMENTS(lengths) ? lengths[round] : round % 40;
        for (gsize i = 0; i < n; i++)
            text[i] = some_character();
        check_string(text, n);
    }
    check_string("\?\?/\?\?\?\?\"\\", 9);
    g_autofree char *whole = c_token_string("to the end", -1);
    g_assert_cmpstr(whole, ==, "\"to the end\"");
}

static void test_comments(void)
{
    char text[41];
    for (guint round = 0; round < 3000; round++) {
        for (guint i = 0; i < sizeof text - 1; i++)
            text[i] = some_character();
        text[sizeof text - 1] = '\0';
        g_autofree char *comment = c_token_comment(text),
                        *back = g_uri_unescape_string(comment, NULL);
        assert_plain(comment);
        g_assert_null(strpbrk(comment, "*/\\?"));
        if (g_utf8_validate(text, -1, NULL))
            g_assert_cmpstr(back, ==, text);
    }
    g_autofree char *plain = c_token_comment("mg.C.x -i 10, 'a b'"),
                    *path = c_token_comment("/100%*");
    g_assert_cmpstr(plain, ==, "mg.C.x -i 10, 'a b'");
    g_assert_cmpstr(path, ==, "%2F100%25%2A");
}

static void test_identifiers(void)
{
    static const char *const bad[] = {
        "",       "7",   "MPI INT",  "MPI_INT;",     "MPI_INT + (f(\"x\"), 0)",
        "system", "int", "MPI_\\\n", "MPI_\xc3\xa9", "MPI_*/"};
    g_autofree char *good = c_token_identifier("MPI_INT"),
                    *more = c_token_identifier("MPIX_C_FLOAT16");
    g_assert_cmpstr(good, ==, "MPI_INT");
    g_assert_cmpstr(more, ==, "MPIX_C_FLOAT16");
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *name = c_token_identifier(bad[i]);
        g_assert_false(c_token_is_identifier(bad[i]));
        g_assert_true(g_str_has_prefix(name, "MPI_has_no_"));
        g_assert_true(identifier_is(name, strlen(name)));
    }
    g_assert_false(identifier_is("MPI\0INT", 7));
    g_autofree char *endless = g_strnfill(100000, 'M'), *shorter = c_token_identifier(endless);
    g_assert_cmpuint(strlen(shorter), <=, IDENTIFIER_MOST);
}

static void test_numbers(void)
{
    static const struct {
        gint64 number;
        const char *text;
    } known[] = {
        {0, "0"},
        {-1, "-1"},
        {G_MAXINT32, "2147483647"},
        {G_MININT32, "-2147483648"},
        {G_MAXINT32 + G_GINT64_CONSTANT(1), "2147483648L"},
        {G_MAXINT64, "9223372036854775807L"},
        {G_MININT64, "(-9223372036854775807L - 1)"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
        g_autofree char *text = c_token_number(known[i].number);
        g_assert_cmpstr(text, ==, known[i].text);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tokens/strings", test_strings);
    g_test_add_func("/tokens/comments", test_comments);
    g_test_add_func("/tokens/identifiers", test_identifiers);
    g_test_add_func("/tokens/numbers", test_numbers);
    return g_test_run();
}
