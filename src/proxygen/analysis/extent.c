/* SPDX-License-Identifier: BSD-3-Clause */
/* extent.c: buffer extents. */
#include "src/proxygen/analysis/call-analysis.h"

#include <string.h>

struct Extents {
    Plan *plan;
    Lifetimes *live;
    DatatypeLayouts *layouts;
    /* by rank in the graph: bounds of the degrees of MPI_Dist_graph_create; NULL: no such call */
    guint64 *in, *out;
    CallPattern *call; /* the call that made a communicator */
};

/* -- neighbours -- */

static gboolean makes_dist_graph(const Plan *plan, guint terminal)
{
    guint shape = program_terminal(plan->program, terminal)->shape;
    return program_shape(plan->program, shape)->function->id == WEND_FN_MPI_Dist_graph_create;
}

static void count_node(GHashTable *counts, guint n_ranks, gint64 node, gint64 times)
{
    if (node >= 0 && node < n_ranks && times > 0)
        g_hash_table_insert(
            counts, GUINT_TO_POINTER(node),
            GSIZE_TO_POINTER(GPOINTER_TO_SIZE(g_hash_table_lookup(counts, GUINT_TO_POINTER(node)))
                             + (gsize)times));
}

/* Counts the edges of one call, by node. */
static void count_edges(const CallPattern *c, guint rank, guint n_ranks, GHashTable *in,
                        GHashTable *out)
{
    const Arg *sources = call_pattern_arg_named(c, "sources"),
              *degrees = call_pattern_arg_named(c, "degrees"),
              *destinations = call_pattern_arg_named(c, "destinations");
    if (!sources || !degrees || !destinations)
        return;
    for (gint64 i = 0; i < sources->n_in && i < degrees->n_in; i++)
        count_node(out, n_ranks, call_pattern_value(c, sources->in[i], rank),
                   call_pattern_value(c, degrees->in[i], rank));
    for (gint64 i = 0; i < destinations->n_in; i++)
        count_node(in, n_ranks, call_pattern_value(c, destinations->in[i], rank), 1);
}

static void keep_larger(GHashTable *largest, GHashTable *counts)
{
    GHashTableIter iter;
    gpointer node, count;
    g_hash_table_iter_init(&iter, counts);
    while (g_hash_table_iter_next(&iter, &node, &count))
        if (GPOINTER_TO_SIZE(g_hash_table_lookup(largest, node)) < GPOINTER_TO_SIZE(count))
            g_hash_table_insert(largest, node, count);
    g_hash_table_remove_all(counts);
}

static void add_up(guint64 *sums, GHashTable *counts)
{
    GHashTableIter iter;
    gpointer node, count;
    g_hash_table_iter_init(&iter, counts);
    while (g_hash_table_iter_next(&iter, &node, &count))
        sums[GPOINTER_TO_UINT(node)] += GPOINTER_TO_SIZE(count);
}

/* Finds bounds of the degrees in graphs. Any rank may have named edges of any other. For each rank,
 * the call with the most edges counts. So the sums are exact if there was only one graph, and never
 * too small. */
static void find_graphs(Extents *e)
{
    Plan *plan = e->plan;
    g_autoptr(GArray) terminals = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint t = 0; t < program_n_terminals(plan->program); t++)
        if (plan->terminal_ranks[t].n && makes_dist_graph(plan, t))
            g_array_append_val(terminals, t);
    if (terminals->len == 0)
        return;
    e->in = g_new0(guint64, plan->n_ranks);
    e->out = g_new0(guint64, plan->n_ranks);
    g_autoptr(GHashTable) in = g_hash_table_new(NULL, NULL), out = g_hash_table_new(NULL, NULL),
                          most_in = g_hash_table_new(NULL, NULL),
                          most_out = g_hash_table_new(NULL, NULL);
    for (guint rank = 0; rank < plan->n_ranks; rank++) {
        for (guint i = 0; i < terminals->len; i++) {
            guint t = g_array_index(terminals, guint, i);
            if (!rank_list_has(plan->terminal_ranks[t], rank))
                continue;
            call_pattern_decode(e->call, t);
            count_edges(e->call, rank, plan->n_ranks, in, out);
            keep_larger(most_in, in);
            keep_larger(most_out, out);
        }
        add_up(e->in, most_in);
        add_up(e->out, most_out);
        g_hash_table_remove_all(most_in);
        g_hash_table_remove_all(most_out);
    }
}

/* The in- and outdegree of RANK in the topology that the call gave to its communicator. */
static void degrees_of(Extents *e, const Definition *d, guint rank, gint64 *in, gint64 *out)
{
    call_pattern_decode(e->call, d->terminal);
    const CallPattern *c = e->call;
    guint id = c->function->id;
    gint64 node = lifetimes_fact(e->live, d, 1, rank);
    *in = *out = 0;
    if (id == WEND_FN_MPI_Cart_create) {
        *in = *out = 2
                     * CLAMP(call_pattern_number(c, call_pattern_arg_named(c, "ndims"), rank, 0), 0,
                             G_MAXINT32);
    } else if (id == WEND_FN_MPI_Cart_sub) {
        const Arg *remain = call_pattern_arg_named(c, "remain_dims");
        for (gint64 i = 0; remain && i < remain->n_in; i++)
            *in = *out += 2 * (call_pattern_value(c, remain->in[i], rank) != 0);
    } else if (id == WEND_FN_MPI_Graph_create) {
        const Arg *index = call_pattern_arg_named(c, "index"); /* cumulative degrees */
        if (index && node >= 0 && node < index->n_in)
            *in = *out =
                MAX(0, call_pattern_value(c, index->in[node], rank)
                           - (node > 0 ? call_pattern_value(c, index->in[node - 1], rank) : 0));
    } else if (id == WEND_FN_MPI_Dist_graph_create_adjacent) {
        *in = MAX(0, call_pattern_number(c, call_pattern_arg_named(c, "indegree"), rank, 0));
        *out = MAX(0, call_pattern_number(c, call_pattern_arg_named(c, "outdegree"), rank, 0));
    } else if (id == WEND_FN_MPI_Dist_graph_create && e->in && node >= 0
               && node < e->plan->n_ranks) {
        *in = (gint64)MIN(e->in[node], G_MAXINT32);
        *out = (gint64)MIN(e->out[node], G_MAXINT32);
    }
}

/* -- communicators -- */

/* remote: size of the group that collective calls reach */
typedef struct {
    gint64 own, remote, in, out;
} CommSizes;

/* The sizes of the largest communicator that the call may use. */
static CommSizes sizes_of_comm(Extents *e, const CallPattern *c, guint rank)
{
    const Arg *arg = call_pattern_arg_of_kind(c, WEND_KIND_COMM);
    gint64 comm = arg && arg->has_in ? arg->in[0].value : WEND_ABSENT;
    if (!word_is_handle(comm)) {
        gint64 n = g_strcmp0(program_constant_name(e->plan->program, comm), "MPI_COMM_SELF") == 0
                       ? 1
                       : plan_worlds_of(e->plan, rank)->ranks;
        return (CommSizes){n, n, 0, 0};
    }
    CommSizes sizes = {0};
    const guint *definitions;
    guint n = lifetimes_definitions(e->live, WEND_KIND_COMM, comm, rank, &definitions);
    for (guint i = 0; i < n; i++) {
        const Definition *d = lifetimes_definition(e->live, definitions[i]);
        gint64 own = lifetimes_fact(e->live, d, 0, rank),
               remote = lifetimes_fact(e->live, d, 3, rank), in, out;
        degrees_of(e, d, rank, &in, &out);
        sizes.own = MAX(sizes.own, own);
        sizes.remote = MAX(sizes.remote, remote > 0 ? remote : own);
        sizes.in = MAX(sizes.in, in);
        sizes.out = MAX(sizes.out, out);
    }
    return sizes;
}

/* -- buffers -- */

Extents *extents_new(Plan *plan, Lifetimes *live)
{
    Extents *e = g_new0(Extents, 1);
    e->plan = plan;
    e->live = live;
    e->layouts = datatype_layouts_new(plan, live);
    e->call = call_pattern_new(plan->program);
    find_graphs(e);
    return e;
}

void extents_free(Extents *e)
{
    if (!e)
        return;
    datatype_layouts_free(e->layouts);
    call_pattern_free(e->call);
    g_free(e->in);
    g_free(e->out);
    g_free(e);
}

gint64 extent_data_size(Extents *e, gint64 datatype, gint64 count, guint rank)
{
    gint64 facts[5], size = 0;
    if (word_is_handle(datatype)) {
        const guint *definitions;
        guint n = lifetimes_definitions(e->live, WEND_KIND_DATATYPE, datatype, rank, &definitions);
        for (guint i = 0; i < n; i++)
            size = MAX(size, lifetimes_fact(e->live, lifetimes_definition(e->live, definitions[i]),
                                            0, rank));
    } else {
        size = program_datatype(e->plan->program, datatype, facts) ? facts[0]
               : word_is_const(datatype)                           ? 32
                                                                   : 0;
    }
    return datatype_layout_product(size, MAX(count, 0));
}

/* COUNT elements at AT bytes plus ELEMENTS extents of a segment. */
typedef struct {
    gint64 segment, at, elements, count;
    GArray *pieces;
} Placing;

static void place(const DatatypeLayout *layout, gpointer data)
{
    const Placing *p = data;
    datatype_layout_place(
        layout, p->segment,
        datatype_layout_sum(p->at, datatype_layout_product(p->elements, layout->extent)), p->count,
        p->pieces);
}

static void place_elements(Extents *e, gint64 type, guint rank, Placing p)
{
    if (p.count > 0)
        datatype_layout_foreach(e->layouts, type, rank, place, &p);
}

static gint64 sum_of(const CallPattern *c, const Arg *arg, guint rank)
{
    gint64 sum = 0;
    for (gint64 i = 0; arg && i < arg->n_in; i++)
        sum = datatype_layout_sum(sum, MAX(0, call_pattern_value(c, arg->in[i], rank)));
    return sum;
}

/* Places counts[i] elements of types[i] (or of the only type) at displs[i], in bytes or in
 * extents. */
static void place_vector(Extents *e, const CallPattern *c, const Arg *counts, const Arg *types,
                         const Arg *displs, gboolean bytes, guint rank, GArray *pieces)
{
    for (gint64 i = 0; counts && types && i < counts->n_in; i++) {
        gint64 type = !types->param->array ? types->in[0].value
                      : i < types->n_in    ? types->in[i].value
                                           : WEND_ABSENT,
               at = 0;
        Placing p = {EXTENT_RELATIVE, 0, 0, call_pattern_value(c, counts->in[i], rank), pieces};
        if (displs && i < displs->n_in && displs->param->kind == WEND_KIND_ADDRESS) {
            p.segment = word_is_segment(displs->in[4 * i].value) ? displs->in[4 * i].value
                                                                 : EXTENT_RELATIVE;
            at = call_pattern_value(c, displs->in[4 * i + 1], rank);
        } else if (displs && i < displs->n_in) {
            at = call_pattern_value(c, displs->in[i], rank);
        }
        p.at = bytes ? at : 0;
        p.elements = bytes ? 0 : at;
        place_elements(e, type, rank, p);
    }
}

void extent_of_buffer(Extents *e, const CallPattern *c, guint index, guint rank, GArray *pieces)
{
    const WendParam *param = c->args[index].param;
    const Arg *count_arg =
        param->count >= 0 && param->count < (int)c->n_args ? &c->args[param->count] : NULL;
    const Arg *type_arg =
        param->type >= 0 && param->type < (int)c->n_args ? &c->args[param->type] : NULL;
    const Arg *displs =
        param->displs >= 0 && param->displs < (int)c->n_args ? &c->args[param->displs] : NULL;
    gint64 type = type_arg && !type_arg->param->array && type_arg->n_in_words
                      ? type_arg->in[0].value
                      : WEND_ABSENT;
    gint64 count = !count_arg                ? 1
                   : count_arg->param->array ? 0
                                             : call_pattern_number(c, count_arg, rank, 0),
           copies = 1;

    switch ((enum WendExtent)param->extent) {
    case WEND_EXTENT_NONE:
        return;
    case WEND_EXTENT_COUNT:
        break;
    case WEND_EXTENT_COUNT_SIZE:
        copies = sizes_of_comm(e, c, rank).remote;
        break;
    case WEND_EXTENT_COUNT_OWN_SIZE:
        copies = sizes_of_comm(e, c, rank).own;
        break;
    case WEND_EXTENT_NEIGHBORS_IN:
        copies = sizes_of_comm(e, c, rank).in;
        break;
    case WEND_EXTENT_NEIGHBORS_OUT:
        copies = sizes_of_comm(e, c, rank).out;
        break;
    case WEND_EXTENT_PARTITIONS:
        copies = call_pattern_number(c, displs, rank, 1);
        break;
    case WEND_EXTENT_BYTES:
        if (count > 0) {
            BytePiece piece = {EXTENT_RELATIVE, 0, datatype_layout_sum(count, 0)};
            g_array_append_val(pieces, piece);
        }
        return;
    case WEND_EXTENT_COUNTS_SUM:
        count = sum_of(c, count_arg, rank);
        break;
    case WEND_EXTENT_VECTOR:
    case WEND_EXTENT_VECTOR_BYTES:
        place_vector(e, c, count_arg, type_arg, displs, param->extent == WEND_EXTENT_VECTOR_BYTES,
                     rank, pieces);
        return;
    }
    place_elements(
        e, type, rank,
        (Placing){EXTENT_RELATIVE, 0, 0, datatype_layout_product(count, copies), pieces});
}
