/* SPDX-License-Identifier: BSD-3-Clause */
/* statements.h: the statements of a function, between the plan and text. Whoever makes them thinks
 * of no indentation, braces or line breaks; statements_print() lays them out. Nothing reads the
 * text of a statement again. */
#ifndef PROXYGEN_STATEMENTS_H
#define PROXYGEN_STATEMENTS_H

#include <glib.h>

struct SourceLines;

/* A list of statements in order. Whoever made it frees it; a list in another one belongs to it. */
typedef struct Statements Statements;

Statements *statements_new(void);
void statements_free(Statements *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Statements, statements_free)

/* Appends a statement without statements in it: a call, an assignment, a declaration. */
void statements_add(Statements *list, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Appends the call of a rule's function, by its number. */
void statements_add_rule(Statements *list, guint number);
/* Appends a comment. Text of a recording must pass c_token_comment() first. */
void statements_comment(Statements *list, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Appends "HEAD { … }", and returns the list within. "": a block alone. */
Statements *statements_block(Statements *list, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same, "else HEAD { … }" after a block. */
Statements *statements_else(Statements *list, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Appends "do { … } while (CONDITION);", and returns the list within. */
Statements *statements_do(Statements *list, const char *condition);
/* Appends "switch (VALUE) { … }", and returns the list for its cases. */
Statements *statements_switch(Statements *list, const char *value);
/* Appends a label to the list of a switch, and returns the list for the statements behind it. */
Statements *statements_case(Statements *list, guint value);
/* Appends "HEAD BODY" for a head such as "for (…)". Takes BODY. Braces come where BODY is more than
 * one line. If BODY does nothing, its comments are appended alone. */
void statements_under(Statements *list, Statements *body, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* The same with a single line. */
void statements_add_under(Statements *list, const char *head, const char *line);

/* Moves all statements of FROM, which it frees, to the end of LIST. */
void statements_move(Statements *list, Statements *from);
/* The number of statements and comments. */
guint statements_count(const Statements *list);
/* Whether there are no statements beside comments. */
gboolean statements_do_nothing(const Statements *list);
/* Characters of all statements behind the first N, without indentation. */
gsize statements_length(const Statements *list, guint n);
/* The last statement behind the first N of a list, if there is one, belongs to a call of TERMINAL:
 * the source lines of this come with it. */
void statements_note_call(Statements *list, guint n, guint terminal);

/* Appends a function, and an empty line: "HEAD { … }". Takes BODY. */
void statements_print_function(GString *out, Statements *body, const struct SourceLines *lines,
                               const char *format, ...) G_GNUC_PRINTF(4, 5);
/* Appends the text of the statements. INDENT counts levels of four blanks. LINES has the comments
 * for calls (source-lines.c); NULL: they get none. */
void statements_print(const Statements *list, GString *out, int indent,
                      const struct SourceLines *lines);

#endif
