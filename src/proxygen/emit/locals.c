/* SPDX-License-Identifier: BSD-3-Clause */
/* locals.c: words as constants, tables of constants, and variables of the function that is
 * written. */
#include <string.h>

#include "src/proxygen/emit/emit.h"

/* -- constants -- */

static gint compare_numbers(gconstpointer a, gconstpointer b, gpointer numbers)
{
    guint x = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, a)),
          y = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, b));
    return x < y ? -1 : x > y;
}

GList *emit_literal_order(GHashTable *numbers)
{
    return g_list_sort_with_data(g_hash_table_get_keys(numbers), compare_numbers, numbers);
}

char *emit_literal(const Plan *plan, gint64 word)
{
    if (word_is_const(word)) {
        const char *name = program_constant_name(plan->program, word);
        return name ? c_token_identifier(name) : g_strdup("0");
    }
    if (word_is_special(word))
        return g_strdup("0"); /* absent or unknown: any value is correct */
    return c_token_number(word);
}

char *emit_literal_table(Emitter *e, const char *ctype, const char *name, const char *dimensions,
                         const char *contents)
{
    g_autofree char *key = g_strdup_printf("%s%s%s", ctype, dimensions, contents);
    const char *known = g_hash_table_lookup(e->tables, key);
    if (known)
        return g_strdup(known);
    char *made = g_strdup_printf("%s_%u", name, ++e->n_tables);
    g_hash_table_insert(e->tables, g_steal_pointer(&key), g_strdup(made));
    c_text_line(e->definitions, 0, "static const %s %s%s = {%s};", ctype, made, dimensions,
                contents);
    return made;
}

char *emit_literal_by_rank(Emitter *e, const char *ctype, const char *name, guint first,
                           const GPtrArray *tables)
{
    g_autoptr(GString) list = g_string_new("");
    const char *only = NULL;
    gboolean same = TRUE;
    for (guint i = 0; i < tables->len; i++) {
        const char *one = tables->pdata[i];
        g_string_append_printf(list, "%s%s", i ? ", " : "", one ? one : "NULL");
        same &= !one || !only || strcmp(one, only) == 0;
        only = one ? one : only;
    }
    if (same && only)
        return g_strdup(only);
    g_autofree char *dimensions = g_strdup_printf("[%u]", tables->len),
                    *pointer = g_strdup_printf("%s *const", ctype),
                    *by_rank = g_strdup_printf("%s_by_rank", name),
                    *table = emit_literal_table(e, pointer, by_rank, dimensions, list->str);
    return first ? g_strdup_printf("%s[rank - %u]", table, first)
                 : g_strdup_printf("%s[rank]", table);
}

char *emit_literal_string(Emitter *e, char *constant)
{
    gpointer index;
    if (g_hash_table_lookup_extended(e->string_indices, constant, NULL, &index)) {
        g_free(constant);
    } else {
        index = GUINT_TO_POINTER(e->strings->len);
        g_hash_table_insert(e->string_indices, constant, index);
        g_ptr_array_add(e->strings, constant);
    }
    g_autofree char *column = column_index(e, GPOINTER_TO_UINT(index));
    return g_strdup_printf("strings[%s]", column);
}

guint emit_number_of(GHashTable *numbers, guint terminal)
{
    gpointer number;
    if (g_hash_table_lookup_extended(numbers, GUINT_TO_POINTER(terminal), NULL, &number))
        return GPOINTER_TO_UINT(number);
    g_hash_table_insert(numbers, GUINT_TO_POINTER(terminal),
                        GUINT_TO_POINTER(g_hash_table_size(numbers) + 1));
    return g_hash_table_size(numbers);
}

/* -- variables -- */

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
    static const char *const taken[] = {"rank",
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
                                        "v"};
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

void locals_end(Emitter *e, Statements *out)
{
    /* Scalars of one type share a line; large arrays are static. */
    for (guint i = 0; i < e->local_order->len; i++) {
        const Local *local = g_ptr_array_index(e->local_order, i);
        if (!local->name)
            continue;
        gboolean pointer = g_str_has_suffix(local->ctype, "*");
        if (local->length > 0) {
            statements_add(out, "%s%s%s%s[%" G_GINT64_FORMAT "];",
                           local->length > 512 ? "static " : "", local->ctype, pointer ? "" : " ",
                           local->name, local->length);
            continue;
        }
        g_autoptr(GString) names = g_string_new(local->name);
        for (guint k = i + 1; k < e->local_order->len; k++) {
            Local *other = g_ptr_array_index(e->local_order, k);
            if (!other->name || other->length > 0 || strcmp(other->ctype, local->ctype) != 0)
                continue;
            g_string_append_printf(names, ", %s%s", pointer ? "*" : "", other->name);
            g_clear_pointer(&other->name, g_free);
        }
        statements_add(out, "%s%s%s;", local->ctype, pointer ? "" : " ", names->str);
    }
    if (e->local_order->len)
        statements_add(out, "%s", "");
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
