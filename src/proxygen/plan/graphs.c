/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs.c: graphs whose neighbours must be in the recorded order.
 *
 * The creation of a graph is collective, so either all calls become MPI_Dist_graph_create_adjacent,
 * or none. They do if a call depends on the order of neighbours. Such calls are neighbourhood
 * collectives with blocks of different sizes or types on one rank, and MPI_Dist_graph_neighbors for
 * a part of the neighbours. If all blocks of each rank are alike, the blocks at the two ends of an
 * edge have equal sizes in any order. */
#include "src/proxygen/plan/passes.h"

#include <string.h>

#include "lib/read/graph-order.h"
#include "lib/record/neighbours.h"

/* -- whether the order matters -- */

/* Whether all elements of the array are equal on RANK. */
static gboolean all_equal(const CallPattern *c, const Arg *arg, guint rank)
{
    for (gint64 i = 1; i < arg->n_in; i++)
        if (call_pattern_value(c, arg->in[i], rank) != call_pattern_value(c, arg->in[0], rank))
            return FALSE;
    return TRUE;
}

/* Whether the counts and types of the blocks are alike. Displacements do not matter: they are not
 * sent. */
static gboolean blocks_alike(const CallPattern *c, RankList ranks)
{
    static const char *const names[] = {"sendcounts", "sendtypes", "recvcounts", "recvtypes"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        const Arg *arg = call_pattern_arg_named(c, names[k]);
        for (guint r = 0; arg && arg->param->array && r < ranks.n; r++)
            if (!all_equal(c, arg, ranks.ranks[r]))
                return FALSE;
    }
    return TRUE;
}

/* Whether the call may ask for fewer neighbours than there are. It then fills its arrays. */
static gboolean may_be_cut(const CallPattern *c, RankList ranks)
{
    static const char *const names[][2] = {{"maxindegree", "sources"},
                                           {"maxoutdegree", "destinations"}};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        const Arg *most = call_pattern_arg_named(c, names[k][0]),
                  *list = call_pattern_arg_named(c, names[k][1]);
        for (guint r = 0; most && list && r < ranks.n; r++)
            if (list->n_out > 0 && call_pattern_number(c, most, ranks.ranks[r], 0) <= list->n_out)
                return TRUE;
    }
    return FALSE;
}

typedef enum {
    NO,
    YES,
    PERHAPS
    /* PERHAPS: a list may be a part of the neighbours, which only a walk of the calls tells */
} Certainty;

static Certainty order_matters(Plan *plan)
{
    WendGraphOrders *orders = graph_orders_new(plan->program);
    Certainty answer = NO;
    for (guint t = 0; orders && answer != YES && t < program_n_terminals(plan->program); t++) {
        RankList ranks = plan->terminal_ranks[t];
        GraphOrder order = graph_order(orders, t);
        if (ranks.n == 0 || order == GRAPH_ORDER_NONE)
            continue;
        call_pattern_decode(plan->call, t);
        if (plan->call->failed)
            continue;
        if (order == GRAPH_ORDER_COLLECTS && !blocks_alike(plan->call, ranks))
            answer = YES;
        if (order == GRAPH_ORDER_LISTS && may_be_cut(plan->call, ranks))
            answer = PERHAPS;
    }
    graph_orders_free(orders);
    return answer;
}

/* -- the recorded order -- */

static gboolean makes_graph(const WendFunction *f)
{
    return f->id == WEND_FN_MPI_Dist_graph_create;
}

static void append_list(GString *text, const gint64 *values, gint64 n)
{
    for (gint64 i = 0; values && i < n; i++)
        g_string_append_printf(text, "%" G_GINT64_FORMAT ", ", values[i]);
}

/* The text that graph_create() of the proxy reads. NULL if the order is not recorded. */
static char *text_of(const WendCall *call)
{
    const WendArg *arg = call_arg_of_kind(call, WEND_KIND_NEIGHBOURS),
                  *made = call_arg(call, "comm_dist_graph");
    Neighbours graph;
    if (!arg || !made || made->n_out != 1 || !neighbours_read(arg->out, arg->n_out, &graph))
        return NULL;
    GString *text = g_string_new("");
    g_string_append_printf(text,
                           "%" G_GINT64_FORMAT ", %d, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", ",
                           made->out[2], graph.weighted, graph.n[0], graph.n[1]);
    for (guint i = 0; i < 2; i++)
        append_list(text, graph.ranks[i], graph.n[i]);
    for (guint i = 0; i < 2; i++)
        append_list(text, graph.weights[i], graph.n[i]);
    return g_string_free(text, FALSE);
}

/* Returns FALSE if the order is not recorded. */
static gboolean note_call(Plan *plan, const WendCall *call)
{
    char *text = text_of(call);
    GHashTable *by_rank = g_hash_table_lookup(plan->graphs, GUINT_TO_POINTER(call->terminal));
    if (!by_rank) {
        by_rank = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
        g_hash_table_insert(plan->graphs, GUINT_TO_POINTER(call->terminal), by_rank);
    }
    GPtrArray *texts = g_hash_table_lookup(by_rank, GUINT_TO_POINTER(call->rank));
    if (!texts)
        g_hash_table_insert(by_rank, GUINT_TO_POINTER(call->rank),
                            texts = g_ptr_array_new_with_free_func(g_free));
    g_ptr_array_add(texts, text);
    return text != NULL;
}

typedef struct {
    gint64 n[2];
} Degrees;

static void put_degrees(GHashTable *degrees, gint64 comm, Degrees d)
{
    if (word_is_handle(comm))
        g_hash_table_replace(degrees, g_memdup2(&comm, sizeof comm), g_memdup2(&d, sizeof d));
}

static void follow(GHashTable *degrees, const WendCall *call)
{
    const WendArg *arg = call_arg_of_kind(call, WEND_KIND_NEIGHBOURS), *from = NULL, *made = NULL;
    const Degrees *copied = NULL;
    Neighbours graph;
    for (guint i = 0; i < call->n_args; i++)
        if (call->args[i].param->kind == WEND_KIND_COMM)
            *(call->args[i].n_out == 1 ? &made : &from) = &call->args[i];
    if (!made || call->failed)
        return;
    if (from && from->n_in == 1)
        copied = g_hash_table_lookup(degrees, &from->in[0]);
    if (arg && neighbours_read(arg->out, arg->n_out, &graph))
        put_degrees(degrees, made->out[0], (Degrees){{graph.n[0], graph.n[1]}});
    else if (copied && call->function->makes == WEND_MAKES_DUP)
        put_degrees(degrees, made->out[0], *copied);
    else
        g_hash_table_remove(degrees, &made->out[0]);
}

/* Whether MPI_Dist_graph_neighbors returned only a part of the neighbours. */
static gboolean is_cut(GHashTable *degrees, const WendCall *call)
{
    static const char *const names[] = {"sources", "destinations"};
    const WendArg *comm = call_arg(call, "comm");
    const Degrees *d = comm && comm->n_in == 1 ? g_hash_table_lookup(degrees, &comm->in[0]) : NULL;
    for (guint i = 0; d && i < G_N_ELEMENTS(names); i++) {
        const WendArg *list = call_arg(call, names[i]);
        if (list && list->n_out >= 0 && list->n_out < d->n[i])
            return TRUE;
    }
    return FALSE;
}

/* Collects the neighbours of the graphs of one sequence. Returns TRUE if a call asked for a part of
 * the neighbours. */
static gboolean walk_sequence(Plan *plan, guint rank, guint sequence, gboolean *known)
{
    g_autoptr(GHashTable) degrees =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    gboolean cut = FALSE;
    WendWalk *walk = walk_new(plan->program, rank, sequence, WEND_WALK_MAIN);
    const WendCall *call;
    while ((call = walk_next(walk)) != NULL) {
        if (call->failed)
            continue;
        if (call->function->flags & WEND_F_CREATES_COMM)
            follow(degrees, call);
        if (makes_graph(call->function))
            *known &= note_call(plan, call);
        else if (call->function->id == WEND_FN_MPI_Dist_graph_neighbors)
            cut |= is_cut(degrees, call);
    }
    walk_free(walk);
    return cut;
}

/* Whether all ranks keep their ranks in the graph. */
static gboolean keeps_ranks(const Plan *plan, guint terminal)
{
    RankList ranks = plan->terminal_ranks[terminal];
    call_pattern_decode(plan->call, terminal);
    const Arg *self = call_pattern_arg_of_kind(plan->call, WEND_KIND_SELF),
              *made = call_pattern_arg_named(plan->call, "comm_dist_graph");
    for (guint r = 0; self && made && made->n_out_words == 6 && r < ranks.n; r++)
        if (call_pattern_value(plan->call, self->in[0], ranks.ranks[r])
            != call_pattern_value(plan->call, made->out[2], ranks.ranks[r]))
            return FALSE;
    return TRUE;
}

void plan_graphs(Plan *plan)
{
    plan->graphs = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_destroy);
    Certainty answer = order_matters(plan);
    gboolean known = TRUE;
    if (answer == NO)
        return;
    for (guint i = 0; i < plan->threads->len; i++) {
        const PlanThread *thread = &g_array_index(plan->threads, PlanThread, i);
        for (guint r = 0; r < thread->ranks.n; r++)
            if (walk_sequence(plan, thread->ranks.ranks[r], thread->sequence, &known))
                answer = YES;
    }
    if (answer != YES || !known)
        g_hash_table_remove_all(plan->graphs);
    GHashTableIter iter;
    gpointer terminal;
    g_hash_table_iter_init(&iter, plan->graphs);
    while (g_hash_table_iter_next(&iter, &terminal, NULL))
        plan->graphs_reordered |= !keeps_ranks(plan, GPOINTER_TO_UINT(terminal));
}

gboolean graphs_is_pinned(const Plan *plan, guint terminal)
{
    return g_hash_table_contains(plan->graphs, GUINT_TO_POINTER(terminal));
}
