/* SPDX-License-Identifier: BSD-3-Clause */
/* locals.c: variables of the function that is written. */
#include <string.h>

#include "emitter.h"

typedef struct {
    char *ctype, *name;
    gint64 length;
} Local;

static void local_free(gpointer local)
{
    g_free(((Local *)local)->ctype);
    g_free(((Local *)local)->name);
    g_free(local);
}

void locals_begin(Emitter *e)
{
    e->locals = g_hash_table_new(g_str_hash, g_str_equal);
    e->local_order = g_ptr_array_new_with_free_func(local_free);
}

/* Whether the name has another meaning in the program, or in C. */
static gboolean is_taken(const char *name)
{
    static const char *const taken[] = {
        "rank",
        "comm",
        "group",
        "type",
        "op",
        "errhandler",
        "info",
        "file",
        "win",
        "message",
        "session",
        "keyval",
        "enumeration",
        "cvar",
        "pvar",
        "pvar_session",
        "event_registration",
        "event_instance",
        "request",
        "status",
        "statuses",
        "stack",
        "heap",
        "mapped",
        "at",
        "i",
        "v",
    };
    for (guint i = 0; i < G_N_ELEMENTS(taken); i++)
        if (strcmp(name, taken[i]) == 0)
            return TRUE;
    return FALSE;
}

const char *locals_variable(Emitter *e, const char *ctype, const char *name, gint64 length)
{
    g_autofree char *try = is_taken(name) ? g_strdup_printf("its_%s", name) : g_strdup(name);
    for (guint n = 2;; n++) {
        Local *local = g_hash_table_lookup(e->locals, try);
        if (!local) {
            local = g_new0(Local, 1);
            *local = (Local){g_strdup(ctype), g_strdup(try), length};
            g_hash_table_insert(e->locals, local->name, local);
            g_ptr_array_add(e->local_order, local);
            return local->name;
        }
        if (strcmp(local->ctype, ctype) == 0 && (local->length > 0) == (length > 0)) {
            local->length = MAX(local->length, length);
            return local->name;
        }
        g_free(try);
        try = g_strdup_printf("%s%u", name, n); /* name_2 may be a table */
    }
}

void locals_end(Emitter *e, GString *out, int indent)
{
    /* Scalars of one type share a line; large arrays are static. */
    for (guint i = 0; i < e->local_order->len; i++) {
        Local *local = g_ptr_array_index(e->local_order, i);
        if (!local->name)
            continue;
        gboolean pointer = g_str_has_suffix(local->ctype, "*");
        if (local->length > 0) {
            c_text_line(out, indent, "%s%s%s%s[%" G_GINT64_FORMAT "];",
                        local->length > 512 ? "static " : "", local->ctype, pointer ? "" : " ",
                        local->name, local->length);
            continue;
        }
        GString *line = g_string_new(local->ctype);
        for (guint k = i; k < e->local_order->len; k++) {
            Local *other = g_ptr_array_index(e->local_order, k);
            if (!other->name || other->length > 0 || strcmp(other->ctype, local->ctype) != 0)
                continue;
            g_string_append_printf(line, "%s%s%s", k == i ? (pointer ? "" : " ") : ", ",
                                   k > i && pointer ? "*" : "", other->name);
            if (k > i)
                g_clear_pointer(&other->name, g_free);
        }
        c_text_line(out, indent, "%s;", line->str);
        g_string_free(line, TRUE);
    }
    if (e->local_order->len)
        c_text_line(out, 0, "%s", "");
    g_hash_table_destroy(e->locals);
    g_ptr_array_free(e->local_order, TRUE);
    e->locals = NULL;
    e->local_order = NULL;
}

const char *locals_static_array(Emitter *e, const char *ctype, const char *param, gint64 n,
                                const char *elements)
{
    g_autofree char *key = g_strdup_printf("filled %s %s %s", ctype, param, elements);
    const char *name = g_hash_table_lookup(e->tables, key);
    if (!name) {
        char *made = g_strdup_printf("%s_%u", param, ++e->n_tables);
        c_text_line(e->definitions, 0, "static %s %s[%" G_GINT64_FORMAT "];", ctype, made, n);
        g_hash_table_insert(e->tables, g_steal_pointer(&key), made);
        name = made;
    }
    return name;
}
