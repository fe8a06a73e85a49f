/* SPDX-License-Identifier: BSD-3-Clause */
/* c-tokens.c: see c-tokens.h. */
#include "src/proxygen/emit/c-tokens.h"

#include <string.h>

#include "lib/base/identifier.h"

static gboolean is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

/* Names of the program itself and keywords never look like names of MPI. */
gboolean c_token_is_identifier(const char *name)
{
    return identifier_is(name, strlen(name)) && g_str_has_prefix(name, C_NAME_PREFIX);
}

char *c_token_identifier(const char *name)
{
    if (c_token_is_identifier(name))
        return g_strdup(name);
    GString *safe = g_string_new(C_NAME_PREFIX "_has_no_");
    for (const char *p = name; *p && safe->len < IDENTIFIER_MOST; p++)
        g_string_append_c(safe, identifier_letter(*p) || identifier_digit(*p) ? *p : '_');
    return g_string_free(safe, FALSE);
}

char *c_token_function_name(const char *name)
{
    GString *safe = g_string_new("");
    for (const char *p = name; *p && safe->len < C_NAME_MOST; p++)
        if (g_ascii_isalnum(*p))
            g_string_append_c(safe, *p);
        else if (safe->len > 0 && safe->str[safe->len - 1] != '_')
            g_string_append_c(safe, '_');
    while (safe->len > 0 && safe->str[safe->len - 1] == '_')
        g_string_truncate(safe, safe->len - 1);
    if (!g_ascii_isalpha(*safe->str))
        g_string_prepend(safe, "calls_");
    return g_string_free(safe, FALSE);
}

char *c_token_number(gint64 number)
{
    /* C has no negative constants, and the positive part of this one is no long. */
    if (number == G_MININT64)
        return g_strdup_printf("(%" G_GINT64_FORMAT "L - 1)", number + 1);
    const char *suffix = number > G_MAXINT32 || number < G_MININT32 ? "L" : "";
    return g_strdup_printf("%" G_GINT64_FORMAT "%s", number, suffix);
}

/* Appends a character between QUOTEs. Octal escapes have three digits, so the next character cannot
 * extend them. TRIGRAPH: the previous character is a question mark. */
static void append_character(GString *s, char c, char quote, gboolean trigraph)
{
    if (c == quote || c == '\\')
        g_string_append_printf(s, "\\%c", c);
    else if (c == '\n')
        g_string_append(s, "\\n");
    else if (c == '?' && trigraph)
        g_string_append(s, "\\?");
    else if (is_printable(c))
        g_string_append_c(s, c);
    else
        g_string_append_printf(s, "\\%03o", (unsigned char)c);
}

/* A list of such constants. Numbers above 127 would be too large for a signed char. */
static char *character_list(const char *text, gsize length)
{
    GString *s = g_string_new("");
    for (gsize i = 0; i < length; i++) {
        g_string_append_c(s, '\'');
        append_character(s, text[i], '\'', FALSE);
        g_string_append(s, "', ");
    }
    g_string_append_c(s, '0');
    return g_string_free(s, FALSE);
}

char *c_token_string(const char *text, gssize n)
{
    gsize length = n < 0 ? strlen(text) : (gsize)n;
    if (length > C_LITERAL_MOST)
        return character_list(text, length);
    GString *s = g_string_new("\"");
    for (gsize i = 0; i < length; i++)
        append_character(s, text[i], '"', i > 0 && text[i - 1] == '?');
    g_string_append_c(s, '"');
    return g_string_free(s, FALSE);
}

char *c_token_comment(const char *text)
{
    GString *s = g_string_new("");
    for (const char *p = text; *p; p++)
        if (is_printable(*p) && !strchr("*/\\?%", *p))
            g_string_append_c(s, *p);
        else
            g_string_append_printf(s, "%%%02X", (unsigned char)*p);
    return g_string_free(s, FALSE);
}
