/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_sources.c: writes the sources of pinned receives (wildcards.c), and of turns (send_order.c).
 *
 * The sources of one call are consumed in the order in which the rank makes it, at any place. So
 * each pinned call has one function that returns the next source. For a persistent receive that got
 * messages of several ranks, it returns the sources of all starts, and helpers make the calls on
 * such requests (HELPER_AIM_INIT and so on). */
#include "emitter.h"

char *emit_wildcard_source(Emitter *e, const Wildcard *wildcard)
{
    gpointer number;
    if (!g_hash_table_lookup_extended(e->pinned, GUINT_TO_POINTER(wildcard->terminal), NULL,
                                      &number)) {
        number = GUINT_TO_POINTER(g_hash_table_size(e->pinned) + 1);
        g_hash_table_insert(e->pinned, GUINT_TO_POINTER(wildcard->terminal), number);
    }
    return g_strdup_printf("next_source%s_%u()", wildcard->starts ? "s" : "",
                           GPOINTER_TO_UINT(number));
}

static void append_source(GString *contents, gint32 source)
{
    if (source < 0)
        g_string_append(contents, "MPI_ANY_SOURCE, "); /* no message came */
    else
        g_string_append_printf(contents, "%d, ", source);
}

/* Appends the sources of a rank as initializers. Returns the number of elements. */
static guint append_sources(GString *contents, const Wildcard *wildcard, guint rank)
{
    const GArray *sources = g_hash_table_lookup(wildcard->sources, GUINT_TO_POINTER(rank));
    const GPtrArray *starts =
        wildcard->starts ? g_hash_table_lookup(wildcard->starts, GUINT_TO_POINTER(rank)) : NULL;
    guint n = 0;
    for (guint i = 0; starts && i < starts->len; i++) {
        const GArray *list = starts->pdata[i];
        for (guint k = 0; k < list->len; k++)
            append_source(contents, g_array_index(list, gint32, k));
        g_string_append(contents, "-1000, ");
        n += list->len + 1;
    }
    for (guint i = 0; !starts && i < sources->len; i++) {
        if (wildcard->pinned)
            append_source(contents, g_array_index(sources, gint32, i));
        else
            g_string_append_printf(contents, "%d, ", g_array_index(sources, gint32, i));
        n++;
    }
    g_string_append(contents, wildcard->starts ? "-2000" : "-1000");
    return n + 1;
}

static const char *const source_text = "    static long next;\n"
                                       "    const int *list = %s;\n"
                                       "    if (next > 0 && list[next] == -1000)\n"
                                       "        next = 0; /* the last one was reached */\n"
                                       "    return list[next++];\n";

static const char *const sources_text =
    "    static const int *next;\n"
    "    const int *list = %s, *sources = next == NULL || *next == -2000 ? list : next;\n"
    "    for (next = sources; *next++ != -1000;)\n"
    "        ;\n"
    "    return sources;\n";

static const char *declaration_of(const Wildcard *wildcard)
{
    return wildcard->starts ? "const int *next_sources" : "int next_source";
}

static void emit_one(Emitter *e, GString *out, const Wildcard *wildcard, guint number)
{
    const Plan *plan = e->plan;
    g_autoptr(GString) rows = g_string_new("");
    g_autofree char *only = NULL;
    gboolean same = TRUE;
    RankList ranks = plan->terminal_ranks[wildcard->terminal];
    guint first = ranks.ranks[0], n = ranks.ranks[ranks.n - 1] - first + 1;
    for (guint r = first; r < first + n; r++) {
        const GArray *sources = g_hash_table_lookup(wildcard->sources, GUINT_TO_POINTER(r));
        g_string_append(rows, r > first ? ", " : "");
        if (!sources) {
            /* A rank that names the source itself in this call, or does not make the call. */
            g_autofree char *own =
                !wildcard->pinned         ? g_strdup("-1")
                : rank_list_has(ranks, r) ? literal(
                      plan, wend_program_slot(plan->program, wildcard->terminal, wildcard->slot, r))
                                          : g_strdup("0");
            g_autofree char *contents =
                g_strdup_printf("%s, -1000%s", own, wildcard->starts ? ", -2000" : "");
            g_autofree char *table =
                literal_table(e, "int", "sources", wildcard->starts ? "[3]" : "[2]", contents);
            g_string_append(rows, table);
            same = FALSE;
            continue;
        }
        g_autoptr(GString) contents = g_string_new("");
        g_autofree char *dimensions =
            g_strdup_printf("[%u]", append_sources(contents, wildcard, r));
        char *table = literal_table(e, "int", "sources", dimensions, contents->str);
        same &= !only || g_str_equal(only, table);
        g_free(only);
        only = table;
        g_string_append(rows, table);
    }
    g_autofree char *list = NULL;
    if (same) {
        list = g_strdup(only);
    } else {
        g_autofree char *dimensions = g_strdup_printf("[%u]", n);
        g_autofree char *table =
            literal_table(e, "int *const", "sources_by_rank", dimensions, rows->str);
        list = first ? g_strdup_printf("%s[rank - %u]", table, first)
                     : g_strdup_printf("%s[rank]", table);
    }
    g_string_append(out, e->definitions->str);
    g_string_set_size(e->definitions, 0);
    g_auto(GStrv) around = g_strsplit(wildcard->starts ? sources_text : source_text, "%s", 2);
    g_string_append_printf(out, "\n%s%s_%u(void)\n{\n%s%s%s}\n\n", e->linkage,
                           declaration_of(wildcard), number, around[0], list, around[1]);
}

void emit_wildcard_sources(Emitter *e, GString *declarations, GString *definitions)
{
    g_autoptr(GList) terminals = literal_order(e->pinned);
    if (terminals)
        c_text_comment(definitions, 0,
                       "Where the messages of calls came from when it was recorded, one after the "
                       "other; -1000 ends a list, -2000 the last one of several.");
    for (const GList *l = terminals; l; l = l->next) {
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(e->pinned, l->data));
        const Wildcard *wildcard = g_hash_table_lookup(e->plan->wildcards, l->data);
        if (!wildcard)
            wildcard = g_hash_table_lookup(e->plan->send_order, l->data);
        emit_one(e, definitions, wildcard, number);
        if (!*e->linkage)
            g_string_append_printf(declarations, "%s_%u(void);\n", declaration_of(wildcard),
                                   number);
    }
}
