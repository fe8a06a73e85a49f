/* SPDX-License-Identifier: BSD-3-Clause */
/* emit-call.c: writes one call. The kinds of the specification determine its arguments. */
#include <string.h>

#include "src/proxygen/emit/emit.h"
#include "src/proxygen/analysis/call-analysis.h"

/* -- strings -- */

static char *string_in(Emitter *e, const Arg *arg)
{
    if (arg->n_in < 0)
        return g_strdup("NULL");
    g_autofree char *text = call_pattern_words_to_string(arg->in, (gsize)arg->n_in);
    char *constant = expression_string(e, text, arg->n_in);
    return e->strings && e->columns && arg->n_in <= C_LITERAL_MOST
               ? emit_literal_string(e, constant)
               : constant;
}

static char *strings_list(Emitter *e, StringCursor *cursor, gint64 n, gboolean terminated)
{
    GString *s = g_string_new("(char *[]){");
    for (gint64 i = 0; i < n; i++) {
        g_autofree char *text = NULL;
        if (!string_cursor_string(cursor, &text))
            break;
        g_autofree char *literal = text ? expression_string(e, text, -1) : g_strdup("NULL");
        g_string_append_printf(s, "%s%s", i ? ", " : "", literal);
    }
    if (terminated || n == 0)
        g_string_append(s, n ? ", NULL" : "NULL");
    g_string_append_c(s, '}');
    return g_string_free(s, FALSE);
}

static char *strings_in(Emitter *e, const Arg *arg)
{
    if (arg->n_in < 0)
        return g_strdup("NULL");
    StringCursor cursor = {arg->in, arg->n_in_words};
    if (arg->param->kind == WEND_KIND_STRINGS)
        return strings_list(e, &cursor, arg->n_in, TRUE);
    GString *s = g_string_new("(char **[]){");
    for (gint64 i = 0; i < arg->n_in; i++) {
        gint64 n;
        if (!string_cursor_length(&cursor, &n))
            break;
        g_autofree char *list = n < 0 ? g_strdup("NULL") : strings_list(e, &cursor, n, TRUE);
        g_string_append_printf(s, "%s%s", i ? ", " : "", list);
    }
    g_string_append(s, arg->n_in ? "}" : "NULL}");
    return g_string_free(s, FALSE);
}

/* A string that the library fills. It has room for the longest string of the standard, and for the
 * length that the caller passed. */
static char *string_out(Emitter *e, const CallPattern *c, const Arg *arg)
{
    gint64 room = 8192;
    for (guint i = 0; i < c->n_args; i++)
        if (c->args[i].param->kind == WEND_KIND_INT && c->args[i].has_in
            && !c->args[i].param->array)
            for (guint r = 0; r < e->plan->terminal_ranks[c->terminal].n; r++)
                room =
                    MAX(room, call_pattern_number(c, &c->args[i],
                                                  e->plan->terminal_ranks[c->terminal].ranks[r], 0)
                                  + 1);
    return g_strdup(locals_variable(e, "char", arg->param->name, MIN(room, 1 << 24)));
}

/* -- other arguments -- */

static char *status_argument(Emitter *e, const CallPattern *c, const Arg *arg)
{
    if (!arg->param->array) {
        if (arg->param->dir == WEND_DIR_OUT && (!arg->has_out || arg->n_out == 0))
            return g_strdup("MPI_STATUS_IGNORE");
        e->needs[HELPER_status] = TRUE;
        return g_strdup("&status");
    }
    if (arg->has_out && arg->n_out == -1)
        return g_strdup("NULL"); /* for an empty array */
    if (!arg->has_out || arg->n_out < 0)
        return g_strdup("MPI_STATUSES_IGNORE");
    e->needs[HELPER_statuses] = TRUE;
    const Arg *requests = call_pattern_arg_of_kind(c, WEND_KIND_REQUEST);
    e->max_statuses = MAX(e->max_statuses, MAX(arg->n_out, requests ? requests->n_in : 1));
    return g_strdup("statuses");
}

/* An output scalar that later calls do not use. */
static char *out_scalar(Emitter *e, const char *ctype, const char *name)
{
    return g_strdup_printf("&%s", locals_variable(e, ctype, name, 0));
}

static char *handle_argument(Emitter *e, const CallPattern *c, const Arg *arg)
{
    WendKind kind = arg->param->kind;
    if (arg->param->array)
        return arg->has_in ? emit_handle_array(e, c, arg) : NULL;
    if (arg->has_in) {
        gint64 word = arg->in[0].value;
        g_autofree char *value = expression_handle_of(e, c, kind, word);
        if (!call_pattern_param_by_pointer(c, arg->param))
            return g_steal_pointer(&value);
        /* A freed key may be named until its attributes are deleted. So the call gets a copy to
         * overwrite. */
        if (word_is_handle(word) && kind != WEND_KIND_KEYVAL
            && !variables_are_shared(e->plan, kind, word))
            return g_strdup_printf("&%s", value);
        return g_strdup_printf("&(%s){%s}", variable_name_handle_ctype(kind), value);
    }
    gint64 word = arg->has_out ? arg->out[0].value : WEND_ABSENT;
    if (word_is_handle(word)) {
        g_autofree char *variable = variable_name_of_handle(e, kind, word);
        return g_strdup_printf("&%s", variable);
    }
    return out_scalar(e, variable_name_handle_ctype(kind), arg->param->name);
}

/* A single request: a pointer to its slot, or its value for the few functions that take it by
 * value. */
static char *request_argument(Emitter *e, const CallPattern *c, const Arg *arg)
{
    gint64 word = arg->has_in ? arg->in[0].value : arg->has_out ? arg->out[0].value : WEND_ABSENT;
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    if (!word_is_handle(word))
        return handle_argument(e, c, arg);
    if (!arg->has_in) {
        g_autofree char *moves = variable_name_of_request_moves(e, word, ranks);
        if (moves)
            statements_add(e->code->before, "%s", moves);
    }
    g_autofree char *variable = variable_name_of_request(e, word, ranks);
    return call_pattern_param_by_pointer(c, arg->param) ? g_strdup_printf("&%s", variable)
                                                        : g_steal_pointer(&variable);
}

/* A base address that MPI makes. It is stored as the address of the segment. */
static char *out_buffer(Emitter *e, const CallPattern *c, const Arg *arg)
{
    const char *name = locals_variable(e, "void *", arg->param->name, 0);
    gint64 segment = arg->has_out ? arg->out[0].value : WEND_ABSENT;
    if (word_is_segment(segment)
        && (segment_kind(segment) == WEND_SEGMENT_MPI
            || segment_kind(segment) == WEND_SEGMENT_WIN)) {
        g_autofree char *base = expression_segment(e, segment),
                        *beginning = expression_beginning(e, c, name, arg->out[1]);
        statements_add(e->code->after, "%s = %s;", base, beginning);
    }
    return g_strdup_printf("&%s", name);
}

/* A number, or a pointer to it if the call also changes it. */
static char *number_argument(Emitter *e, const CallPattern *c, const Arg *arg)
{
    const WendParam *param = arg->param;
    if (!arg->has_in)
        return out_scalar(e, param->ctype, param->name);
    g_autofree char *value = param->kind == WEND_KIND_BITS && !arg->in[0].by_slot
                                 ? expression_bits(e, param->group, arg->in[0].value)
                             : param->kind == WEND_KIND_ADDRESS
                                 ? expression_address(e, c, arg->in, param->ctype)
                                 : expression_number(e, c, arg->in[0]);
    if (call_pattern_param_by_pointer(c, param))
        return g_strdup_printf("&(%s){%s}", param->ctype, value);
    return g_steal_pointer(&value);
}

static char *attribute_argument(Emitter *e, const CallPattern *c, const Arg *arg)
{
    if (!arg->has_in)
        return out_scalar(e, "void *", arg->param->name);
    return expression_pointer(e, c, arg->in);
}

static char *argument(Emitter *e, const CallPattern *c, guint index)
{
    const Arg *arg = &c->args[index];
    WendKind kind = arg->param->kind;
    char *special = emit_special_argument(e, c, index);
    if (special)
        return special;
    if (arg->null)
        return g_strdup("NULL");
    if (kind_is_handle(kind)) {
        char *text = handle_argument(e, c, arg);
        return text ? text : emit_out_array(e, c, index);
    }
    switch (kind) {
    case WEND_KIND_REQUEST:
        if (!arg->param->array)
            return request_argument(e, c, arg);
        e->code->requests = emit_request_array(e, c, arg);
        return g_strdup(e->code->requests);
    case WEND_KIND_BUF:
        if (arg->param->array || !arg->has_in)
            return out_buffer(e, c, arg);
        if (arg->in[0].value == WEND_ABSENT && arg->param->dir == WEND_DIR_IN) {
            /* libraries check that it is not the buffer for the result */
            g_autofree char *other = expression_pointer(e, c, arg->in);
            return g_strdup_printf("%s + 4", other);
        }
        return expression_pointer(e, c, arg->in);
    case WEND_KIND_ATTR:
        return attribute_argument(e, c, arg);
    case WEND_KIND_TARGET:
        return expression_target(e, c, arg);
    case WEND_KIND_STATUS:
        return status_argument(e, c, arg);
    case WEND_KIND_STRING:
        if (arg->has_in && arg->param->dir == WEND_DIR_IN)
            return string_in(e, arg);
        return string_out(e, c, arg);
    case WEND_KIND_STRINGS:
    case WEND_KIND_STRINGS2:
        return strings_in(e, arg);
    case WEND_KIND_FUNC:
        return callback_name(e, arg->has_in ? arg->in[0].value : WEND_ABSENT, arg->param->ctype);
    case WEND_KIND_SKIP:
        return call_pattern_param_by_pointer(c, arg->param) || strchr(arg->param->ctype, '*')
                   ? g_strdup("NULL")
                   : g_strdup("0");
    default:
        if (arg->param->array)
            return arg->has_in ? emit_number_array(e, c, arg) : emit_out_array(e, c, index);
        return number_argument(e, c, arg);
    }
}

static gboolean same_words(const Word *a, const Word *b, guint n)
{
    for (guint i = 0; i < n; i++)
        if (a[i].by_slot != b[i].by_slot || a[i].value != b[i].value
            || (a[i].by_slot && a[i].slot != b[i].slot))
            return FALSE;
    return TRUE;
}

/* In a failed call, the earlier argument that is an array of the same contents and is passed for
 * both. -1 if there is none. */
static gint same_array(const CallPattern *c, guint index)
{
    const Arg *arg = &c->args[index];
    for (guint i = 0; c->failed && arg->param->array && arg->has_in && arg->n_in > 0 && i < index;
         i++) {
        const Arg *other = &c->args[i];
        if (other->param->array && other->has_in && other->param->kind == arg->param->kind
            && strcmp(other->param->ctype, arg->param->ctype) == 0 && other->n_in == arg->n_in
            && other->n_in_words == arg->n_in_words
            && same_words(other->in, arg->in, arg->n_in_words))
            return (gint)i;
    }
    return -1;
}

/* The function to call. For persistent receives with a source for each start it is a helper. */
static char *function_name(Emitter *e, const CallPattern *c)
{
    static const struct {
        guint id;
        Helper helper;
        gboolean init;
    } helpers[] = {
        {WEND_FN_MPI_Recv_init, HELPER_recv_init_pinned, TRUE},
        {WEND_FN_MPI_Recv_init_c, HELPER_recv_init_c_pinned, TRUE},
        {WEND_FN_MPI_Start, HELPER_start_pinned, FALSE},
        {WEND_FN_MPI_Startall, HELPER_startall_pinned, FALSE},
        {WEND_FN_MPI_Request_free, HELPER_request_free_pinned, FALSE},
    };
    const Wildcard *wildcard =
        g_hash_table_lookup(e->plan->wildcards, GUINT_TO_POINTER(c->terminal));
    for (guint i = 0; e->plan->pins_at_start && !c->failed && i < G_N_ELEMENTS(helpers); i++) {
        if (c->function->id != helpers[i].id
            || (helpers[i].init && !(wildcard && wildcard->starts)))
            continue;
        e->needs[helpers[i].helper] = TRUE;
        return g_strdup(helper_texts[helpers[i].helper].name);
    }
    return g_strdup(c->function->name);
}

static char *call_expression(Emitter *e, const CallPattern *c)
{
    char *graph = emit_graph_expression(e, c);
    if (graph)
        return graph;
    g_autofree char *name = function_name(e, c);
    GString *s = g_string_new(name);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    gboolean first = TRUE;
    g_string_append_c(s, '(');
    for (guint i = 0; i < c->n_args; i++) {
        const WendParam *param = c->args[i].param;
        gint same = same_array(c, i);
        if (param->kind == WEND_KIND_SELF || param->kind == WEND_KIND_FOUND
            || param->kind == WEND_KIND_NEIGHBOURS || param->dir == WEND_DIR_RETURN
            || (strcmp(param->name, "varargs") == 0 && !c->args[i].null)) {
            g_ptr_array_add(texts, NULL);
            continue;
        }
        e->argument = param->name;
        char *text = same >= 0 ? g_strdup(g_ptr_array_index(texts, same)) : argument(e, c, i);
        e->argument = NULL;
        g_ptr_array_add(texts, text);
        g_string_append_printf(s, "%s%s", first ? "" : ", ", text);
        first = FALSE;
    }
    g_string_append_c(s, ')');
    return g_string_free(s, FALSE);
}

/* The statement that stores the return value of a function. */
static char *statement_of(Emitter *e, const CallPattern *c, const char *expression)
{
    const Arg *last = c->n_args ? &c->args[c->n_args - 1] : NULL;
    if (!last || last->param->dir != WEND_DIR_RETURN)
        return g_strdup_printf("%s;", expression);
    if (kind_is_handle(last->param->kind) && last->has_out && word_is_handle(last->out[0].value)) {
        g_autofree char *variable =
            variable_name_of_handle(e, last->param->kind, last->out[0].value);
        return g_strdup_printf("%s = %s;", variable, expression);
    }
    return g_strdup_printf("(void)%s;", expression);
}

/* Messages to a master wait for their turn (send-order.c). */
static void add_turn(Emitter *e, const CallPattern *c)
{
    const Wildcard *turn = g_hash_table_lookup(e->plan->send_order, GUINT_TO_POINTER(c->terminal));
    if (turn) {
        g_autofree char *source = emit_wildcard_source(e, turn);
        statements_add(e->code->before, "give_turn(%s);", source);
        e->needs[HELPER_give_turn] = TRUE;
    }
    const Arg *dest = call_pattern_arg_named(c, "dest");
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    gboolean to_master = FALSE;
    for (guint r = 0;
         e->plan->master >= 0 && (c->function->flags & WEND_F_SEND) && dest && r < ranks.n; r++)
        to_master |= call_pattern_value(c, dest->in[0], ranks.ranks[r]) == e->plan->master;
    if (to_master) {
        g_autofree char *to = expression_number(e, c, dest->in[0]);
        statements_add(e->code->before, "wait_for_turn(%s);", to);
        e->needs[HELPER_wait_for_turn] = TRUE;
        changes_note(e, CHANGE_SEND_ORDER, c->terminal, NULL);
    }
    e->needs[HELPER_send_order_begin] |= turn || to_master;
}

/* Adds statements that publish the address of an attached block for other processes (dynamic.c),
 * that end this, or that wait for it. */
static void add_places(Emitter *e, const CallPattern *c)
{
    guint id = c->function->id;
    if (!e->plan->blocks || (c->failed && id != WEND_FN_MPI_Win_lock))
        return;
    if (id == WEND_FN_MPI_Win_attach) {
        gint64 segment = call_pattern_arg_named(c, "base")->in[0].value;
        if (!word_is_segment(segment))
            return;
        g_autofree char *base = expression_segment(e, segment);
        statements_add(e->code->after, "place_known(%u, %s);", dynamic_block(e->plan, segment),
                       base);
        e->needs[HELPER_place_known] = TRUE;
    } else if (id == WEND_FN_MPI_Finalize) {
        statements_add(e->code->before, "places_end();");
        e->needs[HELPER_places_end] = TRUE;
    } else if (id == WEND_FN_MPI_Win_lock) {
        const Arg *win = call_pattern_arg_of_kind(c, WEND_KIND_WIN),
                  *target = call_pattern_arg_of_kind(c, WEND_KIND_RANK);
        g_autofree char *window = expression_handle(e, WEND_KIND_WIN, win->in[0].value),
                        *rank = expression_number(e, c, target->in[0]);
        statements_add(e->code->before, "await_places(%s, %s);", window, rank);
        e->needs[HELPER_await_places] = TRUE;
    } else {
        return;
    }
    e->needs[HELPER_places_begin] = TRUE;
}

/* Statements for what begins and ends with a call. */
static void add_begin_and_end(Emitter *e, const CallPattern *c)
{
    if (e->threads
        && (c->function->id == WEND_FN_MPI_Finalize
            || c->function->id == WEND_FN_MPI_Session_finalize)) {
        statements_add(e->code->before, "join_threads();");
        e->needs[HELPER_join_threads] = TRUE;
    }
    if (!e->plan->prefix && plan_is_init(e->plan, c->terminal)) {
        statements_add(e->code->after, "proxy_begin();");
        e->begins = TRUE;
    }
    if (g_hash_table_contains(e->plan->asks, GUINT_TO_POINTER(c->terminal + 1)))
        statements_add(e->code->after, "early_may_start = 1;");
}

static CallCode call_code_new(void)
{
    return (CallCode){statements_new(), statements_new(), NULL, NULL};
}

void emit_call_code_clear(CallCode *code)
{
    statements_free(code->before);
    statements_free(code->after);
    g_free(code->expression);
    g_free(code->requests);
}

CallCode emit_call_code(Emitter *e, const CallPattern *c)
{
    CallCode code = call_code_new();
    e->code = &code;
    code.expression = call_expression(e, c);
    e->code = NULL;
    return code;
}

/* Appends a call that needs no special code. */
static void ordinary_call(Emitter *e, Statements *out, const CallPattern *c)
{
    CallCode code = call_code_new();
    e->code = &code;
    add_turn(e, c);
    add_places(e, c);
    add_begin_and_end(e, c);
    code.expression = call_expression(e, c);
    g_autofree char *statement = statement_of(e, c, code.expression);
    e->code = NULL;
    if (graphs_is_pinned(e->plan, c->terminal))
        changes_comment(e, out, CHANGE_NEIGHBOURS, c->terminal, NULL);
    statements_move(out, g_steal_pointer(&code.before));
    gboolean poll =
        (c->function->flags & WEND_F_POLL) && !c->failed && call_pattern_arg_named(c, "flag");
    /* The recorded call succeeded. Unsuccessful polls before it are not in the program. */
    statements_add(poll ? statements_do(out, "!flag") : out, "%s", statement);
    statements_move(out, g_steal_pointer(&code.after));
    emit_call_code_clear(&code);
}

void emit_call(Emitter *e, Statements *out, guint terminal)
{
    CallPattern *c = call_pattern_new(e->plan->program);
    call_pattern_decode(c, terminal);
    if (!emit_special_call(e, out, c))
        ordinary_call(e, out, c);
    call_pattern_free(c);
}

/* Appends a receive from any source that is pinned. */
static void pinned_call(Emitter *e, Statements *out, const Wildcard *wildcard, guint terminal)
{
    g_autofree char *source = emit_wildcard_source(e, wildcard);
    changes_comment(e, out, wildcard->starts ? CHANGE_SOURCES : CHANGE_SOURCE, terminal,
                    wildcard->reason);
    e->source = source;
    if (!wildcard->starts) { /* it is read once, because the call may be polled */
        e->source = locals_variable(e, "int", "source", 0);
        statements_add(out, "%s = %s;", e->source, source);
    }
    emit_call(e, out, terminal);
    e->source = NULL;
}

void emit_terminal(Emitter *e, Statements *out, guint terminal)
{
    const Wildcard *wildcard = g_hash_table_lookup(e->plan->wildcards, GUINT_TO_POINTER(terminal));
    emit_shared(e, out, terminal, FALSE, FALSE);
    if (wildcard)
        pinned_call(e, out, wildcard, terminal);
    else
        emit_call(e, out, terminal);
    emit_shared(e, out, terminal, TRUE, FALSE);
}
