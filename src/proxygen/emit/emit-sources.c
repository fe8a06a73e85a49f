/* SPDX-License-Identifier: BSD-3-Clause */
/* emit-sources.c: writes what the run decided: the sources of pinned receives (wildcards.c), turns
 * (send-order.c), and the neighbours in graphs (graphs.c).
 *
 * The sources of one call are consumed in the order in which the rank makes it, at any place. So
 * each pinned call has one function that returns the next source. For a persistent receive that got
 * messages of several ranks, it returns the sources of all starts, and helpers make the calls on
 * such requests (recv_init_pinned and so on). */
#include <string.h>

#include "src/proxygen/emit/emit.h"

void emit_next_function(Emitter *e, GString *declarations, GString *definitions, const char *name,
                        guint number, Statements *body)
{
    g_string_append(definitions, e->definitions->str);
    if (e->definitions->len)
        g_string_append_c(definitions, '\n');
    g_string_set_size(e->definitions, 0);
    statements_print_function(definitions, body, NULL, "%s%s_%u(void)", e->linkage, name, number);
    if (!*e->linkage)
        g_string_append_printf(declarations, "%s_%u(void);\n", name, number);
}

/* -- sources -- */

char *emit_wildcard_source(Emitter *e, const Wildcard *wildcard)
{
    return g_strdup_printf("next_source%s_%u()", wildcard->starts ? "s" : "",
                           emit_number_of(e->pinned, wildcard->terminal));
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

/* The list of a rank that names the source itself in this call, or does not make the call. */
static char *own_source(const Plan *plan, const Wildcard *wildcard, guint rank)
{
    if (!wildcard->pinned)
        return g_strdup("-1");
    if (!rank_list_has(plan->terminal_ranks[wildcard->terminal], rank))
        return g_strdup("0");
    return emit_literal(plan,
                        program_slot(plan->program, wildcard->terminal, wildcard->slot, rank));
}

/* The list of the current rank's sources, as an expression. */
static char *sources_table(Emitter *e, const Wildcard *wildcard)
{
    g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(g_free);
    RankList ranks = e->plan->terminal_ranks[wildcard->terminal];
    for (guint r = ranks.ranks[0]; r <= ranks.ranks[ranks.n - 1]; r++) {
        g_autoptr(GString) contents = g_string_new("");
        guint n = wildcard->starts ? 3 : 2;
        if (g_hash_table_contains(wildcard->sources, GUINT_TO_POINTER(r))) {
            n = append_sources(contents, wildcard, r);
        } else {
            g_autofree char *own = own_source(e->plan, wildcard, r);
            g_string_append_printf(contents, "%s, -1000%s", own, wildcard->starts ? ", -2000" : "");
        }
        g_autofree char *dimensions = g_strdup_printf("[%u]", n);
        g_ptr_array_add(tables, emit_literal_table(e, "int", "sources", dimensions, contents->str));
    }
    return emit_literal_by_rank(e, "int", "sources", ranks.ranks[0], tables);
}

static Statements *next_source(const char *list)
{
    Statements *body = statements_new();
    statements_add(body, "static long next;");
    statements_add(body, "const int *list = %s;", list);
    statements_add_under(body, "if (next > 0 && list[next] == -1000)",
                         "next = 0; /* the last one was reached */");
    statements_add(body, "return list[next++];");
    return body;
}

static Statements *next_sources(const char *list)
{
    Statements *body = statements_new();
    statements_add(body, "static const int *next;");
    statements_add(body,
                   "const int *list = %s, *sources = next == NULL || *next == -2000 ? list : next;",
                   list);
    statements_add_under(body, "for (next = sources; *next++ != -1000;)", ";");
    statements_add(body, "return sources;");
    return body;
}

void emit_wildcard_sources(Emitter *e, GString *declarations, GString *definitions)
{
    g_autoptr(GList) terminals = emit_literal_order(e->pinned);
    if (terminals)
        c_text_comment(definitions, 0,
                       "Where the messages of calls came from when it was recorded, one after the "
                       "other; -1000 ends a list, -2000 the last one of several.");
    for (const GList *l = terminals; l; l = l->next) {
        const Wildcard *wildcard = g_hash_table_lookup(e->plan->wildcards, l->data);
        if (!wildcard)
            wildcard = g_hash_table_lookup(e->plan->send_order, l->data);
        g_autofree char *list = sources_table(e, wildcard);
        emit_next_function(e, declarations, definitions,
                           wildcard->starts ? "const int *next_sources" : "int next_source",
                           emit_number_of(e->pinned, wildcard->terminal),
                           wildcard->starts ? next_sources(list) : next_source(list));
    }
}

/* -- graphs that are made with the recorded order of neighbours -- */

char *emit_graph_expression(Emitter *e, const CallPattern *c)
{
    if (!graphs_is_pinned(e->plan, c->terminal))
        return NULL;
    e->needs[HELPER_graph_create] = TRUE;
    const Arg *old = call_pattern_arg_named(c, "comm_old"),
              *info = call_pattern_arg_named(c, "info"),
              *made = call_pattern_arg_named(c, "comm_dist_graph");
    g_autofree char *comm = expression_handle(e, WEND_KIND_COMM, old->in[0].value);
    g_autofree char *hints = expression_handle(e, WEND_KIND_INFO, info->in[0].value);
    g_autofree char *graph = expression_handle(e, WEND_KIND_COMM, made->out[0].value);
    return g_strdup_printf("graph_create(%s, next_neighbours_%u(), %s, &%s)", comm,
                           emit_number_of(e->graphs, c->terminal), hints, graph);
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

/* The lists of the current rank, as an expression. */
static char *neighbours_table(Emitter *e, guint terminal)
{
    g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(g_free);
    GHashTable *by_rank = g_hash_table_lookup(e->plan->graphs, GUINT_TO_POINTER(terminal));
    RankList ranks = e->plan->terminal_ranks[terminal];
    for (guint r = ranks.ranks[0]; r <= ranks.ranks[ranks.n - 1]; r++) {
        const GPtrArray *texts = g_hash_table_lookup(by_rank, GUINT_TO_POINTER(r));
        guint numbers = 1;
        g_autofree char *contents = texts ? lists_of(texts, &numbers) : g_strdup("-1");
        g_autofree char *dimensions = g_strdup_printf("[%u]", numbers);
        g_ptr_array_add(tables, emit_literal_table(e, "int", "neighbours", dimensions, contents));
    }
    return emit_literal_by_rank(e, "int", "neighbours", ranks.ranks[0], tables);
}

void emit_graphs(Emitter *e, GString *declarations, GString *definitions)
{
    g_autoptr(GList) terminals = emit_literal_order(e->graphs);
    if (terminals)
        c_text_comment(definitions, 0,
                       "The neighbours in the graphs that calls made, one graph after the other: "
                       "the rank in it, whether there are weights, indegree, "
                       "outdegree, sources, destinations, their weights; -1 ends a list.");
    for (const GList *l = terminals; l; l = l->next) {
        guint terminal = GPOINTER_TO_UINT(l->data);
        Statements *body = statements_new();
        g_autofree char *list = neighbours_table(e, terminal);
        statements_add(body, "static const int *next;");
        statements_add(
            body, "const int *list = %s, *neighbours = next == NULL || *next < 0 ? list : next;",
            list);
        statements_add(
            body, "next = neighbours + 4 + (1 + neighbours[1]) * (neighbours[2] + neighbours[3]);");
        statements_add(body, "return neighbours;");
        emit_next_function(e, declarations, definitions, "const int *next_neighbours",
                           emit_number_of(e->graphs, terminal), body);
    }
}
