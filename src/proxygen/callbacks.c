/* SPDX-License-Identifier: BSD-3-Clause */
/* callbacks.c: stubs for the functions that the application gave to MPI: they make the calls that were recorded and give back what was. */
#include "callbacks.h"

#include <string.h>

#include "effects.h"
#include "emit.h"

/* What a stub of each type looks like: its parameters, the type of its value, how it hands out a flag or another result. */
typedef struct {
    const char *ctype, *name, *value, *parameters, *body;
} StubType;

/* BODY uses the recorded "value" and "flag" where the type has them. */
static const StubType stub_types[] = {
    {"MPI_User_function", "user_op", "void", "void *in, void *inout, int *len, MPI_Datatype *datatype", "(void)in; (void)inout; (void)len; (void)datatype;"},
    {"MPI_User_function_c", "user_op_large", "void", "void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype", "(void)in; (void)inout; (void)len; (void)datatype;"},
    {"MPI_Comm_copy_attr_function", "comm_copy", "int", "MPI_Comm old, int key, void *extra, void *in, void *out, int *flag", "(void)old; (void)key; (void)extra; *(void **)out = in; *flag = returned->flag;"},
    {"MPI_Comm_delete_attr_function", "comm_delete", "int", "MPI_Comm which, int key, void *attribute, void *extra", "(void)which; (void)key; (void)attribute; (void)extra;"},
    {"MPI_Type_copy_attr_function", "type_copy", "int", "MPI_Datatype old, int key, void *extra, void *in, void *out, int *flag", "(void)old; (void)key; (void)extra; *(void **)out = in; *flag = returned->flag;"},
    {"MPI_Type_delete_attr_function", "type_delete", "int", "MPI_Datatype which, int key, void *attribute, void *extra", "(void)which; (void)key; (void)attribute; (void)extra;"},
    {"MPI_Win_copy_attr_function", "win_copy", "int", "MPI_Win old, int key, void *extra, void *in, void *out, int *flag", "(void)old; (void)key; (void)extra; *(void **)out = in; *flag = returned->flag;"},
    {"MPI_Win_delete_attr_function", "win_delete", "int", "MPI_Win which, int key, void *attribute, void *extra", "(void)which; (void)key; (void)attribute; (void)extra;"},
    {"MPI_Copy_function", "copy", "int", "MPI_Comm old, int key, void *extra, void *in, void *out, int *flag", "(void)old; (void)key; (void)extra; *(void **)out = in; *flag = returned->flag;"},
    {"MPI_Delete_function", "delete", "int", "MPI_Comm which, int key, void *attribute, void *extra", "(void)which; (void)key; (void)attribute; (void)extra;"},
    {"MPI_Comm_errhandler_function", "comm_error", "void", "MPI_Comm *which, int *code, ...", "(void)which; if (returned->flag) *code = MPI_SUCCESS;"},
    {"MPI_File_errhandler_function", "file_error", "void", "MPI_File *which, int *code, ...", "(void)which; if (returned->flag) *code = MPI_SUCCESS;"},
    {"MPI_Win_errhandler_function", "win_error", "void", "MPI_Win *which, int *code, ...", "(void)which; if (returned->flag) *code = MPI_SUCCESS;"},
    {"MPI_Session_errhandler_function", "session_error", "void", "MPI_Session *which, int *code, ...", "(void)which; if (returned->flag) *code = MPI_SUCCESS;"},
    {"MPI_Handler_function", "error", "void", "MPI_Comm *which, int *code, ...", "(void)which; if (returned->flag) *code = MPI_SUCCESS;"},
    {"MPI_Grequest_query_function", "grequest_query", "int", "void *extra, MPI_Status *its_status",
     "(void)extra; PMPI_Status_set_elements(its_status, MPI_BYTE, 0); PMPI_Status_set_cancelled(its_status, 0); its_status->MPI_SOURCE = MPI_UNDEFINED; its_status->MPI_TAG = MPI_UNDEFINED;"},
    {"MPI_Grequest_free_function", "grequest_free", "int", "void *extra", "(void)extra;"},
    {"MPI_Grequest_cancel_function", "grequest_cancel", "int", "void *extra, int complete", "(void)extra; (void)complete;"},
    {"MPI_Datarep_conversion_function", "datarep_convert", "int", "void *user, MPI_Datatype datatype, int n, void *file_buffer, MPI_Offset position, void *extra",
     "(void)user; (void)datatype; (void)n; (void)file_buffer; (void)position; (void)extra;"},
    {"MPI_Datarep_conversion_function_c", "datarep_convert_large", "int", "void *user, MPI_Datatype datatype, MPI_Count n, void *file_buffer, MPI_Offset position, void *extra",
     "(void)user; (void)datatype; (void)n; (void)file_buffer; (void)position; (void)extra;"},
    {"MPI_Datarep_extent_function", "datarep_extent", "int", "MPI_Datatype datatype, MPI_Aint *extent, void *extra",
     "MPI_Aint lower; (void)extra; PMPI_Type_get_extent(datatype, &lower, extent);"},
};

/* One function may have been given as several types (C allows the cast, and all keys' copy functions take the same arguments in most libraries): it is one stub
 * for all types whose stubs do the same, named by the first. */
typedef struct { gint64 word; const StubType *type; char *name; } Stub;

struct Callbacks {
    GHashTable *stubs;       /* key (function, what its stub does) -> Stub */
    GPtrArray *order;        /* of Stub */
};

static void stub_free(gpointer stub)
{
    g_free(((Stub *)stub)->name);
    g_free(stub);
}

gboolean plan_callbacks(Plan *plan, GError **error)
{
    (void)error;
    Callbacks *c = plan->callbacks = g_new0(Callbacks, 1);
    c->stubs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, stub_free);
    c->order = g_ptr_array_new();
    return TRUE;
}

void callbacks_free(Callbacks *c)
{
    if (!c)
        return;
    g_ptr_array_free(c->order, TRUE);
    g_hash_table_destroy(c->stubs);
    g_free(c);
}

static const StubType *type_of(const char *ctype)
{
    for (guint i = 0; i < G_N_ELEMENTS(stub_types); i++)
        if (g_str_has_prefix(ctype, stub_types[i].ctype) && !g_ascii_isalnum(ctype[strlen(stub_types[i].ctype)]) &&
            ctype[strlen(stub_types[i].ctype)] != '_')
            return &stub_types[i];
    return NULL;
}

char *callback_name(Emitter *e, gint64 word, const char *ctype)
{
    if (wend_is_const(word))
        return literal(e->plan, word);
    const StubType *type = type_of(ctype);
    if (!type || !wend_is_handle(word))
        return g_strdup("NULL");
    Callbacks *c = e->plan->callbacks;
    g_autofree char *key = g_strdup_printf("%" G_GINT64_FORMAT " %s", word, type->body);
    Stub *stub = g_hash_table_lookup(c->stubs, key);
    if (!stub) {
        g_autofree char *thread = wend_handle_tid(word) ? g_strdup_printf("_of_thread_%u", wend_handle_tid(word)) : g_strdup("");
        stub = g_new0(Stub, 1);
        *stub = (Stub){word, type, g_strdup_printf("%s%s_%u", type->name, thread, wend_handle_number(word))};
        g_hash_table_insert(c->stubs, g_steal_pointer(&key), stub);
        g_ptr_array_add(c->order, stub);
    }
    if (type == stub->type)
        return g_strdup(stub->name);
    return g_strdup_printf("(%s *)(void (*)(void))%s", type->ctype, stub->name);
}

/* -- what the calls of a callback were -- */

/* The invocations of a function on one rank, one after the other: the terminals of its calls, and what it gave back. */
typedef struct {
    const WendProgram *program;
    gint64 word;
    guint rank, sequence;    /* the next one to look at */
    WendWalk *walk;          /* of one of its sequences; NULL: none is begun */
    GArray *calls;
    gint64 value, flag;
} Invocations;

static void invocations_begin(Invocations *v, const WendProgram *p, gint64 word, guint rank)
{
    *v = (Invocations){.program = p, .word = word, .rank = rank, .calls = g_array_new(FALSE, FALSE, sizeof(guint))};
}

static void invocations_end(Invocations *v)
{
    g_array_unref(v->calls);
}

static gboolean open_sequence(Invocations *v)
{
    const WendClass *class = wend_program_class(v->program, wend_program_class_of(v->program, v->rank));
    while (v->sequence < class->n_sequences) {
        guint s = v->sequence++;
        if (class->sequences[s].kind != WEND_SEQUENCE_CALLBACK || class->sequences[s].id != v->word)
            continue;
        v->walk = wend_walk_new(v->program, v->rank, s, WEND_WALK_MAIN);
        return TRUE;
    }
    return FALSE;
}

/* FALSE: there is none any more, and the walk is freed. */
static gboolean next_invocation(Invocations *v)
{
    g_array_set_size(v->calls, 0);
    v->value = v->flag = 0;
    while (v->walk || open_sequence(v)) {
        const WendCall *call = wend_walk_next(v->walk);
        if (!call) { /* calls without a return: the run ended in it */
            g_array_set_size(v->calls, 0);
            g_clear_pointer(&v->walk, wend_walk_free);
            continue;
        }
        if (strcmp(call->function->name, "wend_return") != 0) {
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

/* A row of a stub's list: so many equal invocations. */
typedef struct { guint number; gint64 value, flag; guint64 times; } Returned;

static void put_returned(GString *list, const Returned *r)
{
    g_autofree char *value = c_number(r->value), *flag = c_number(r->flag);
    if (r->times > 0)
        g_string_append_printf(list, "{%u, %s, %s, %" G_GUINT64_FORMAT "}, ", r->number, value,
                               flag, r->times);
}

/* What the calls of an invocation are, as a number of BODIES: equal ones once. */
static guint body_of(Emitter *e, const GArray *calls, GHashTable *cases, GPtrArray *bodies)
{
    gboolean new;
    guint number = bytes_number(cases, calls->data, calls->len * sizeof(guint), &new);
    if (!new)
        return number;
    GString *body = g_string_new("");
    for (guint k = 0; k < calls->len; k++)
        emit_call(e, body, 2, g_array_index(calls, guint, k));
    g_ptr_array_add(bodies, g_string_free(body, FALSE));
    return number;
}

/* The list of a rank, as text; its rows are counted. */
static char *returned_list(Emitter *e, const Stub *stub, guint rank, GHashTable *cases, GPtrArray *bodies, guint64 *rows)
{
    gboolean is_operator = g_str_has_prefix(stub->type->ctype, "MPI_User_function");
    GString *list = g_string_new("");
    Invocations v;
    Returned last = {0, 0, 0, 0};
    *rows = 0;
    invocations_begin(&v, e->plan->program, stub->word, rank);
    while (next_invocation(&v)) {
        /* An error code other than success may be one of this library's: 16 (MPI_ERR_OTHER) and its like are classes, and those are kept. */
        const Returned one = {body_of(e, v.calls, cases, bodies), wend_is_const(v.value) ? 0 : v.value, v.flag, 1};
        if (last.times > 0 && one.number == last.number && one.value == last.value && one.flag == last.flag) {
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

static void emit_stub(Emitter *e, GString *out, const Stub *stub)
{
    /* The distinct sequences of nested calls get a case each; invocations are a list of (case, value, flag, times), by rank when ranks differ. */
    g_autoptr(GHashTable) cases = bytes_table();
    g_autoptr(GPtrArray) bodies = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) by_rank = g_string_new("");
    g_autofree char *first_list = NULL;
    gboolean same = TRUE;
    gboolean is_operator = g_str_has_prefix(stub->type->ctype, "MPI_User_function");
    locals_begin(e);
    for (guint rank = 0; rank < e->plan->n_ranks; rank++) {
        guint64 rows;
        g_autofree char *list = returned_list(e, stub, rank, cases, bodies, &rows);
        g_autofree char *dimensions = g_strdup_printf("[%" G_GUINT64_FORMAT "]", rows);
        char *name = table_of(e, "Returned", "returned", dimensions, list);
        g_string_append_printf(by_rank, "%s%s", rank ? ", " : "", name);
        same &= !first_list || strcmp(first_list, name) == 0;
        if (!first_list)
            first_list = name;
        else
            g_free(name);
    }
    g_autofree char *table = NULL;
    if (same) {
        table = g_strdup(first_list);
    } else {
        g_autofree char *dimensions = g_strdup_printf("[%u]", e->plan->n_ranks);
        g_autofree char *rows = table_of(e, "Returned *const", "returned_by_rank", dimensions, by_rank->str);
        table = g_strdup_printf("%s[rank]", rows);
    }
    g_autoptr(GString) text = g_string_new("");
    gboolean nested = FALSE;
    for (guint i = 0; i < bodies->len; i++)
        nested |= *(char *)g_ptr_array_index(bodies, i) != '\0';
    gboolean uses = nested || strcmp(stub->type->value, "int") == 0 || strstr(stub->type->body, "returned") != NULL;
    if (uses && is_operator) {
        /* Which invocations call something, the operands decide: the value says how many before each did not. */
        write_line(text, 1, "static int done;");
        write_line(text, 1, "static long passed, repeated;");
        write_line(text, 1, "const Returned *returned = &%s[done];", table);
        write_line(text, 1, "if (returned->calls < 0 || passed++ < returned->value)");
        write_line(text, 2, "return; /* this one called nothing */");
        write_line(text, 1, "passed = 0;");
        write_line(text, 1, "if (++repeated == returned->times) {");
        write_line(text, 2, "repeated = 0;");
        write_line(text, 2, "done++;");
        write_line(text, 1, "}");
    } else if (uses) {
        write_line(text, 1, "static int done;");
        write_line(text, 1, "static long repeated;");
        write_line(text, 1, "const Returned *returned = &%s[done];", table);
        write_line(text, 1, "if (++repeated >= returned->times && returned[1].calls >= 0) { /* the last one holds for any that follow */");
        write_line(text, 2, "repeated = 0;");
        write_line(text, 2, "done++;");
        write_line(text, 1, "}");
    }
    locals_end(e, text, 1);
    write_line(text, 1, "%s", stub->type->body);
    if (nested && bodies->len == 1) {
        /* written for two levels of indentation */
        g_string_append_printf(text, "    {\n%s    }\n", (char *)g_ptr_array_index(bodies, 0));
    } else if (nested) {
        write_line(text, 1, "switch (returned->calls) {");
        for (guint i = 0; i < bodies->len; i++)
            g_string_append_printf(text, "    case %u:\n%s        break;\n", i, (char *)g_ptr_array_index(bodies, i));
        write_line(text, 1, "}");
    }
    if (strcmp(stub->type->value, "int") == 0)
        write_line(text, 1, "return (int)returned->value;");
    if (uses)
        g_string_append(out, e->definitions->str);
    g_string_set_size(e->definitions, 0);
    if (!uses)
        g_hash_table_remove_all(e->tables);
    g_string_append_printf(out, "\n%s%s %s(%s)\n{\n%s}\n", e->linkage, stub->type->value, stub->name, stub->type->parameters, text->str);
}

void callbacks_emit(Emitter *e, GString *declarations, GString *definitions)
{
    Callbacks *c = e->plan->callbacks;
    if (c->order->len == 0)
        return;
    write_comment(definitions, 0, "Functions that the application gave to MPI. What they computed is not in a recording; the MPI calls that they made are, and what "
                                  "they returned. Which calls, value, flag, how often; a negative number of calls ends the list.");
    g_string_append(definitions, "typedef struct {\n    int calls;\n    long value; /* or of an operator: invocations before this one that called nothing */\n    int flag;\n    long times;\n} Returned;\n\n");
    g_autoptr(GString) prototypes = g_string_new("");
    for (guint i = 0; i < c->order->len; i++) { /* nested calls may add more */
        const Stub *stub = g_ptr_array_index(c->order, i);
        g_autoptr(GString) text = g_string_new("");
        emit_stub(e, text, stub);
        g_string_append(definitions, text->str);
    }
    for (guint i = 0; i < c->order->len; i++) {
        const Stub *stub = g_ptr_array_index(c->order, i);
        g_string_append_printf(*e->linkage ? prototypes : declarations, "%s%s %s(%s);\n", e->linkage, stub->type->value, stub->name, stub->type->parameters);
    }
    g_string_prepend(definitions, prototypes->str);
    g_string_append_c(definitions, '\n');
}
