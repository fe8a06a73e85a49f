/* SPDX-License-Identifier: BSD-3-Clause */
/* emit.h: the interface of this folder, which turns the plan into C, and between its files. */
#ifndef PROXYGEN_EMIT_H
#define PROXYGEN_EMIT_H

#include "lib/base/error.h"
#include "src/proxygen/plan/passes.h"
#include "src/proxygen/model/model.h"
#include "src/proxygen/runtime/helper-table.h"
#include "src/proxygen/emit/c-tokens.h"
#include "src/proxygen/emit/statements.h"

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
    /* numbers that go to a table (row-tables.c); NULL: they are in the text */
    struct ColumnWriter *columns;
    const char *argument; /* the parameter that is written; NULL: none */
    /* the expression for the source of a pinned receive; NULL: the recorded source */
    const char *source;

    /* for the program */
    guint n_tables;       /* number of table names used so far */
    guint n_names;        /* number of rule functions */
    struct Tables *lists; /* NULL: all calls are code */
    /* A table of strings: calls that differ in these alone then differ in numbers. NULL: they are
     * in the text. */
    GPtrArray *strings;
    GHashTable *string_indices; /* constant of C, which STRINGS owns -> its index there */
    gint64 max_statuses;        /* entries of the longest array of statuses */
    GHashTable *findings;       /* terminal -> number of its next_found function */
    GHashTable *ports;          /* recorded name of a port -> PortName (outside-names.c) */
    GPtrArray *ports_in_order;  /* the same, by number */
    /* terminal whose calls gave ports -> their numbers (outside-names.c) */
    GHashTable *ports_given;
    GHashTable *ports_listed; /* those terminals whose calls gave different ports */
    GHashTable *pinned;       /* terminal -> number of its next_source function */
    GHashTable *graphs;       /* terminal -> number of its next_neighbours function */
    GHashTable *away;         /* communicators with spawned processes */
    gboolean threads;         /* some process has more than one thread */
    /* groups of rules that share a function; NULL: each rule has its own */
    struct AlikeRules *alike;
    struct RowLoops *streams;  /* NULL: none */
    struct SourceLines *lines; /* of the application (source-lines.c); NULL: none */
} Emitter;

/* Functions below return newly allocated strings, unless the type is const. INDENT counts levels of
 * four blanks. */

/* -- c-text.c -- */
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

/* -- variable-names.c: the C names of the variables of handles and requests -- */

/* The C type of a handle, the name of its arrays, its null constant, and its name in the functions
 * that convert it from Fortran (NULL: it has none). */
typedef struct {
    WendKind kind;
    const char *ctype, *name, *null, *in_f2c;
} HandleVariable;
const HandleVariable *variable_name_handle_kind(WendKind kind);
const char *variable_name_handle_ctype(WendKind kind);
const char *variable_name_handle_null(WendKind kind);

/* "comm" or "comm_of_thread_2"; newly allocated, as are all below. */
char *variable_name_array(WendKind kind, guint thread);
/* "", or "_of_thread_2" for a further thread. */
char *variable_name_suffix(guint thread);
/* "comm[3]" for a handle of thread 0, "comm_of_thread_2[3]" for one of thread 2. */
char *variable_name_of_handle(Emitter *e, WendKind kind, gint64 handle);
/* The variable of a request on the RANKS that make a call: "request[3]", or "request[at[3]]" if the
 * slot differs (request-slots.c). */
char *variable_name_of_request(Emitter *e, gint64 request, RankList ranks);
/* The statement before a call that makes the request, "at[3] = next_slot(3);", or NULL if the
 * request keeps its slot. */
char *variable_name_of_request_moves(Emitter *e, gint64 request, RankList ranks);
/* A pointer to the first slot of a direct list. */
char *variable_name_of_list(Emitter *e, const RequestList *list, RankList ranks);
/* The tables of request slots that differ by rank or in time. */
void emit_request_slots(Emitter *e, GString *declarations, GString *definitions);

/* -- row-tables.c: calls that differ in numbers, with a row of numbers each -- */

enum { COLUMN_NAME = 32 };
typedef struct {
    guint first; /* index of its first number in a row as it was written */
    gboolean by_rank;
    guint low, width;       /* if by_rank: one number for each rank from LOW on */
    const char *argument;   /* the parameter that it is for; NULL: none */
    gint place;             /* index of its numbers in a row as it is kept; -1 if all rows agree */
    gboolean kept;          /* FALSE: an earlier column has the same numbers */
    char name[COLUMN_NAME]; /* of its place, a constant in the program; "": none */
} Column;

/* A row that is being written. */
typedef struct ColumnWriter {
    gboolean by_rank; /* numbers that differ by rank are columns, too */
    GArray *columns;  /* of Column: appended the first time, else looked up */
    GArray *numbers;  /* of gint64 */
    const char *row;  /* the variable of the proxy that has the row; NULL: the first time */
    gboolean alone;   /* a row is a single number, which ROW is */
} ColumnWriter;

/* Chooses the columns to keep. VALUES has N_NUMBERS for each row. Sets PLACE and KEPT of the
 * columns, and returns the length of a row as it is kept. */
guint row_tables_keep(GArray *columns, const GArray *values, guint n_numbers);
/* Gives the columns the names of their arguments, "COUNT" and "DEST_2". They are upper case, since
 * variables of the program are lower case. */
void row_tables_name(GArray *columns);
/* Appends the definition of the names: "enum { COUNT, DEST };". */
void row_tables_define(Statements *out, const GArray *columns);

/* While a row is written (e->columns), a number that may differ in other rows. NULL: it is equal in
 * all rows, and stays in the text. */
char *column_of_number(Emitter *e, gint64 value);
/* The same by rank. VALUES are of RANKS. */
char *column_of_ranks(Emitter *e, RankList ranks, const gint64 *values);
/* An index in one of the proxy's arrays: a number, or that of a row while one is written. */
char *column_index(Emitter *e, gint64 place);

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

/* -- emit-call.c -- */
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

/* -- emit-special.c: functions that need more than their line of the spec -- */
/* Writes the call if it needs special code. Returns whether it did. */
gboolean emit_special_call(Emitter *e, Statements *out, const CallPattern *c);
/* The expression of a special argument. NULL if the argument is an ordinary one. */
char *emit_special_argument(Emitter *e, const CallPattern *c, guint index);

/* Appends the statements before a call, or after it, if several threads use its objects
 * (plan-threads.c). OF_SEVERAL: the call completes some of its requests. */
void emit_shared(Emitter *e, Statements *out, guint terminal, gboolean after, gboolean of_several);
/* Appends a wait for the requests of several threads that use the memory (plan-threads.c). */
void emit_borrowed(Emitter *e, Statements *out, gint64 segment);

/* -- emit-sources.c: what the run decided, call by call -- */
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

/* -- emit-choice.c: calls that complete some of several requests -- */
void emit_choice(Emitter *e, Statements *out, const Choice *choice, guint terminal,
                 guint64 repeats);
void emit_loop(Emitter *e, Statements *out, guint rule);

/* -- emit-rule.c -- */
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

/* -- emit-tables.c: large programs -- */
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

/* -- callback-stubs.c: stubs for the functions that the application handed to MPI -- */

typedef struct Callbacks Callbacks;
gboolean callback_stubs_find(Plan *plan, Error **error);

/* The stub of one C type: its parameters, the type of its value, and the way it returns a flag or
 * another result. */
typedef struct {
    const char *ctype, *name, *value, *parameters, *body;
    gboolean has_flag; /* BODY uses the flag that was recorded */
} StubType;

/* A stub. The application may have passed one function as several types: C allows the cast, and in
 * most libraries the copy functions of all keys take the same arguments. There is one stub for all
 * types whose stubs do the same, named after the first. */
typedef struct {
    gint64 word;
    const StubType *type;
    char *name;
} Stub;

struct Callbacks {
    GHashTable *stubs; /* key (function and body of its stub) -> Stub */
    GPtrArray *order;  /* of Stub */
};

void callbacks_free(Callbacks *c);

/* The stub for the function WORD of a C type: an expression, newly allocated. */
char *callback_name(Emitter *e, gint64 word, const char *ctype);

/* -- emit-callbacks.c -- */
void emit_callbacks(Emitter *e, GString *declarations, GString *definitions);

/* -- changes.c: the calls that the proxy pins, reorders or leaves out -- */

typedef enum {
    CHANGE_SOURCE,         /* a receive or probe names the source that came */
    CHANGE_SOURCES,        /* the same for a persistent receive, at each start */
    CHANGE_NEIGHBOURS,     /* a graph is made with the recorded order of neighbours */
    CHANGE_SEND_ORDER,     /* a send waits for its turn in the recorded order */
    CHANGE_RECORDED_ORDER, /* requests complete in the recorded order */
    CHANGE_ANY_ORDER,      /* requests complete in any order, each followed by its own calls */
    CHANGE_ALL_COMPLETE,   /* the same, and no calls follow */
    CHANGE_LEFT_OUT,       /* the call is not made */
    CHANGES
} ProxyChange;

/* Counts how often the calls and rules of the plan run. Call it before anything is written. */
void changes_begin(Plan *plan);
void changes_free(struct Changes *changes);

/* Writes the comment before the calls of TERMINAL, and notes the change for the report. REASON is
 * static, a clause without a full stop; NULL if the kind of change explains itself. */
void changes_comment(Emitter *e, Statements *out, ProxyChange change, guint terminal,
                     const char *reason);
/* Notes the change without a comment, for changes that many calls share. */
void changes_note(Emitter *e, ProxyChange change, guint terminal, const char *reason);

/* The report: one line for each kind of change and reason, with the functions and the number of
 * changed calls, over all ranks. The lines are in the order of the enum. The caller frees the
 * array. */
GPtrArray *changes_report(const Plan *plan);

/* -- outside-names.c: files, ports, and processes that the application started -- */

/* Finds these names in the program. Call it before anything is written. */
void outside_names_find(Emitter *e);
char *outside_names_file(Emitter *e, const CallPattern *c, const Arg *arg);
char *outside_names_port(Emitter *e, const CallPattern *c, guint index);
/* A port by its number.
 * here: a call of the recording returned it.
 * opened: that call made it.
 * key: the proxies of two jobs that meet at the port know it by this name. */
typedef struct {
    guint number;
    gboolean here, opened;
    char *key;
} PortName;
/* The port with that number; NULL if there is none. */
const PortName *outside_names_of_port(Emitter *e, guint number);
/* The reason why a call cannot be part of the proxy; NULL if it can. */
const char *outside_names_left_out(Emitter *e, const CallPattern *c);
/* Appends the functions that return the results that calls found under a name. Call it after all
 * else is written. */
void outside_names_emit(Emitter *e, GString *declarations, GString *definitions);
/* The process at the other end of the socket of MPI_Comm_join, as an expression. NULL if it is not
 * in the recording. */
char *outside_names_joined(Emitter *e, const CallPattern *c);

/* -- row-loops.c: loops over tables -- */

/* A table of rows, in the order in which a thread makes the calls. */
typedef struct RowTable {
    guint number;
    GArray *columns;         /* of Column */
    guint n_numbers, n_kept; /* length of a row as it was written, and as it is kept */
    GArray *values;          /* of gint64: n_numbers for each row */
    GArray *symbols;         /* of WendSymbol: whose numbers they are, each once */
} RowTable;

typedef struct RowLoops RowLoops;

/* Gives the threads of the plan such bodies. Returns NULL if there are too many calls. The caller
 * frees it with row_loops_free. */
RowLoops *row_loops_new(Emitter *e);
/* The approximate number of characters of these bodies and their tables. */
gdouble row_loops_text(const RowLoops *s);
/* Restores the bodies that the threads had before. */
void row_loops_undo(Emitter *e, RowLoops *s);
void row_loops_free(RowLoops *s);
/* Appends the tables, and the variables that hold the position in each. */
void row_loops_emit(Emitter *e, const RowLoops *s, GString *declarations, GString *definitions);
/* Appends the call of a symbol that has a row table. */
void row_loops_call(Emitter *e, Statements *out, const WendSymbol *symbol, const RowSymbol *s);

/* -- source-lines.c: where the calls come from. All names may be of a hostile recording. -- */

typedef struct SourceLines SourceLines;

/* Finds the sites of the plan's calls, before anything is written. Returns NULL if there are none.
 * The caller frees it before the plan. */
SourceLines *source_lines_new(const Plan *plan);
void source_lines_free(SourceLines *s); /* S may be NULL */

/* The lines that the calls of TERMINAL come from, as a comment behind its statement: a blank, and
 * "[halo.c:42, halo.c:57]" without the brackets. NULL: none is known, or they are many. The caller
 * frees it. */
char *source_lines_comment(const SourceLines *s, guint terminal);

/* The identifiers in TEXTS (GString), which are all of a program, without those in strings and
 * comments. The caller frees the set. */
GHashTable *source_lines_words(const GPtrArray *texts);

/* Renames the functions in TEXTS that are called "rule_4": each gets the name of the innermost
 * function of the application that all calls of the rule are in, as an identifier
 * (c_token_function_name) that nothing else in the program (WORDS, to which it is added), the C
 * library or the language has. Called once, when all rules have their numbers. Strings and comments
 * stay what they are. S may be NULL. */
void source_lines_name(SourceLines *s, GPtrArray *texts, GHashTable *words);

#endif
