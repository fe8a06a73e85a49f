/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_graphs.c: writes graphs that are made with the recorded order of neighbours. */
#include "emit_graphs.h"

#include <string.h>

#include "src/proxygen/plan/passes.h"

char *emit_graph_expression(Emitter *e, const CallPattern *c)
{
    gpointer number;
    if (!graphs_is_pinned(e->plan, c->terminal))
        return NULL;
    if (!g_hash_table_lookup_extended(e->graphs, GUINT_TO_POINTER(c->terminal), NULL, &number)) {
        number = GUINT_TO_POINTER(g_hash_table_size(e->graphs) + 1);
        g_hash_table_insert(e->graphs, GUINT_TO_POINTER(c->terminal), number);
    }
    e->needs[HELPER_GRAPH] = TRUE;
    const Arg *old = call_pattern_arg_named(c, "comm_old"),
              *info = call_pattern_arg_named(c, "info"),
              *made = call_pattern_arg_named(c, "comm_dist_graph");
    g_autofree char *comm = expression_handle(e, WEND_KIND_COMM, old->in[0].value);
    g_autofree char *hints = expression_handle(e, WEND_KIND_INFO, info->in[0].value);
    g_autofree char *graph = expression_handle(e, WEND_KIND_COMM, made->out[0].value);
    return g_strdup_printf("graph_create(%s, next_neighbours_%u(), %s, &%s)", comm,
                           GPOINTER_TO_UINT(number), hints, graph);
}

/* The lists of one rank, one after the other. If all are equal, there is one, which is used each
 * time. */
static char *lists_of(const GPtrArray *texts, guint *n)
{
    GString *all = g_string_new("");
    gboolean same = TRUE;
    for (guint i = 1; i < texts->len; i++)
        same &= strcmp(texts->pdata[i], texts->pdata[0]) == 0;
    for (guint i = 0; i < (same ? 1 : texts->len); i++)
        g_string_append(all, texts->pdata[i]);
    g_string_append(all, "-1");
    *n = 1;
    for (const char *p = all->str; *p; p++)
        *n += *p == ',';
    return g_string_free(all, FALSE);
}

static const char *const next_text =
    "    static const int *next;\n"
    "    const int *list = %s, *neighbours = next == NULL || *next < 0 ? list : next;\n"
    "    next = neighbours + 4 + (1 + neighbours[1]) * (neighbours[2] + neighbours[3]);\n"
    "    return neighbours;\n";

static void emit_one(Emitter *e, GString *out, guint terminal, guint number)
{
    GHashTable *by_rank = g_hash_table_lookup(e->plan->graphs, GUINT_TO_POINTER(terminal));
    RankList ranks = e->plan->terminal_ranks[terminal];
    g_autoptr(GString) rows = g_string_new("");
    guint first = ranks.ranks[0], n = ranks.ranks[ranks.n - 1] - first + 1;
    for (guint r = first; r < first + n; r++) {
        const GPtrArray *texts = g_hash_table_lookup(by_rank, GUINT_TO_POINTER(r));
        guint numbers = 1;
        g_autofree char *contents = texts ? lists_of(texts, &numbers) : g_strdup("-1");
        g_autofree char *dimensions = g_strdup_printf("[%u]", numbers);
        g_autofree char *table = literal_table(e, "int", "neighbours", dimensions, contents);
        g_string_append_printf(rows, "%s%s", r > first ? ", " : "", table);
    }
    g_autofree char *dimensions = g_strdup_printf("[%u]", n);
    g_autofree char *table =
        literal_table(e, "int *const", "neighbours_by_rank", dimensions, rows->str);
    g_autofree char *list =
        first ? g_strdup_printf("%s[rank - %u]", table, first) : g_strdup_printf("%s[rank]", table);
    g_string_append(out, e->definitions->str);
    g_string_set_size(e->definitions, 0);
    g_auto(GStrv) around = g_strsplit(next_text, "%s", 2);
    g_string_append_printf(out, "\n%sconst int *next_neighbours_%u(void)\n{\n%s%s%s}\n\n",
                           e->linkage, number, around[0], list, around[1]);
}

void emit_graphs(Emitter *e, GString *declarations, GString *definitions)
{
    g_autoptr(GList) terminals = literal_order(e->graphs);
    if (terminals)
        c_text_comment(definitions, 0,
                       "The neighbours in the graphs that calls made, one graph after the other: "
                       "the rank in it, whether there are weights, indegree, "
                       "outdegree, sources, destinations, their weights; -1 ends a list.");
    for (const GList *l = terminals; l; l = l->next) {
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(e->graphs, l->data));
        emit_one(e, definitions, GPOINTER_TO_UINT(l->data), number);
        if (!*e->linkage)
            g_string_append_printf(declarations, "const int *next_neighbours_%u(void);\n", number);
    }
}
