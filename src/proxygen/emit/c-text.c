/* SPDX-License-Identifier: BSD-3-Clause */
/* c-text.c: lines of C with indentation and line breaks. */
#include <string.h>

#include "src/proxygen/emit/emit.h"

enum { WIDTH = 110 };

const char *c_text_count_type(guint64 n)
{
    return n > G_MAXINT32 ? "long" : "int";
}

/* Appends TEXT in lines of at most WIDTH characters, if there is a comma, an operator or a blank to
 * break at. Never breaks a literal. */
static void wrapped(GString *out, int indent, const char *text, const char *lead,
                    const char *next_lead)
{
    g_string_append_printf(out, "%*s%s", indent * 4, "", lead);
    gsize column = (gsize)indent * 4 + strlen(lead), hang = (gsize)indent * 4;
    gsize length = strlen(text);
    while (*text) {
        gsize room = WIDTH > column ? WIDTH - column : 1, cut = 0;
        if (length <= room) {
            g_string_append(out, text);
            break;
        }
        char quote = '\0';
        for (gsize i = 0; i < length; i++) {
            if (i >= room && cut)
                break;
            if (quote && text[i] == '\\' && i + 1 < length)
                i++;
            else if (quote)
                quote = text[i] == quote ? '\0' : quote;
            else if (!*next_lead && (text[i] == '"' || text[i] == '\''))
                quote = text[i];
            if (!quote && text[i] == ' ' && i + 1 < length && i > 0)
                if (*next_lead || text[i - 1] == ',' || text[i - 1] == ';'
                    || (i >= room / 2 && text[i - 1] != '?' && text[i - 1] != ':'))
                    cut = i;
        }
        if (!cut) {
            g_string_append(out, text);
            break;
        }
        g_string_append_len(out, text, (gssize)cut);
        text += cut + 1;
        length -= cut + 1;
        if (*next_lead) {
            g_string_append_printf(out, "\n%*s%s", indent * 4, "", next_lead);
            column = hang + strlen(next_lead);
        } else {
            g_string_append_printf(out, "\n%*s", indent * 4 + 8, "");
            column = hang + 8;
        }
    }
    if (!*next_lead)
        g_string_append_c(out, '\n');
}

void c_text_line(GString *out, int indent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (!*text)
        g_string_append_c(out, '\n');
    else
        wrapped(out, indent, text, "", "");
}

void c_text_comment(GString *out, int indent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    wrapped(out, indent, text, "/* ", " * ");
    g_string_append(out, " */\n");
}

void c_text_constant(GString *out, gsize *line, const char *text)
{
    gsize length = strlen(text) + 1;
    if (*line + length > 120) {
        g_string_append(out, "\n    ");
        *line = 4;
    } else if (*line > 4) {
        g_string_append_c(out, ' ');
        length++;
    }
    g_string_append(out, text);
    g_string_append_c(out, ',');
    *line += length;
}
