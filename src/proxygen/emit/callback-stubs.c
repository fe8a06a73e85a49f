/* SPDX-License-Identifier: BSD-3-Clause */
/* callback-stubs.c: stubs for the functions that the application handed to MPI. */
#include "src/proxygen/emit/emit.h"

#include <string.h>

/* Stubs for a kind of handle that copy an attribute, delete one, and handle an error. */
#define COPIES(type, name, handle)                                                                 \
    {                                                                                              \
        type, name, "int", handle " old, int key, void *extra, void *in, void *out, int *flag",    \
            "(void)old; (void)key; (void)extra; *(void **)out = in; *flag = returned->flag;", TRUE \
    }
#define DELETES(type, name, handle)                                                \
    {                                                                              \
        type, name, "int", handle " which, int key, void *attribute, void *extra", \
            "(void)which; (void)key; (void)attribute; (void)extra;", FALSE         \
    }
#define HANDLES(type, name, handle)                                       \
    {                                                                     \
        type, name, "void", handle " *which, int *code, ...",             \
            "(void)which; if (returned->flag) *code = MPI_SUCCESS;", TRUE \
    }

static const StubType stub_types[] = {
    {"MPI_User_function", "user_op", "void",
     "void *in, void *inout, int *len, MPI_Datatype *datatype",
     "(void)in; (void)inout; (void)len; (void)datatype;", FALSE},
    {"MPI_User_function_c", "user_op_large", "void",
     "void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype",
     "(void)in; (void)inout; (void)len; (void)datatype;", FALSE},
    COPIES("MPI_Comm_copy_attr_function", "comm_copy", "MPI_Comm"),
    DELETES("MPI_Comm_delete_attr_function", "comm_delete", "MPI_Comm"),
    COPIES("MPI_Type_copy_attr_function", "type_copy", "MPI_Datatype"),
    DELETES("MPI_Type_delete_attr_function", "type_delete", "MPI_Datatype"),
    COPIES("MPI_Win_copy_attr_function", "win_copy", "MPI_Win"),
    DELETES("MPI_Win_delete_attr_function", "win_delete", "MPI_Win"),
    COPIES("MPI_Copy_function", "copy", "MPI_Comm"),
    DELETES("MPI_Delete_function", "delete", "MPI_Comm"),
    HANDLES("MPI_Comm_errhandler_function", "comm_error", "MPI_Comm"),
    HANDLES("MPI_File_errhandler_function", "file_error", "MPI_File"),
    HANDLES("MPI_Win_errhandler_function", "win_error", "MPI_Win"),
    HANDLES("MPI_Session_errhandler_function", "session_error", "MPI_Session"),
    HANDLES("MPI_Handler_function", "error", "MPI_Comm"),
    {"MPI_Grequest_query_function", "grequest_query", "int", "void *extra, MPI_Status *its_status",
     "(void)extra; PMPI_Status_set_elements(its_status, MPI_BYTE, 0); "
     "PMPI_Status_set_cancelled(its_status, 0); its_status->MPI_SOURCE = MPI_UNDEFINED; "
     "its_status->MPI_TAG = MPI_UNDEFINED;",
     FALSE},
    {"MPI_Grequest_free_function", "grequest_free", "int", "void *extra", "(void)extra;", FALSE},
    {"MPI_Grequest_cancel_function", "grequest_cancel", "int", "void *extra, int complete",
     "(void)extra; (void)complete;", FALSE},
    {"MPI_Datarep_conversion_function", "datarep_convert", "int",
     "void *user, MPI_Datatype datatype, int n, void *file_buffer, MPI_Offset position, void "
     "*extra",
     "(void)user; (void)datatype; (void)n; (void)file_buffer; (void)position; (void)extra;", FALSE},
    {"MPI_Datarep_conversion_function_c", "datarep_convert_large", "int",
     "void *user, MPI_Datatype datatype, MPI_Count n, void *file_buffer, MPI_Offset position, void "
     "*extra",
     "(void)user; (void)datatype; (void)n; (void)file_buffer; (void)position; (void)extra;", FALSE},
    {"MPI_Datarep_extent_function", "datarep_extent", "int",
     "MPI_Datatype datatype, MPI_Aint *extent, void *extra",
     "MPI_Aint lower; (void)extra; PMPI_Type_get_extent(datatype, &lower, extent);", FALSE},
};

static void stub_free(gpointer stub)
{
    g_free(((Stub *)stub)->name);
    g_free(stub);
}

gboolean callback_stubs_find(Plan *plan, Error **error)
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
        if (g_str_has_prefix(ctype, stub_types[i].ctype)
            && !g_ascii_isalnum(ctype[strlen(stub_types[i].ctype)])
            && ctype[strlen(stub_types[i].ctype)] != '_')
            return &stub_types[i];
    return NULL;
}

char *callback_name(Emitter *e, gint64 word, const char *ctype)
{
    if (word_is_const(word))
        return emit_literal(e->plan, word);
    const StubType *type = type_of(ctype);
    if (!type || !word_is_handle(word))
        return g_strdup("NULL");
    Callbacks *c = e->plan->callbacks;
    g_autofree char *key = g_strdup_printf("%" G_GINT64_FORMAT " %s", word, type->body);
    Stub *stub = g_hash_table_lookup(c->stubs, key);
    if (!stub) {
        g_autofree char *thread = word_handle_tid(word)
                                      ? g_strdup_printf("_of_thread_%u", word_handle_tid(word))
                                      : g_strdup("");
        stub = g_new0(Stub, 1);
        *stub = (Stub){word, type,
                       g_strdup_printf("%s%s_%u", type->name, thread, word_handle_number(word))};
        g_hash_table_insert(c->stubs, g_steal_pointer(&key), stub);
        g_ptr_array_add(c->order, stub);
    }
    if (type == stub->type)
        return g_strdup(stub->name);
    return g_strdup_printf("(%s *)(void (*)(void))%s", type->ctype, stub->name);
}
