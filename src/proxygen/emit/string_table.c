/* SPDX-License-Identifier: BSD-3-Clause */
/* string_table.c: a table of the strings of a large program. Calls that differ in strings alone
 * then differ in numbers, and are one function (emit_tables.c). */
#include "emitter.h"
#include "row_tables.h"

typedef struct StringTable {
    GHashTable *indices; /* constant of C -> its index in ORDER, which owns it */
    GPtrArray *order;
} StringTable;

void string_table_begin(Emitter *e)
{
    e->strings = g_new0(StringTable, 1);
    e->strings->indices = g_hash_table_new(g_str_hash, g_str_equal);
    e->strings->order = g_ptr_array_new_with_free_func(g_free);
}

char *string_table_element(Emitter *e, char *constant)
{
    StringTable *t = e->strings;
    gpointer index;
    if (g_hash_table_lookup_extended(t->indices, constant, NULL, &index)) {
        g_free(constant);
    } else {
        index = GUINT_TO_POINTER(t->order->len);
        g_hash_table_insert(t->indices, constant, index);
        g_ptr_array_add(t->order, constant);
    }
    g_autofree char *column = column_index(e, GPOINTER_TO_UINT(index));
    return g_strdup_printf("strings[%s]", column);
}

void string_table_emit(Emitter *e, GString *declarations, GPtrArray *sections)
{
    const GPtrArray *order = e->strings->order;
    if (order->len == 0)
        return;
    GString *out = *e->linkage ? declarations : g_string_new("");
    g_string_append_printf(out, "%sconst char *const strings[%u] = {\n    ", e->linkage,
                           order->len);
    gsize line = 4;
    for (guint i = 0; i < order->len; i++)
        c_text_constant(out, &line, order->pdata[i]);
    g_string_append(out, "\n};\n");
    if (*e->linkage)
        return;
    g_string_append_printf(declarations, "extern const char *const strings[%u];\n", order->len);
    g_ptr_array_add(sections, out);
}

void string_table_free(Emitter *e)
{
    g_hash_table_destroy(e->strings->indices);
    g_ptr_array_unref(e->strings->order);
    g_clear_pointer(&e->strings, g_free);
}
