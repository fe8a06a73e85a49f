/* SPDX-License-Identifier: BSD-3-Clause */
/* literal.c: writes words as constants of C, and tables of constants. */
#include "emitter.h"

static gint compare_numbers(gconstpointer a, gconstpointer b, gpointer numbers)
{
    guint x = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, a)),
          y = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, b));
    return x < y ? -1 : x > y;
}

GList *literal_order(GHashTable *numbers)
{
    return g_list_sort_with_data(g_hash_table_get_keys(numbers), compare_numbers, numbers);
}

char *literal(const Plan *plan, gint64 word)
{
    if (wend_word_is_const(word)) {
        const char *name = wend_program_constant_name(plan->program, word);
        return name ? c_token_identifier(name) : g_strdup("0");
    }
    if (wend_word_is_special(word))
        return g_strdup("0"); /* absent or unknown: any value is correct */
    return c_token_number(word);
}

char *literal_table(Emitter *e, const char *ctype, const char *name, const char *dimensions,
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
