/* SPDX-License-Identifier: BSD-3-Clause */
/* emitter.h: the interface between the files of this folder, which turn the plan into C. */
#ifndef PROXYGEN_EMITTER_H
#define PROXYGEN_EMITTER_H

#include "src/proxygen/plan/passes.h"
#include "src/proxygen/model/model.h"
#include "src/proxygen/runtime/helper-table.h"
#include "c_tokens.h"
#include "statements.h"

typedef struct Tables Tables;

/* A call as C. */
typedef struct {
    Statements *before, *after;
    char *expression; /* "MPI_Send(…)" */
    char *requests;   /* its array of requests; NULL: it has none */
} CallCode;

typedef struct {
    Plan *plan;
    CallPattern *call;       /* scratch */
    const char *linkage;     /* "static " in one file, "" in several */
    gboolean needs[HELPERS]; /* helpers that are called (runtime/) */
    gboolean handles;        /* there are variables of handles, which set_null() sets */
    gboolean begins;         /* proxy_begin() is called */

    /* for the file that is written */
    GString *definitions; /* tables and lists that the functions need before them */
    GHashTable *tables;   /* type and contents -> name */

    /* for the function that is written */
    GHashTable *locals; /* name -> Local */
    GPtrArray *local_order;

    /* for the call that is written */
    CallCode *code; /* NULL: none is written */
    /* numbers that go to a table (row_tables.h); NULL: they are in the text */
    struct ColumnWriter *columns;
    const char *argument; /* the parameter that is written; NULL: none */
    /* the expression for the source of a pinned receive; NULL: the recorded source */
    const char *source;

    /* for the program */
    guint n_tables; /* number of table names used so far */
    guint n_names;  /* number of rule functions */
    Tables *lists;  /* NULL: all calls are code */
    /* A table of strings: calls that differ in these alone then differ in numbers. NULL: they are
     * in the text. */
    GPtrArray *strings;
    GHashTable *string_indices; /* constant of C, which STRINGS owns -> its index there */
    gint64 max_statuses;        /* entries of the longest array of statuses */
    GHashTable *findings;       /* terminal -> number of its next_found function */
    GHashTable *ports;          /* recorded name of a port -> PortName (outside_names.h) */
    GPtrArray *ports_in_order;  /* the same, by number */
    /* terminal whose calls gave ports -> their numbers (outside_names.c) */
    GHashTable *ports_given;
    GHashTable *ports_listed; /* those terminals whose calls gave different ports */
    GHashTable *pinned;       /* terminal -> number of its next_source function */
    GHashTable *graphs;       /* terminal -> number of its next_neighbours function */
    GHashTable *away;         /* communicators with spawned processes */
    gboolean threads;         /* some process has more than one thread */
    /* groups of rules that share a function; NULL: each rule has its own */
    struct AlikeRules *alike;
    struct RowLoops *streams;  /* NULL: none */
    struct SourceLines *lines; /* of the application (source_lines.h); NULL: none */
} Emitter;

/* Functions below return newly allocated strings, unless the type is const. INDENT counts levels of
 * four blanks. */

/* -- c_text.c -- */
/* Appends a line or a comment, indented and wrapped. */
void c_text_line(GString *out, int indent, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Text of a recording must pass c_token_comment() first. */
void c_text_comment(GString *out, int indent, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Appends a constant and a comma to the initializer of a table, whose current line has LINE
 * characters. */
void c_text_constant(GString *out, gsize *line, const char *text);
const char *c_text_count_type(guint64 n); /* the type of a variable that counts to N */

/* -- locals.c -- */
/* A word as a constant: a number, or a name of MPI. */
char *emit_literal(const Plan *plan, gint64 word);
/* The name of a constant table with these contents, which is defined once in a file. DIMENSIONS is
 * like "[4]". */
char *emit_literal_table(Emitter *e, const char *ctype, const char *name, const char *dimensions,
                         const char *contents);
/* The table of the current rank, as an expression: its name, or an element of a table of tables.
 * TABLES are the names for the ranks from FIRST on; NULL: none. The tables are called NAME. */
char *emit_literal_by_rank(Emitter *e, const char *ctype, const char *name, guint first,
                           const GPtrArray *tables);
/* CONSTANT, a string of C, as an element of the program's table of strings (e->strings), while a
 * row is written. Takes CONSTANT. */
char *emit_literal_string(Emitter *e, char *constant);
/* The number of a terminal in a table terminal -> number, to which it is added. */
guint emit_number_of(GHashTable *numbers, guint terminal);
/* The keys of such a table, ordered by number. The caller frees the list. */
GList *emit_literal_order(GHashTable *numbers);

/* Begin and end a function. locals_end() appends the declarations of its variables. */
void locals_begin(Emitter *e);
void locals_end(Emitter *e, Statements *out);
/* The name of a variable of the function. It is NAME, unless that is taken. LENGTH is 0 for a
 * scalar. */
const char *locals_variable(Emitter *e, const char *ctype, const char *name, gint64 length);
/* The name of a static array for elements that are known at run time only. It is filled each time
 * with the same values. Calls with equal elements share an array, but two parameters of one call do
 * not. */
const char *locals_static_array(Emitter *e, const char *ctype, const char *param, gint64 n,
                                const char *elements);

/* -- expression.c: words as C expressions -- */
char *expression_number(Emitter *e, const CallPattern *c, Word w);
char *expression_handle(Emitter *e, WendKind kind, gint64 word);
/* A value of KIND that is neither a handle nor the null handle. */
char *expression_invalid(Emitter *e, WendKind kind);
/* The expression for a handle argument. If the library refused a call with a handle whose making
 * Wend has not seen (it was freed before, or is no handle), it is an invalid handle. */
char *expression_handle_of(Emitter *e, const CallPattern *c, WendKind kind, gint64 word);
char *expression_pointer(Emitter *e, const CallPattern *c, const Word *segment_and_offset);
/* The address that is OFFSET before POINTER. */
char *expression_beginning(Emitter *e, const CallPattern *c, const char *pointer, Word offset);
char *expression_address(Emitter *e, const CallPattern *c, const Word *four, const char *ctype);
/* The displacement at the target of a one-sided operation. */
char *expression_target(Emitter *e, const CallPattern *c, const Arg *arg);
char *expression_bits(Emitter *e, const char *group, gint64 word);
char *expression_segment(Emitter *e, gint64 segment); /* a pointer to its offset 0 */
/* A value that differs by rank. VALUES are in the order of RANKS. */
char *expression_by_rank(Emitter *e, RankList ranks, const gint64 *values, const char *ctype,
                         const char *name);
/* The same as an operand, in parentheses where an operator would bind more strongly. */
char *expression_operand_by_rank(Emitter *e, RankList ranks, const gint64 *values,
                                 const char *ctype, const char *name);
/* N bytes (-1: up to the NUL) as a char pointer. Long text becomes a table. */
char *expression_string(Emitter *e, const char *text, gssize n);

/* -- emit_call.c -- */
/* Appends the call of TERMINAL. */
void emit_call(Emitter *e, Statements *out, guint terminal);
/* Appends the call with all its statements, as a wildcard if it is one. */
void emit_terminal(Emitter *e, Statements *out, guint terminal);
/* The parts of the call, which the caller clears. */
CallCode emit_call_code(Emitter *e, const CallPattern *c);
void emit_call_code_clear(CallCode *code);

/* -- emit-arrays.c -- */
/* An array of numbers or handles that a call reads, as an expression. */
char *emit_number_array(Emitter *e, const CallPattern *c, const Arg *arg);
char *emit_handle_array(Emitter *e, const CallPattern *c, const Arg *arg);
/* The array of a call on several requests, as an lvalue of pointer type. */
char *emit_request_array(Emitter *e, const CallPattern *c, const Arg *arg);
/* An array that the call fills. */
char *emit_out_array(Emitter *e, const CallPattern *c, guint index);

/* -- emit_special.c: functions that need more than their line of the spec -- */
/* Writes the call if it needs special code. Returns whether it did. */
gboolean emit_special_call(Emitter *e, Statements *out, const CallPattern *c);
/* The expression of a special argument. NULL if the argument is an ordinary one. */
char *emit_special_argument(Emitter *e, const CallPattern *c, guint index);

/* Appends the statements before a call, or after it, if several threads use its objects
 * (plan_threads.c). OF_SEVERAL: the call completes some of its requests. */
void emit_shared(Emitter *e, Statements *out, guint terminal, gboolean after, gboolean of_several);
/* Appends a wait for the requests of several threads that use the memory (plan_threads.c). */
void emit_borrowed(Emitter *e, Statements *out, gint64 segment);

/* -- emit_sources.c: what the run decided, call by call -- */
/* Appends a function "NAME_3(void)" with the definitions that it needs, and its declaration. Takes
 * BODY. */
void emit_next_function(Emitter *e, GString *declarations, GString *definitions, const char *name,
                        guint number, Statements *body);
/* "next_source_3()", which returns the next source of that call. */
char *emit_wildcard_source(Emitter *e, const Wildcard *wildcard);
void emit_wildcard_sources(Emitter *e, GString *declarations, GString *definitions);
/* A call that makes a graph as one of MPI_Dist_graph_create_adjacent. NULL: it stays as it is. */
char *emit_graph_expression(Emitter *e, const CallPattern *c);
/* Appends functions that return the recorded neighbours of the next call. */
void emit_graphs(Emitter *e, GString *declarations, GString *definitions);

/* -- emit_choice.c: calls that complete some of several requests -- */
void emit_choice(Emitter *e, Statements *out, const Choice *choice, guint terminal,
                 guint64 repeats);
void emit_loop(Emitter *e, Statements *out, guint rule);

/* -- emit_rule.c -- */
/* Whether the rule needs other code than its symbols in order. */
gboolean emit_rule_is_code(const Emitter *e, guint rule);
/* The number of functions of a rule: 1, or several for a long rule, of which the last calls the
 * others. */
guint emit_rule_parts(const Emitter *e, guint rule);
/* Appends one of these functions, after the definitions that it needs. */
void emit_rule_part(Emitter *e, GString *out, guint rule, guint part);
/* Appends N symbols as statements. */
void emit_symbols(Emitter *e, Statements *out, guint rule, const WendSymbol *symbols, guint first,
                  guint n);
/* Appends a call of the rule's function. */
void emit_rule_call(Emitter *e, Statements *out, guint rule);
char *emit_rule_name(Emitter *e, guint rule);
char *emit_ranks_text(const Plan *plan, RankList set); /* "ranks 0-3, 7" */
/* A C condition that holds for the ranks of SET. NULL if a table is simpler. */
char *emit_rank_condition(RankList set);

/* -- variable_names.c: request slots that differ by rank or in time -- */
void emit_request_slots(Emitter *e, GString *declarations, GString *definitions);

/* -- emit_tables.c: large programs -- */
gboolean emit_tables_wanted(const Plan *plan);
/* The approximate number of characters of the plan's rules as tables. */
gdouble emit_tables_text(const Plan *plan);
/* Begins the tables, after all calls are written. Code may then be written, which calls rules by
 * name. Last come the tables, as one text for each file. */
void emit_tables_begin(Emitter *e);
void emit_tables_emit(Emitter *e, GString *declarations, GPtrArray *sections);
void emit_tables_free(Emitter *e);
/* Whether the rule is in a table. It then has a name but no function. */
gboolean emit_tables_hold(const Emitter *e, guint rule);

/* -- emit_callbacks.c -- */
void emit_callbacks(Emitter *e, GString *declarations, GString *definitions);

#endif
