/* SPDX-License-Identifier: BSD-3-Clause */
/* variable-names.c: the C names of the variables of handles and requests. */
#include "src/proxygen/emit/emit.h"

static const HandleVariable handle_kinds[] = {
    {WEND_KIND_COMM, "MPI_Comm", "comm", "MPI_COMM_NULL", "Comm"},
    {WEND_KIND_GROUP, "MPI_Group", "group", "MPI_GROUP_NULL", "Group"},
    {WEND_KIND_DATATYPE, "MPI_Datatype", "type", "MPI_DATATYPE_NULL", "Type"},
    {WEND_KIND_OP, "MPI_Op", "op", "MPI_OP_NULL", "Op"},
    {WEND_KIND_ERRHANDLER, "MPI_Errhandler", "errhandler", "MPI_ERRHANDLER_NULL", "Errhandler"},
    {WEND_KIND_INFO, "MPI_Info", "info", "MPI_INFO_NULL", "Info"},
    {WEND_KIND_FILE, "MPI_File", "file", "MPI_FILE_NULL", NULL},
    {WEND_KIND_WIN, "MPI_Win", "win", "MPI_WIN_NULL", "Win"},
    {WEND_KIND_MESSAGE, "MPI_Message", "message", "MPI_MESSAGE_NULL", "Message"},
    {WEND_KIND_SESSION, "MPI_Session", "session", "MPI_SESSION_NULL", "Session"},
    {WEND_KIND_KEYVAL, "int", "keyval", "MPI_KEYVAL_INVALID", NULL},
    {WEND_KIND_TENUM, "MPI_T_enum", "enumeration", "MPI_T_ENUM_NULL", NULL},
    {WEND_KIND_CVAR, "MPI_T_cvar_handle", "cvar", "MPI_T_CVAR_HANDLE_NULL", NULL},
    {WEND_KIND_PVAR, "MPI_T_pvar_handle", "pvar", "MPI_T_PVAR_HANDLE_NULL", NULL},
    {WEND_KIND_PVARSESSION, "MPI_T_pvar_session", "pvar_session", "MPI_T_PVAR_SESSION_NULL", NULL},
    {WEND_KIND_EVENTREG, "MPI_T_event_registration", "event_registration", "NULL", NULL},
    {WEND_KIND_EVENT, "MPI_T_event_instance", "event_instance", "NULL", NULL},
    {WEND_KIND_REQUEST, "MPI_Request", "request", "MPI_REQUEST_NULL", "Request"},
};

const HandleVariable *variable_name_handle_kind(WendKind kind)
{
    for (guint i = 0; i < G_N_ELEMENTS(handle_kinds); i++)
        if (handle_kinds[i].kind == kind)
            return &handle_kinds[i];
    g_assert_not_reached();
}

const char *variable_name_handle_ctype(WendKind kind)
{
    return variable_name_handle_kind(kind)->ctype;
}

const char *variable_name_handle_null(WendKind kind)
{
    return variable_name_handle_kind(kind)->null;
}

char *variable_name_suffix(guint thread)
{
    return thread == 0 ? g_strdup("") : g_strdup_printf("_of_thread_%u", thread);
}

char *variable_name_array(WendKind kind, guint thread)
{
    g_autofree char *suffix = variable_name_suffix(thread);
    return g_strconcat(variable_name_handle_kind(kind)->name, suffix, NULL);
}

char *variable_name_of_handle(Emitter *e, WendKind kind, gint64 handle)
{
    g_autofree char *name = variable_name_array(kind, word_handle_tid(handle)),
                    *index = column_index(e, word_handle_number(handle));
    return g_strdup_printf("%s[%s]", name, index);
}

/* The name of the array with the thread's requests. */
static char *array_of_requests(const Plan *plan, guint thread)
{
    return variable_name_array(WEND_KIND_REQUEST, variables_array_of_requests(plan, thread));
}

/* The current slot of the request: "at[3]". */
static char *place_now(Emitter *e, gint64 request)
{
    g_autofree char *suffix = variable_name_suffix(word_handle_tid(request)),
                    *index = column_index(
                        e, request_slots_index(variables_request_slots(e->plan), request));
    return g_strdup_printf("at%s[%s]", suffix, index);
}

char *variable_name_of_request(Emitter *e, gint64 request, RankList ranks)
{
    gint64 place = variables_place(e->plan, request, ranks);
    g_autofree char *name = array_of_requests(e->plan, word_handle_tid(request)),
                    *index = place < 0 ? place_now(e, request) : column_index(e, place);
    return g_strdup_printf("%s[%s]", name, index);
}

char *variable_name_of_request_moves(Emitter *e, gint64 request, RankList ranks)
{
    const RequestSlots *positions = variables_request_slots(e->plan);
    if (!positions || !request_slots_move(positions, request, ranks))
        return NULL;
    g_autofree char *suffix = variable_name_suffix(word_handle_tid(request)),
                    *now = place_now(e, request),
                    *index = column_index(e, request_slots_index(positions, request));
    return g_strdup_printf("%s = next_slot%s(%s);", now, suffix, index);
}

char *variable_name_of_list(Emitter *e, const RequestList *list, RankList ranks)
{
    gint64 first = 0;
    while (!word_is_handle(list->words[first]))
        first++;
    gint64 request = list->words[first], place = variables_place(e->plan, request, ranks);
    g_autofree char *name = array_of_requests(e->plan, word_handle_tid(request));
    if (place == first && !e->columns)
        return g_steal_pointer(&name);
    g_autofree char *index = place < 0 ? place_now(e, request) : column_index(e, place - first);
    return place >= 0 || first == 0
               ? g_strdup_printf("&%s[%s]", name, index)
               : g_strdup_printf("&%s[%s - %" G_GINT64_FORMAT "]", name, index, first);
}

/* -- request slots that differ by rank or in time -- */

/* Writes the function for requests of a thread that move. */
static void emit_next_slot(Emitter *e, GString *definitions, const char *suffix, guint requests)
{
    Statements *body = statements_new();
    g_autofree char *stays =
        g_strdup_printf("return at%s[request]; /* this rank does not move it */", suffix);
    statements_add(body, "static int made[%u];", requests);
    statements_add(body, "const int *move = moves%s[request];", suffix);
    statements_add_under(body, "if (!move)", stays);
    Statements *next = statements_block(body, "if (made[request]++ == move[0])");
    statements_add(next, "move += 2;");
    statements_add_under(next, "if (move[0] == 0) /* the end: the last ones come again */",
                         "move -= move[1];");
    statements_add(next, "moves%s[request] = move;", suffix);
    statements_add(next, "made[request] = 1;");
    statements_add(body, "return move[1];");
    g_string_append(definitions, "\n/* Where a request goes that is made now. */\n");
    statements_print_function(definitions, body, NULL, "%sint next_slot%s(int request)", e->linkage,
                              suffix);
}

/* Writes the lists of the thread's requests that move, for each layout that moves them. Appends
 * initializers to SET. */
static gboolean emit_moves(Emitter *e, const RequestSlots *p, guint thread, GString *set)
{
    gboolean any = FALSE;
    for (guint l = 0; l < p->layouts->len; l++) {
        const RequestLayout *layout = g_ptr_array_index(p->layouts, l);
        for (guint i = 0; i < request_numbers_count(p->numbers); i++) {
            if (request_numbers_thread(p->numbers, i) != thread || !layout->moves[i])
                continue;
            g_autoptr(GString) list = g_string_new("");
            for (guint k = 0; k < layout->moves[i]->len; k++) {
                const RequestMove *move = &g_array_index(layout->moves[i], RequestMove, k);
                g_string_append_printf(list, "%" G_GUINT64_FORMAT ", %" G_GINT64_FORMAT ", ",
                                       move->times, move->place);
            }
            g_string_append_printf(list, "0, %u", 2 * MAX(layout->again[i], 1));
            g_autofree char *dimensions = g_strdup_printf("[%u]", 2 * layout->moves[i]->len + 2),
                            *table = emit_literal_table(e, "int", "times_and_place", dimensions,
                                                        list->str);
            g_string_append_printf(set, "%s{%u, %u, %s}", any ? ", " : "", l,
                                   request_numbers_index(p->numbers, i), table);
            any = TRUE;
        }
    }
    return any;
}

static void emit_thread(Emitter *e, GString *declarations, GString *definitions, Statements *body,
                        const RequestSlots *p, guint thread)
{
    g_autofree char *suffix = variable_name_suffix(thread);
    guint n = request_slots_count(p, thread);
    g_string_append_printf(definitions, "%sint at%s[%u];\n", e->linkage, suffix, n);

    g_autofree gint64 *places = g_new(gint64, n);
    g_autoptr(GString) rows = g_string_new("");
    for (guint l = 0; l < p->layouts->len; l++) {
        const RequestLayout *layout = g_ptr_array_index(p->layouts, l);
        for (guint i = 0; i < request_numbers_count(p->numbers); i++)
            if (request_numbers_thread(p->numbers, i) == thread)
                places[request_numbers_index(p->numbers, i)] = MAX(layout->place[i], 0);
        g_string_append(rows, l ? ", {" : "{");
        for (guint i = 0; i < n; i++)
            g_string_append_printf(rows, "%s%" G_GINT64_FORMAT, i ? ", " : "", places[i]);
        g_string_append_c(rows, '}');
    }
    g_autofree char *dimensions = g_strdup_printf("[%u][%u]", p->layouts->len, n),
                    *table = emit_literal_table(e, "int", "places", dimensions, rows->str);
    statements_add(body, "memcpy(at%s, %s[layout], sizeof at%s);", suffix, table, suffix);

    g_autoptr(GString) moves = g_string_new("");
    if (emit_moves(e, p, thread, moves)) {
        g_string_append_printf(definitions, "static const int *moves%s[%u];\n", suffix, n);
        emit_next_slot(e, definitions, suffix, n);
        statements_add(
            body,
            "static const struct { int layout, request; const int *moves; } moving%s[] = {%s};",
            suffix, moves->str);
        Statements *each = statements_new(), *set = statements_new();
        statements_add(set, "moves%s[moving%s[i].request] = moving%s[i].moves;", suffix, suffix,
                       suffix);
        statements_under(each, set, "if (moving%s[i].layout == layout)", suffix);
        statements_under(body, each,
                         "for (size_t i = 0; i < sizeof moving%s / sizeof *moving%s; i++)", suffix,
                         suffix);
        if (!*e->linkage)
            g_string_append_printf(declarations, "int next_slot%s(int request);\n", suffix);
    }
    if (!*e->linkage)
        g_string_append_printf(declarations, "extern int at%s[%u];\n", suffix, n);
}

void emit_request_slots(Emitter *e, GString *declarations, GString *definitions)
{
    const RequestSlots *p = variables_request_slots(e->plan);
    if (!p || !p->vary)
        return;
    Statements *all = statements_new(), *body = statements_new();
    g_autofree gint64 *layouts = g_new(gint64, e->plan->n_ranks);
    g_autofree guint *ranks = g_new(guint, e->plan->n_ranks);
    g_autoptr(GHashTable) threads = g_hash_table_new(NULL, NULL);
    for (guint r = 0; r < e->plan->n_ranks; r++) {
        ranks[r] = r;
        layouts[r] = p->layout_of[r];
    }
    c_text_comment(definitions, 0,
                   "Where the requests are in their array, by their number: that differs by rank, "
                   "and where requests move, from time to time.");
    for (guint i = 0; i < request_numbers_count(p->numbers); i++) {
        guint thread = request_numbers_thread(p->numbers, i);
        if (g_hash_table_add(threads, GUINT_TO_POINTER(thread)))
            emit_thread(e, declarations, definitions, body, p, thread);
    }
    g_autofree char *layout =
        expression_by_rank(e, (RankList){e->plan->n_ranks, ranks}, layouts, "int", "layouts");
    statements_add(all, "int layout = %s;", layout);
    g_string_append_printf(definitions, "\n%s", e->definitions->str);
    g_string_set_size(e->definitions, 0);
    statements_move(all, body);
    statements_print_function(definitions, all, NULL, "%svoid place_requests(void)", e->linkage);
    if (!*e->linkage)
        g_string_append(declarations, "void place_requests(void);\n");
}
