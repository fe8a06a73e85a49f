/* SPDX-License-Identifier: BSD-3-Clause */
/* emit-callbacks.c: stubs of callbacks, which make the recorded calls and return the recorded
 * results. */
#include <string.h>

#include "src/proxygen/emit/emit.h"
#include "lib/base/containers.h"

/* -- the calls of a callback -- */

/* The invocations of a function on one rank, in order: the terminals of the calls, and the
 * result. */
typedef struct {
    const WendProgram *program;
    gint64 word;
    guint rank, sequence; /* SEQUENCE is the next one to read */
    WendWalk *walk;       /* walk of one of its sequences; NULL: none is open */
    GArray *calls;
    gint64 value, flag;
} Invocations;

static void invocations_begin(Invocations *v, const WendProgram *p, gint64 word, guint rank)
{
    *v = (Invocations){.program = p,
                       .word = word,
                       .rank = rank,
                       .calls = g_array_new(FALSE, FALSE, sizeof(guint))};
}

static void invocations_end(Invocations *v)
{
    g_array_unref(v->calls);
}

static gboolean open_sequence(Invocations *v)
{
    const WendClass *class = program_class(v->program, program_class_of(v->program, v->rank));
    while (v->sequence < class->n_sequences) {
        guint s = v->sequence++;
        if (class->sequences[s].kind != WEND_SEQUENCE_CALLBACK || class->sequences[s].id != v->word)
            continue;
        v->walk = walk_new(v->program, v->rank, s, WEND_WALK_MAIN);
        return TRUE;
    }
    return FALSE;
}

/* Reads the next invocation. Returns FALSE if there is none; the walk is then freed. */
static gboolean next_invocation(Invocations *v)
{
    g_array_set_size(v->calls, 0);
    v->value = v->flag = 0;
    while (v->walk || open_sequence(v)) {
        const WendCall *call = walk_next(v->walk);
        if (!call) { /* calls without a return, because the run ended */
            g_array_set_size(v->calls, 0);
            g_clear_pointer(&v->walk, walk_free);
            continue;
        }
        if (call->function->id != WEND_FN_wend_return) {
            guint terminal = call->terminal;
            g_array_append_val(v->calls, terminal);
            continue;
        }
        for (guint i = 0; i < call->n_args; i++) {
            if (call->args[i].n_out < 1)
                continue;
            if (strcmp(call->args[i].param->name, "value") == 0)
                v->value = call->args[i].out[0];
            else if (strcmp(call->args[i].param->name, "flag") == 0)
                v->flag = call->args[i].out[0];
        }
        return TRUE;
    }
    return FALSE;
}

/* An element of a stub's list: TIMES equal invocations. */
typedef struct {
    guint number;
    gint64 value, flag;
    guint64 times;
} Returned;

static void put_returned(GString *list, const Returned *r)
{
    g_autofree char *value = c_token_number(r->value), *flag = c_token_number(r->flag);
    if (r->times > 0)
        g_string_append_printf(list, "{%u, %s, %s, %" G_GUINT64_FORMAT "}, ", r->number, value,
                               flag, r->times);
}

/* The number of an invocation's calls in BODIES, where equal calls have one element. */
static guint body_of(Emitter *e, const GArray *calls, Map *cases, GPtrArray *bodies)
{
    bool new;
    guint number = map_number(cases, calls->data, calls->len * sizeof(guint), &new);
    if (!new)
        return number;
    Statements *body = statements_new();
    for (guint k = 0; k < calls->len; k++)
        emit_call(e, body, g_array_index(calls, guint, k));
    g_ptr_array_add(bodies, body);
    return number;
}

/* The list of a rank, as text. *ROWS is its number of elements. */
static char *returned_list(Emitter *e, const Stub *stub, guint rank, Map *cases, GPtrArray *bodies,
                           guint64 *rows)
{
    gboolean is_operator = g_str_has_prefix(stub->type->ctype, "MPI_User_function");
    GString *list = g_string_new("");
    Invocations v;
    Returned last = {0, 0, 0, 0};
    *rows = 0;
    invocations_begin(&v, e->plan->program, stub->word, rank);
    while (next_invocation(&v)) {
        /* An error code may be specific to a library. Codes such as 16 (MPI_ERR_OTHER) are classes,
         * and are kept. */
        const Returned one = {body_of(e, v.calls, cases, bodies),
                              word_is_const(v.value) ? 0 : v.value, v.flag, 1};
        if (last.times > 0 && one.number == last.number && one.value == last.value
            && one.flag == last.flag) {
            last.times++;
            continue;
        }
        put_returned(list, &last);
        last = one;
        ++*rows;
    }
    invocations_end(&v);
    put_returned(list, &last);
    if (*rows == 0) {
        g_string_append(list, is_operator ? "{-1, 0, 0, 0}, " : "{0, 0, 0, 1}, ");
        ++*rows;
    }
    g_string_append(list, "{-1, 0, 0, 0}");
    ++*rows;
    return g_string_free(list, FALSE);
}

/* The list of the current rank's invocations, as an expression. */
static char *returned_table(Emitter *e, const Stub *stub, Map *cases, GPtrArray *bodies)
{
    g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(g_free);
    for (guint rank = 0; rank < e->plan->n_ranks; rank++) {
        guint64 rows;
        g_autofree char *list = returned_list(e, stub, rank, cases, bodies, &rows);
        g_autofree char *dimensions = g_strdup_printf("[%" G_GUINT64_FORMAT "]", rows);
        g_ptr_array_add(tables, emit_literal_table(e, "Returned", "returned", dimensions, list));
    }
    return emit_literal_by_rank(e, "Returned", "returned", 0, tables);
}

/* Appends the choice of "returned", the element of TABLE for this invocation. */
static void find_returned(Statements *out, const char *table, gboolean is_operator)
{
    Statements *next;
    statements_add(out, "static int done;");
    statements_add(out, is_operator ? "static long passed, repeated;" : "static long repeated;");
    statements_add(out, "const Returned *returned = &%s[done];", table);
    if (is_operator) {
        /* The operands decide which invocations make calls. VALUE is the number of invocations
         * without calls before this one. */
        statements_add_under(out, "if (returned->calls < 0 || passed++ < returned->value)",
                             "return; /* this one called nothing */");
        statements_add(out, "passed = 0;");
        next = statements_block(out, "if (++repeated == returned->times)");
    } else {
        statements_comment(out, "The last one holds for any that follow.");
        next =
            statements_block(out, "if (++repeated >= returned->times && returned[1].calls >= 0)");
    }
    statements_add(next, "repeated = 0;");
    statements_add(next, "done++;");
}

/* Appends the calls of a stub. Each element of BODIES, which become empty, is a case. */
static void nested_calls(Statements *out, const GPtrArray *bodies)
{
    Statements *cases = bodies->len > 1 ? statements_switch(out, "returned->calls") : NULL;
    for (guint i = 0; i < bodies->len; i++) {
        Statements *one = cases ? statements_case(cases, i) : statements_block(out, "%s", "");
        statements_move(one, g_steal_pointer(&bodies->pdata[i]));
        if (cases)
            statements_add(one, "break;");
    }
}

static void emit_stub(Emitter *e, GString *out, const Stub *stub)
{
    /* Each distinct sequence of nested calls gets a case. Invocations are a list of (case, value,
     * flag, times), by rank if ranks differ. */
    const StubType *type = stub->type;
    AUTO(Map) cases = map_of_bytes(NULL);
    g_autoptr(GPtrArray) bodies = g_ptr_array_new_with_free_func((GDestroyNotify)statements_free);
    Statements *body = statements_new();
    gboolean nested = FALSE, returns = strcmp(type->value, "int") == 0;
    locals_begin(e);
    g_autofree char *table = returned_table(e, stub, cases, bodies);
    for (guint i = 0; i < bodies->len; i++)
        nested |= statements_count(bodies->pdata[i]) > 0;
    gboolean uses = nested || returns || type->has_flag;
    if (uses)
        find_returned(body, table, g_str_has_prefix(type->ctype, "MPI_User_function"));
    locals_end(e, body);
    statements_add(body, "%s", type->body);
    if (nested)
        nested_calls(body, bodies);
    if (returns)
        statements_add(body, "return (int)returned->value;");
    if (uses)
        g_string_append_printf(out, "%s\n", e->definitions->str);
    else
        g_hash_table_remove_all(e->tables);
    g_string_set_size(e->definitions, 0);
    statements_print_function(out, body, NULL, "%s%s %s(%s)", e->linkage, type->value, stub->name,
                              type->parameters);
}

void emit_callbacks(Emitter *e, GString *declarations, GString *definitions)
{
    Callbacks *c = e->plan->callbacks;
    if (c->order->len == 0)
        return;
    g_autoptr(GString) stubs = g_string_new("");
    for (guint i = 0; i < c->order->len; i++) /* nested calls may add stubs */
        emit_stub(e, stubs, g_ptr_array_index(c->order, i));
    c_text_comment(definitions, 0,
                   "Functions that the application gave to MPI. What they computed is not in a "
                   "recording; the MPI calls that they made are, and what "
                   "they returned. Which calls, value, flag, how often; a negative number of calls "
                   "ends the list.");
    g_string_append(
        definitions,
        "typedef struct {\n    int calls;\n    long value; /* or of an operator: invocations "
        "before this one that called nothing */\n    int flag;\n    long times;\n} Returned;\n\n");
    for (guint i = 0; i < c->order->len; i++) {
        const Stub *stub = g_ptr_array_index(c->order, i);
        g_string_append_printf(*e->linkage ? definitions : declarations, "%s%s %s(%s);\n",
                               e->linkage, stub->type->value, stub->name, stub->type->parameters);
    }
    g_string_append_printf(definitions, "%s%s", *e->linkage ? "\n" : "", stubs->str);
}
