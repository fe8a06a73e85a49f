/* SPDX-License-Identifier: BSD-3-Clause */
/* emit-special.c: functions that need more than the kinds of their parameters. Each case states its
 * reason. */
#include <string.h>

#include "src/proxygen/emit/emit.h"
#include "src/proxygen/analysis/call-analysis.h"

/* Fortran handles are not recorded (kind skip). The C handle that results is converted to one. */
static char *fortran_handle(Emitter *e, const CallPattern *c)
{
    const Arg *made = &c->args[c->n_args - 1];
    g_autofree char *object = g_strndup(c->function->name + 4, strlen(c->function->name) - 8);
    g_autofree char *handle = NULL;
    if (made->has_out && made->out[0].value == WEND_UNKNOWN)
        return g_strdup("-1"); /* the result was no handle */
    if (kind_is_handle(made->param->kind) && made->has_out)
        handle = expression_handle(e, made->param->kind, made->out[0].value);
    else if (strcmp(object, "Comm") == 0)
        handle = g_strdup("MPI_COMM_WORLD");
    else if (strcmp(object, "Type") == 0)
        handle = g_strdup("MPI_INT");
    else
        handle = g_strdup_printf("%s", strcmp(object, "Request") == 0   ? "MPI_REQUEST_NULL"
                                       : strcmp(object, "Session") == 0 ? "MPI_SESSION_NULL"
                                                                        : "MPI_MESSAGE_NULL");
    return g_strdup_printf("PMPI_%s_c2f(%s)", object, handle);
}

static char *skipped_argument(Emitter *e, const CallPattern *c, const Arg *arg)
{
    const char *name = arg->param->name;
    if (strcmp(name, "f_status") == 0)
        return g_strdup("(MPI_Fint[sizeof(MPI_Status) / sizeof(MPI_Fint)]){0}");
    if (strcmp(name, "f08_status") == 0)
        return g_strdup("&(MPI_F08_status){0}");
    if (strcmp(name, "c_status") == 0)
        return g_strdup("&(MPI_Status){0}");
    if (g_str_has_suffix(c->function->name, "_f2c"))
        return fortran_handle(e, c);
    /* a number here, a pointer in MPI_Init */
    if (c->function->id == WEND_FN_MPI_Info_create_env && strcmp(name, "argc") == 0)
        return g_strdup("0");
    /* An event of another tool: it does not switch recording off (docs/running.md). */
    if (strcmp(name, "varargs") == 0 && arg->null)
        return g_strdup("\"event\"");
    return g_strdup("NULL");
}

/* The program that a call starts instead of RECORDED. Takes RECORDED. */
static char *program_started(Emitter *e, const CallPattern *c, char *recorded)
{
    g_autofree char *name = recorded, *literal = expression_string(e, name ? name : "", -1);
    if (!c->failed)
        return g_strdup("program_path");
    e->needs[HELPER_missing_program] = TRUE;
    return g_strdup_printf("missing_program(%s)", literal);
}

static char *arguments_of_worlds(gint64 n)
{
    GString *list = g_string_new("(char **[]){");
    for (gint64 i = 0; i < n; i++)
        g_string_append_printf(list, "%sworld_arguments", i ? ", " : "");
    g_string_append(list, n > 0 ? "}" : "NULL}");
    return g_string_free(list, FALSE);
}

/* The maximum number of processes of a world (docs/format.md). A damaged recording may have
 * more. */
enum { WORLD_MAX = 1 << 24 };

/* The array of error codes. All ranks must pass an array, or none, because some libraries then send
 * other messages. The recording of a failed call may lack it. */
static char *codes_of_started(Emitter *e, const CallPattern *c, const Arg *arg)
{
    const Arg *made = call_pattern_arg_named(c, "intercomm");
    RankList ranks = e->plan->terminal_ranks[c->terminal];
    gint64 n = 1;
    if (!arg->has_out || arg->n_out < 0 || arg->param->place == WEND_PLACE_OUTCOME || !made
        || made->n_out_words != 6)
        return g_strdup("MPI_ERRCODES_IGNORE");
    for (guint r = 0; r < ranks.n; r++)
        n = MAX(n, call_pattern_value(c, made->out[4], ranks.ranks[r]));
    return g_strdup(locals_variable(e, "int", arg->param->name, MIN(n, WORLD_MAX)));
}

char *emit_special_argument(Emitter *e, const CallPattern *c, guint index)
{
    const Arg *arg = &c->args[index];
    const char *name = arg->param->name;
    if (arg->param->kind == WEND_KIND_SKIP)
        return skipped_argument(e, c, arg);
    if (e->source && arg->param->kind == WEND_KIND_RANK && strcmp(name, "source") == 0
        && arg->param->dir == WEND_DIR_IN)
        return g_strdup(e->source);
    /* Files outside of the scratch directory are never touched. */
    if (strcmp(name, "filename") == 0 && arg->has_in && arg->n_in >= 0)
        return outside_names_file(e, c, arg);
    /* Names of ports differ in each run. */
    if (strcmp(name, "port_name") == 0)
        return outside_names_port(e, c, index);
    /* a two-dimensional array in C */
    if (strcmp(name, "ranges") == 0 && arg->has_in && arg->n_in >= 0) {
        g_autoptr(GString) triples = g_string_new("(int[][3]){");
        if (arg->n_in == 0) /* C has no empty array */
            g_string_append(triples, "{0}");
        for (gint64 i = 0; i < arg->n_in; i++) {
            g_autofree char *value = expression_number(e, c, arg->in[i]);
            g_string_append_printf(triples, "%s%s%s%s", i ? ", " : "", i % 3 == 0 ? "{" : "", value,
                                   i % 3 == 2 ? "}" : "");
        }
        g_string_append_c(triples, '}');
        return g_strdup(triples->str);
    }
    if (c->function->id == WEND_FN_MPI_Comm_join && strcmp(name, "fd") == 0 && !c->failed) {
        g_autofree char *partner = outside_names_joined(e, c);
        e->needs[HELPER_join_with] = e->needs[HELPER_scratch_begin] = TRUE;
        statements_add(e->code->after, "close(join_socket);");
        return g_strdup_printf("join_with(%s)", partner);
    }
    /* The started processes run this program (runtime/helpers-job.c). If the recording lacks their
     * calls, they do nothing (proxy-files.c). */
    if (plan_worlds_is_start(c)) {
        if (strcmp(name, "command") == 0) {
            e->needs[HELPER_program_path] = TRUE;
            if (plan_worlds_several(e->plan))
                statements_add(e->code->before, "next_world(%d);", !c->failed);
            return program_started(e, c,
                                   call_pattern_words_to_string(arg->in, (gsize)MAX(arg->n_in, 0)));
        }
        if (strcmp(name, "argv") == 0 && plan_worlds_several(e->plan))
            return g_strdup("world_arguments");
        if (strcmp(name, "array_of_argv") == 0 && plan_worlds_several(e->plan))
            return arguments_of_worlds(call_pattern_arg_named(c, "array_of_commands")->n_in);
        if (strcmp(name, "array_of_commands") == 0 && arg->n_in > 0) {
            e->needs[HELPER_program_path] = TRUE;
            if (plan_worlds_several(e->plan))
                statements_add(e->code->before, "next_world(%d);", !c->failed);
            g_autoptr(GString) commands = g_string_new("(char *[]){");
            StringCursor cursor = {arg->in, arg->n_in_words};
            for (gint64 i = 0; i < arg->n_in; i++) {
                char *recorded = NULL;
                string_cursor_string(&cursor, &recorded);
                g_autofree char *program = program_started(e, c, recorded);
                g_string_append_printf(commands, "%s%s", i ? ", " : "", program);
            }
            g_string_append_c(commands, '}');
            return g_strdup(commands->str);
        }
    }
    if (strcmp(name, "array_of_errcodes") == 0)
        return codes_of_started(e, c, arg);
    return NULL;
}

/* -- objects of several threads -- */

/* Waits for objects that several threads use, until another thread has made the object or no longer
 * uses it. */
void emit_shared(Emitter *e, Statements *out, guint terminal, gboolean after, gboolean of_several)
{
    static const Helper helpers[2][4] = {
        {HELPER_shared_use, HELPER_NONE, HELPER_shared_end, HELPER_shared_make},
        {HELPER_shared_used, HELPER_shared_made, HELPER_shared_ended, HELPER_shared_made}};
    if (g_hash_table_size(e->plan->shared) == 0)
        return;
    g_autoptr(GArray) uses = plan_threads_shared(e->plan, terminal);
    for (guint i = 0; i < uses->len; i++) {
        const SharedUse *use = &g_array_index(uses, SharedUse, i);
        gboolean of_request = use->role == SHARED_USE && use->kind == WEND_KIND_REQUEST;
        gboolean of_memory = use->role == SHARED_USE && use->kind == WEND_KIND_SEGMENT;
        Helper helper = of_request && after   ? HELPER_shared_request_used
                        : of_request          ? HELPER_shared_request
                        : of_memory && !after ? HELPER_shared_use_memory
                                              : helpers[after][use->role];
        if (!helper || (after && use->role == SHARED_MAKE && use->late))
            continue;
        const char *name = helper_texts[helper].name;
        e->needs[helper] = TRUE;
        if (!of_request) {
            statements_add(out, "%s(%u);", name, use->number);
        } else if (after) {
            g_autofree char *variable =
                variable_name_of_request(e, use->word, e->plan->terminal_ranks[terminal]);
            statements_add(out, "%s(%u, %s);", name, use->number, variable);
        } else {
            statements_add(out, "%s(%u, %u, %d);", name, use->number, word_handle_tid(use->word),
                           of_several);
        }
    }
}

void emit_borrowed(Emitter *e, Statements *out, gint64 segment)
{
    const GArray *requests = g_hash_table_lookup(e->plan->borrowed, &segment);
    for (guint i = 0, n; requests && i < requests->len; i += n) {
        guint first = g_array_index(requests, guint, i);
        for (n = 1; i + n < requests->len && g_array_index(requests, guint, i + n) == first + n;)
            n++;
        statements_add(out, "shared_requests_done(%u, %u);", first, n);
        e->needs[HELPER_shared_requests_done] = TRUE;
    }
}

/* -- calls -- */

/* MPI's own memory is freed by MPI_Free_mem and MPI_Win_free; static data and stacks stay. */
static void free_block(Emitter *e, Statements *out, gint64 segment)
{
    gboolean heap = segment_kind(segment) == WEND_SEGMENT_HEAP;
    if (!heap && segment_kind(segment) != WEND_SEGMENT_MAP)
        return;
    emit_borrowed(e, out, segment);
    e->needs[heap ? HELPER_heap_free : HELPER_mapped_free] = TRUE;
    g_autofree char *index = column_index(e, memory_use_segment_place(e->plan, segment));
    statements_add(out, "%s_free(%s);", heap ? "heap" : "mapped", index);
}

gboolean emit_special_call(Emitter *e, Statements *out, const CallPattern *c)
{
    guint id = c->function->id;
    if (id == WEND_FN_wend_free) {
        free_block(e, out, c->args[0].in[0].value);
        return TRUE;
    }
    if (call_pattern_is_place(c->function) && e->plan->options->cuda) {
        e->needs[HELPER_cuda_block] = TRUE;
        g_autofree char *device = expression_number(e, c, c->args[1].in[0]);
        statements_add(out, "cuda_block(%" G_GINT64_FORMAT ", %s, %s);",
                       memory_use_segment_place(e->plan, c->args[0].in[0].value),
                       id == WEND_FN_wend_device    ? "ON_DEVICE"
                       : id == WEND_FN_wend_managed ? "MANAGED"
                                                    : "PINNED",
                       device);
        return TRUE;
    }
    if (id == WEND_FN_wend_start || id == WEND_FN_wend_join) {
        gboolean join = id == WEND_FN_wend_join;
        if (join && c->args[0].in[0].value == 0) {
            e->needs[HELPER_join_main] = TRUE;
            statements_add(out, "join_main();");
            return TRUE;
        }
        e->needs[join ? HELPER_join_thread : HELPER_start_thread] = TRUE;
        statements_add(out, "%s_thread(%" G_GINT64_FORMAT ");", join ? "join" : "start",
                       c->args[0].in[0].value);
        return TRUE;
    }
    if (c->function->flags & WEND_F_PSEUDO)
        return TRUE;
    /* a socket to a process that is not in the recording */
    g_autofree char *partner = id == WEND_FN_MPI_Comm_join ? outside_names_joined(e, c) : NULL;
    if (id == WEND_FN_MPI_Comm_join && !partner && !c->failed) {
        changes_comment(e, out, CHANGE_LEFT_OUT, c->terminal,
                        "the process at the other end of the socket is not part of this recording");
        return TRUE;
    }
    const char *why = outside_names_left_out(e, c);
    if (why) {
        changes_comment(e, out, CHANGE_LEFT_OUT, c->terminal, why);
        return TRUE;
    }
    return FALSE;
}
