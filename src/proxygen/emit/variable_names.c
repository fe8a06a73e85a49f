/* SPDX-License-Identifier: BSD-3-Clause */
/* variable_names.c: see variable_names.h. */
#include "variable_names.h"

#include "row_tables.h"

static const HandleVariable handle_kinds[] = {
    {WEND_KIND_COMM, "MPI_Comm", "comm", "MPI_COMM_NULL"},
    {WEND_KIND_GROUP, "MPI_Group", "group", "MPI_GROUP_NULL"},
    {WEND_KIND_DATATYPE, "MPI_Datatype", "type", "MPI_DATATYPE_NULL"},
    {WEND_KIND_OP, "MPI_Op", "op", "MPI_OP_NULL"},
    {WEND_KIND_ERRHANDLER, "MPI_Errhandler", "errhandler", "MPI_ERRHANDLER_NULL"},
    {WEND_KIND_INFO, "MPI_Info", "info", "MPI_INFO_NULL"},
    {WEND_KIND_FILE, "MPI_File", "file", "MPI_FILE_NULL"},
    {WEND_KIND_WIN, "MPI_Win", "win", "MPI_WIN_NULL"},
    {WEND_KIND_MESSAGE, "MPI_Message", "message", "MPI_MESSAGE_NULL"},
    {WEND_KIND_SESSION, "MPI_Session", "session", "MPI_SESSION_NULL"},
    {WEND_KIND_KEYVAL, "int", "keyval", "MPI_KEYVAL_INVALID"},
    {WEND_KIND_TENUM, "MPI_T_enum", "enumeration", "MPI_T_ENUM_NULL"},
    {WEND_KIND_CVAR, "MPI_T_cvar_handle", "cvar", "MPI_T_CVAR_HANDLE_NULL"},
    {WEND_KIND_PVAR, "MPI_T_pvar_handle", "pvar", "MPI_T_PVAR_HANDLE_NULL"},
    {WEND_KIND_PVARSESSION, "MPI_T_pvar_session", "pvar_session", "MPI_T_PVAR_SESSION_NULL"},
    {WEND_KIND_EVENTREG, "MPI_T_event_registration", "event_registration", "NULL"},
    {WEND_KIND_EVENT, "MPI_T_event_instance", "event_instance", "NULL"},
    {WEND_KIND_REQUEST, "MPI_Request", "request", "MPI_REQUEST_NULL"},
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
    g_autofree char *name = variable_name_array(kind, wend_word_handle_tid(handle)),
                    *index = column_index(e, wend_word_handle_number(handle));
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
    g_autofree char *suffix = variable_name_suffix(wend_word_handle_tid(request)),
                    *index = column_index(
                        e, request_slots_index(variables_request_slots(e->plan), request));
    return g_strdup_printf("at%s[%s]", suffix, index);
}

char *variable_name_of_request(Emitter *e, gint64 request, RankList ranks)
{
    gint64 place = variables_place(e->plan, request, ranks);
    g_autofree char *name = array_of_requests(e->plan, wend_word_handle_tid(request)),
                    *index = place < 0 ? place_now(e, request) : column_index(e, place);
    return g_strdup_printf("%s[%s]", name, index);
}

char *variable_name_of_request_moves(Emitter *e, gint64 request, RankList ranks)
{
    const RequestSlots *positions = variables_request_slots(e->plan);
    if (!positions || !request_slots_move(positions, request, ranks))
        return NULL;
    g_autofree char *suffix = variable_name_suffix(wend_word_handle_tid(request)),
                    *now = place_now(e, request),
                    *index = column_index(e, request_slots_index(positions, request));
    return g_strdup_printf("%s = next_slot%s(%s);", now, suffix, index);
}

char *variable_name_of_list(Emitter *e, const RequestList *list, RankList ranks)
{
    gint64 first = 0;
    while (!wend_word_is_handle(list->words[first]))
        first++;
    gint64 request = list->words[first], place = variables_place(e->plan, request, ranks);
    g_autofree char *name = array_of_requests(e->plan, wend_word_handle_tid(request));
    if (place == first && !e->columns)
        return g_steal_pointer(&name);
    g_autofree char *index = place < 0 ? place_now(e, request) : column_index(e, place - first);
    return place >= 0 || first == 0
               ? g_strdup_printf("&%s[%s]", name, index)
               : g_strdup_printf("&%s[%s - %" G_GINT64_FORMAT "]", name, index, first);
}
