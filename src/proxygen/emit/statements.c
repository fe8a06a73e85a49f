/* SPDX-License-Identifier: BSD-3-Clause */
/* statements.c: see statements.h. */
#include "src/proxygen/emit/statements.h"

#include <string.h>

#include "src/proxygen/emit/emit.h"

typedef enum {
    LINE,
    RULE, /* the call of a rule's function */
    COMMENT,
    BLOCK,
    ELSE,
    UNDER,
    DO,
    SWITCH,
    CASE,
} StatementKind;

typedef struct {
    StatementKind kind;
    guint number;     /* of the rule's function, or of the case */
    guint call;       /* terminal + 1; 0: none */
    char *text;       /* the line, the comment, the head of a block, a condition; NULL: none */
    Statements *body; /* NULL: it has none */
} ProxyStatement;

struct Statements {
    GArray *all; /* of ProxyStatement */
};

static void statement_clear(gpointer statement)
{
    g_free(((ProxyStatement *)statement)->text);
    statements_free(((ProxyStatement *)statement)->body);
}

Statements *statements_new(void)
{
    Statements *list = g_new(Statements, 1);
    list->all = g_array_new(FALSE, FALSE, sizeof(ProxyStatement));
    g_array_set_clear_func(list->all, statement_clear);
    return list;
}

void statements_free(Statements *list)
{
    if (!list)
        return;
    g_array_unref(list->all);
    g_free(list);
}

static const ProxyStatement *statement_at(const Statements *list, guint i)
{
    return &g_array_index(list->all, ProxyStatement, i);
}

/* Appends a statement, which takes TEXT and BODY. Returns BODY. */
static Statements *append(Statements *list, StatementKind kind, guint number, char *text,
                          Statements *body)
{
    const ProxyStatement s = {kind, number, 0, text, body};
    g_array_append_val(list->all, s);
    return body;
}

/* The text of FORMAT and the arguments behind it. */
#define FORMATTED(text)                               \
    va_list arguments;                                \
    va_start(arguments, format);                      \
    char *text = g_strdup_vprintf(format, arguments); \
    va_end(arguments)

void statements_add(Statements *list, const char *format, ...)
{
    FORMATTED(text);
    append(list, LINE, 0, text, NULL);
}

void statements_add_rule(Statements *list, guint number)
{
    append(list, RULE, number, NULL, NULL);
}

void statements_comment(Statements *list, const char *format, ...)
{
    FORMATTED(text);
    append(list, COMMENT, 0, text, NULL);
}

Statements *statements_block(Statements *list, const char *format, ...)
{
    FORMATTED(text);
    return append(list, BLOCK, 0, text, statements_new());
}

Statements *statements_else(Statements *list, const char *format, ...)
{
    FORMATTED(text);
    return append(list, ELSE, 0, text, statements_new());
}

Statements *statements_do(Statements *list, const char *condition)
{
    return append(list, DO, 0, g_strdup(condition), statements_new());
}

Statements *statements_switch(Statements *list, const char *value)
{
    return append(list, SWITCH, 0, g_strdup(value), statements_new());
}

Statements *statements_case(Statements *list, guint value)
{
    return append(list, CASE, value, NULL, statements_new());
}

void statements_under(Statements *list, Statements *body, const char *format, ...)
{
    if (statements_do_nothing(body)) {
        statements_move(list, body);
        return;
    }
    FORMATTED(text);
    append(list, UNDER, 0, text, body);
}

void statements_add_under(Statements *list, const char *head, const char *line)
{
    Statements *body = statements_new();
    statements_add(body, "%s", line);
    statements_under(list, body, "%s", head);
}

void statements_move(Statements *list, Statements *from)
{
    g_array_append_vals(list->all, from->all->data, from->all->len);
    g_array_set_clear_func(from->all, NULL); /* they are the list's now */
    statements_free(from);
}

guint statements_count(const Statements *list)
{
    return list->all->len;
}

gboolean statements_do_nothing(const Statements *list)
{
    for (guint i = 0; i < list->all->len; i++)
        if (statement_at(list, i)->kind != COMMENT)
            return FALSE;
    return TRUE;
}

gsize statements_length(const Statements *list, guint n)
{
    gsize length = 0;
    for (guint i = n; i < list->all->len; i++) {
        const ProxyStatement *s = statement_at(list, i);
        length += (s->text ? strlen(s->text) : 0) + (s->body ? statements_length(s->body, 0) : 0);
    }
    return length;
}

void statements_note_call(Statements *list, guint n, guint terminal)
{
    for (guint i = list->all->len; i-- > n;)
        if (statement_at(list, i)->kind != COMMENT) {
            g_array_index(list->all, ProxyStatement, i).call = terminal + 1;
            return;
        }
}

/* -- text -- */

/* Whether the statements are one line, which needs no braces. */
static gboolean is_line(const Statements *list)
{
    guint lines = 0, others = 0;
    for (guint i = 0; i < list->all->len; i++) {
        StatementKind kind = statement_at(list, i)->kind;
        lines += kind == LINE || kind == RULE;
        others += kind != LINE && kind != RULE && kind != COMMENT;
    }
    return lines == 1 && others == 0;
}

static void print_block(const ProxyStatement *s, GString *out, int indent, gboolean goes_on,
                        const struct SourceLines *lines)
{
    const char *head = s->kind == ELSE ? "} else" : "";
    c_text_line(out, indent, "%s%s%s%s{", head, *head && *s->text ? " " : "", s->text,
                *head || *s->text ? " " : "");
    statements_print(s->body, out, indent + 1, lines);
    if (!goes_on)
        c_text_line(out, indent, "}");
}

static void print_loop(const ProxyStatement *s, GString *out, int indent,
                       const struct SourceLines *lines)
{
    const char *brace = is_line(s->body) ? "" : " {";
    if (s->kind == DO)
        c_text_line(out, indent, "do%s", brace);
    else
        c_text_line(out, indent, "%s%s", s->text, brace);
    statements_print(s->body, out, indent + 1, lines);
    if (s->kind == DO)
        c_text_line(out, indent, "%swhile (%s);", *brace ? "} " : "", s->text);
    else if (*brace)
        c_text_line(out, indent, "}");
}

static void print_statement(const ProxyStatement *s, GString *out, int indent, gboolean goes_on,
                            const struct SourceLines *lines)
{
    switch (s->kind) {
    case LINE:
        c_text_line(out, indent, "%s", s->text);
        break;
    case RULE:
        c_text_line(out, indent, "rule_%u();", s->number);
        break;
    case COMMENT:
        c_text_comment(out, indent, "%s", s->text);
        break;
    case BLOCK:
    case ELSE:
        print_block(s, out, indent, goes_on, lines);
        break;
    case UNDER:
    case DO:
        print_loop(s, out, indent, lines);
        break;
    case SWITCH:
        c_text_line(out, indent, "switch (%s) {", s->text);
        statements_print(s->body, out, indent, lines);
        c_text_line(out, indent, "}");
        break;
    case CASE:
        c_text_line(out, indent, "case %u:", s->number);
        statements_print(s->body, out, indent + 1, lines);
        break;
    }
}

void statements_print(const Statements *list, GString *out, int indent,
                      const struct SourceLines *lines)
{
    for (guint i = 0; i < list->all->len; i++) {
        const ProxyStatement *s = statement_at(list, i);
        gboolean goes_on = i + 1 < list->all->len && statement_at(list, i + 1)->kind == ELSE;
        print_statement(s, out, indent, goes_on, lines);
        g_autofree char *comment =
            s->call && lines ? source_lines_comment(lines, s->call - 1) : NULL;
        if (comment) {
            g_string_truncate(out, out->len - 1);
            g_string_append_printf(out, "%s\n", comment);
        }
    }
}

void statements_print_function(GString *out, Statements *body, const struct SourceLines *lines,
                               const char *format, ...)
{
    FORMATTED(head);
    g_string_append_printf(out, "%s\n{\n", head);
    g_free(head);
    statements_print(body, out, 1, lines);
    g_string_append(out, "}\n\n");
    statements_free(body);
}
