/* SPDX-License-Identifier: BSD-3-Clause */
/* emitter.h: what the files of this folder share while they turn the plan into C. */
#ifndef PROXYGEN_EMITTER_H
#define PROXYGEN_EMITTER_H

#include "src/proxygen/plan/passes.h"
#include "src/proxygen/model/model.h"
#include "c_tokens.h"

/* Parts of the generated program that are there only when something uses them; runtime has their
 * text. */
typedef enum {
    HELPER_SET_NULL,
    HELPER_HEAP,
    HELPER_CUDA,
    HELPER_MAPPED,
    HELPER_RANK_IN,
    HELPER_HIDE,
    HELPER_HIDE_COMPLETED,
    HELPER_ACTIVE,
    HELPER_GATHER,
    HELPER_NULL_REQUESTS,
    HELPER_SCRATCH,
    HELPER_SCRATCH_FOUND,
    HELPER_NO_FILE,
    HELPER_PORTS,
    HELPER_PORT_TELL,
    HELPER_PORT_WAIT,
    HELPER_STATUS,
    HELPER_STATUSES,
    HELPER_SPAWN,
    HELPER_MISSING,
    HELPER_JOIN_SOCKET,
    HELPER_TURNS,
    HELPER_RANK_OF_LAUNCHER,
    HELPER_UNKNOWN_BUFFER,
    HELPER_UNUSED_BUFFER,
    HELPER_PLACES,
    HELPER_PLACE_IN,
    HELPER_AWAIT_PLACES,
    HELPER_BEGIN,
    HELPER_EMPTY_THREAD,
    HELPER_JOIN_THREAD,
    HELPER_SHARED_MAKE,
    HELPER_SHARED_USE,
    HELPER_SHARED_MEMORY,
    HELPER_SHARED_END,
    HELPER_SHARED_REQUEST,
    HELPER_SHARED_DONE,
    HELPER_GRAPH,
    HELPER_AIM_INIT,
    HELPER_AIM_INIT_C,
    HELPER_AIM_START,
    HELPER_AIM_STARTALL,
    HELPER_AIM_FREE,
    HELPERS
} Helper;

typedef struct Tables Tables;

typedef struct {
    Plan *plan;
    CallPattern *call;   /* scratch */
    const char *linkage; /* "static " in one file, "" in several */
    gboolean needs[HELPERS];

    /* of the file being written */
    GString *definitions; /* tables and lists that functions need, to stand before them */
    GHashTable *tables;   /* type and contents -> name */

    /* of the function being written */
    GHashTable *locals; /* name -> Local */
    GPtrArray *local_order;

    /* of the call being written */
    GPtrArray *before, *after; /* statements, owned strings */
    /* numbers that go to a table (row_tables.h); NULL: they stand in the text */
    struct ColumnWriter *columns;
    /* what to write for the source of a pinned receive; NULL: as recorded */
    const char *source;

    /* of the program */
    guint n_tables;            /* names given so far */
    guint n_names;             /* rule functions */
    Tables *lists;             /* NULL: all is code */
    gint64 max_statuses;       /* entries of the longest array of statuses */
    GHashTable *findings;      /* terminal -> number of its next_found function */
    GHashTable *ports;         /* port name as recorded -> PortName (outside_names.h) */
    GPtrArray *ports_in_order; /* the same, by number */
    GHashTable *ports_given;   /* terminal that gave some -> their numbers (outside_names.c) */
    GHashTable *ports_listed;  /* those of them whose calls gave different ones */
    GHashTable *pinned;        /* terminal -> number of its next_source function */
    GHashTable *graphs;        /* terminal -> number of its next_neighbours function */
    GHashTable *away;          /* communicators that lead to spawned processes */
    gboolean threads;          /* more than one thread somewhere */
    struct AlikeRules *alike;  /* of functions of rules; NULL: each has its own */
    struct RowLoops *streams;  /* NULL: none */
} Emitter;

/* Strings that functions return are newly allocated, but for those that are const. INDENT counts
 * levels of four blanks. */

/* -- c_text.c -- */
/* Appends a statement or a comment, indented and wrapped. */
void write_line(GString *out, int indent, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* What a recording says goes through c_comment() first. */
void write_comment(GString *out, int indent, const char *format, ...) G_GNUC_PRINTF(3, 4);
const char *count_type(guint64 n); /* of a variable that counts to N */

/* -- literal.c -- */
/* A word as a constant: a number, or a name of MPI's. */
char *literal(const Plan *plan, gint64 word);
/* The name of a constant table with these contents, defined once a file. DIMENSIONS as in "[4]". */
char *literal_table(Emitter *e, const char *ctype, const char *name, const char *dimensions,
                    const char *contents);
/* The keys of a table terminal -> number, by number; the caller frees the list. */
GList *literal_order(GHashTable *numbers);

/* -- locals.c -- */
/* Begins and ends a function: locals_end() appends the declarations of its variables. */
void locals_begin(Emitter *e);
void locals_end(Emitter *e, GString *out, int indent);
/* A variable of the function: its name, which is NAME unless that is taken. LENGTH 0: a scalar. */
const char *locals_variable(Emitter *e, const char *ctype, const char *name, gint64 length);
/* The name of a static array for elements that are known at run time only: filled each time, always
 * with the same. Calls with equal elements have one, but not two parameters of a call. */
const char *locals_static_array(Emitter *e, const char *ctype, const char *param, gint64 n,
                                const char *elements);

/* -- expression.c: words as C expressions -- */
char *expression_number(Emitter *e, const CallPattern *c, Word w);
char *expression_handle(Emitter *e, WendKind kind, gint64 word);
/* A value of KIND that is no handle, and not the null handle either. */
char *expression_invalid(Emitter *e, WendKind kind);
/* An argument of a call: one that Wend has never seen made (freed before, or no handle at all), and
 * that the library refused, is no handle in the proxy either. */
char *expression_handle_of(Emitter *e, const CallPattern *c, WendKind kind, gint64 word);
char *expression_pointer(Emitter *e, const CallPattern *c, const Word *segment_and_offset);
char *expression_address(Emitter *e, const CallPattern *c, const Word *four, const char *ctype);
/* The place that a one-sided operation goes to. */
char *expression_target(Emitter *e, const CallPattern *c, const Arg *arg);
char *expression_bits(Emitter *e, const char *group, gint64 word);
char *expression_segment(Emitter *e, gint64 segment); /* a pointer to its offset 0 */
/* A value by rank for the ranks in the set; VALUES in their order. */
char *expression_by_rank(Emitter *e, RankList ranks, const gint64 *values, const char *ctype,
                         const char *name);
/* N bytes (-1: up to the NUL) as a char pointer. A long one is a table. */
char *expression_string(Emitter *e, const char *text, gssize n);

/* -- emit_call.c -- */
/* Appends the call that TERMINAL is. Gives the number of statements. */
guint emit_call(Emitter *e, GString *out, int indent, guint terminal);
/* "MPI_Send(…)" and what must be done before and after it (e->before, e->after). */
char *emit_call_expression(Emitter *e, const CallPattern *c);
/* The request array of a Wait or Test, as an lvalue of pointer type. */
char *emit_request_array(Emitter *e, const CallPattern *c, const Arg *arg);

/* -- emit_filled.c -- */
/* An array of N elements that a call reads, whose VALUES are of RANKS in their order, N of each:
 * the call of a function that fills it the first time, by loops ("array_of_displacements_3()").
 * NULL: that takes more text than the elements. CONSTANT: it gives a pointer to const. */
char *emit_filled_by_loops(Emitter *e, const char *ctype, const char *name, gboolean constant,
                           RankList ranks, const gint64 *values, gint64 n);
/* Likewise of handles: an array that loops before the call fill. */
char *emit_filled_handles(Emitter *e, const CallPattern *c, const Arg *arg);

/* -- emit_special.c: the few functions that need more than their line of the spec -- */
/* TRUE if it wrote the call itself. */
gboolean emit_special_call(Emitter *e, GString *out, int indent, const CallPattern *c,
                           guint *statements);
/* What stands for an argument, or NULL for the usual. */
char *emit_special_argument(Emitter *e, const CallPattern *c, guint index);

/* -- wildcard_sources.c -- */
/* "next_source_3()": the next source of that call. */
char *wildcard_source(Emitter *e, const Wildcard *wildcard);
void emit_wildcard_sources(Emitter *e, GString *declarations, GString *definitions);

/* -- emit_wildcard.c -- */
/* Appends a receive from any source that is pinned. Gives the number of statements. */
guint emit_wildcard(Emitter *e, GString *out, int indent, const Wildcard *wildcard, guint terminal);

/* -- emit_shared.c -- */
/* What must come before a call, or after it, because several threads use what it names
 * (plan_threads.h). OF_SEVERAL: it completes some of its requests. */
guint emit_shared(Emitter *e, GString *out, int indent, guint terminal, gboolean after,
                  gboolean of_several);
/* Waits for the requests of several threads that use the memory (plan_threads.h); gives the number
 * of statements. */
guint emit_borrowed(Emitter *e, GString *out, int indent, gint64 segment);

/* -- emit_terminal.c -- */
/* Appends the call with all that belongs to it, as a wildcard if it is one; gives the number of
 * statements. */
guint emit_terminal(Emitter *e, GString *out, int indent, guint terminal);

/* -- emit_choice.c: calls that complete some of a set -- */
guint emit_choice(Emitter *e, GString *out, int indent, const Choice *choice, guint terminal,
                  guint64 repeats);
void emit_loop(Emitter *e, GString *out, int indent, guint rule);

/* -- emit_rule.c -- */
/* Is there more to the rule than its symbols one after the other? */
gboolean emit_rule_is_code(const Emitter *e, guint rule);
/* Functions that a rule becomes: 1, or for a long one several and, last, the one that calls
 * them. */
guint emit_rule_parts(const Emitter *e, guint rule);
/* Appends one of them, the definitions it needs before it. */
void emit_rule_part(Emitter *e, GString *out, guint rule, guint part);
/* Appends N symbols as statements. */
void emit_symbols(Emitter *e, GString *out, int indent, guint rule, const WendSymbol *symbols,
                  guint first, guint n);
char *emit_rule_name(Emitter *e, guint rule);
char *emit_ranks_text(const Plan *plan, RankList set); /* "ranks 0-3, 7" */
/* A C condition that is true for the ranks of SET, or NULL when a table is simpler. */
char *emit_rank_condition(RankList set);

/* -- emit_request_slots.c: where requests are, if that differs by rank or in time -- */
void emit_request_slots(Emitter *e, GString *declarations, GString *definitions);

/* -- emit_tables.c: large programs -- */
gboolean emit_tables_wanted(const Plan *plan);
/* Characters, about, that the plan's rules take as tables. */
gdouble emit_tables_text(const Plan *plan);
/* Begins: all calls are written. Then code can be, which may call rules by name; and then the
 * tables, as texts for one file each. */
void emit_tables_begin(Emitter *e);
void emit_tables_emit(Emitter *e, GString *declarations, GPtrArray *sections);
void emit_tables_free(Emitter *e);
/* Is the rule in a table? Then it is no function, but for its name. */
gboolean emit_tables_hold(const Emitter *e, guint rule);

/* -- emit_callbacks.c -- */
void emit_callbacks(Emitter *e, GString *declarations, GString *definitions);

#endif
