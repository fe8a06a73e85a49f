/* extent.c: buffer extents. See extent.h. */
#include "extent.h"

#include <string.h>

typedef struct { gint64 size, lb, extent, true_lb, true_extent; } TypeFacts;
typedef struct { gint64 size, indegree, outdegree; } CommFacts;

struct Extents {
    Plan *plan;
    GHashTable *types;       /* handle -> GArray of distinct TypeFacts */
    GHashTable *comms;       /* handle -> CommFacts */
};

/* Products and sums of hostile numbers must not overflow: they stop here, which no allocation will grant. */
enum { HUGE_BITS = 56 };
static const gint64 huge = (gint64)1 << HUGE_BITS;

/* Offsets in a datatype beyond this are addresses. */
static const gint64 absolute = (gint64)1 << 40;

static gint64 clamp(gint64 v) { return CLAMP(v, -huge, huge); }

static gint64 times(gint64 a, gint64 b)
{
    gint64 product;
    if (__builtin_mul_overflow(clamp(a), clamp(b), &product))
        return (a < 0) == (b < 0) ? huge : -huge;
    return clamp(product);
}

static void note_type(Extents *e, gint64 handle, TypeFacts facts)
{
    GArray *known = g_hash_table_lookup(e->types, &handle);
    if (!known) {
        known = g_array_new(FALSE, FALSE, sizeof(TypeFacts));
        g_hash_table_insert(e->types, g_memdup2(&handle, sizeof handle), known);
    }
    /* A type made of absolute addresses is used with MPI_BOTTOM, and the addresses themselves say what it touches (memory.c). */
    if (ABS(facts.true_lb) > absolute || ABS(facts.lb) > absolute || facts.true_extent > absolute)
        return;
    for (guint i = 0; i < known->len; i++)
        if (memcmp(&g_array_index(known, TypeFacts, i), &facts, sizeof facts) == 0)
            return;
    g_array_append_val(known, facts);
}

static CommFacts *comm_facts(Extents *e, gint64 handle)
{
    CommFacts *facts = g_hash_table_lookup(e->comms, &handle);
    if (!facts) {
        facts = g_new0(CommFacts, 1);
        g_hash_table_insert(e->comms, g_memdup2(&handle, sizeof handle), facts);
    }
    return facts;
}

static gint64 sum_of(const Call *c, const Arg *arg, guint rank)
{
    gint64 sum = 0;
    for (gint64 i = 0; arg && i < arg->n_in; i++)
        sum = clamp(sum + MAX(0, call_value(c, arg->in[i], rank)));
    return sum;
}

/* Neighbours that the call gives the communicator that it makes. */
static void note_topology(CommFacts *facts, const Call *c, guint rank)
{
    const char *name = c->function->name;
    if (g_str_has_prefix(name, "MPI_Cart_create")) {
        gint64 n = 2 * call_number(c, call_arg_named(c, "ndims"), rank, 0);
        facts->indegree = MAX(facts->indegree, n);
        facts->outdegree = MAX(facts->outdegree, n);
    } else if (g_str_has_prefix(name, "MPI_Cart_sub")) {
        const Arg *remain = call_arg_named(c, "remain_dims");
        gint64 n = remain ? 2 * MAX(0, remain->n_in) : 0;
        facts->indegree = MAX(facts->indegree, n);
        facts->outdegree = MAX(facts->outdegree, n);
    } else if (g_str_has_prefix(name, "MPI_Graph_create")) {
        const Arg *edges = call_arg_named(c, "edges");
        gint64 n = edges ? MAX(0, edges->n_in) : 0;
        facts->indegree = MAX(facts->indegree, n);
        facts->outdegree = MAX(facts->outdegree, n);
    } else if (strcmp(name, "MPI_Dist_graph_create_adjacent") == 0) {
        facts->indegree = MAX(facts->indegree, call_number(c, call_arg_named(c, "indegree"), rank, 0));
        facts->outdegree = MAX(facts->outdegree, call_number(c, call_arg_named(c, "outdegree"), rank, 0));
    } else if (strcmp(name, "MPI_Dist_graph_create") == 0) {
        /* Any rank may have specified edges of any other, and may do so more than once. */
        gint64 edges = sum_of(c, call_arg_named(c, "degrees"), rank);
        facts->indegree = clamp(facts->indegree + edges);
        facts->outdegree = clamp(facts->outdegree + edges);
    }
}

static void note_call(Extents *e, const Call *c)
{
    RankSet ranks = e->plan->terminal_ranks[c->terminal];
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (!arg->has_out || arg->n_out < 1 || !wend_is_handle(arg->out[0].value))
            continue;
        gint64 handle = arg->out[0].value;
        for (guint r = 0; r < ranks.n; r++) {
            gint64 f[5];
            if (arg->param->kind != WEND_KIND_DATATYPE && arg->param->kind != WEND_KIND_COMM)
                break;
            for (int k = 0; k < 5; k++)
                f[k] = call_value(c, arg->out[1 + k], ranks.ranks[r]);
            if (arg->param->kind == WEND_KIND_DATATYPE) {
                note_type(e, handle, (TypeFacts){f[0], f[1], f[2], f[3], f[4]});
            } else {
                CommFacts *facts = comm_facts(e, handle);
                facts->size = MAX(facts->size, MAX(f[0], f[3]));
                note_topology(facts, c, ranks.ranks[r]);
            }
        }
    }
}

/* A duplicate has its parent's topology. */
static void inherit_topologies(Extents *e)
{
    for (int pass = 0; pass < 3; pass++)
        for (guint t = 0; t < wend_program_n_terminals(e->plan->program); t++) {
            if (e->plan->terminal_ranks[t].n == 0)
                continue;
            const WendFunction *function = wend_program_shape(e->plan->program, wend_program_terminal(e->plan->program, t)->shape)->function;
            if (!g_str_has_prefix(function->name, "MPI_Comm_dup") && !g_str_has_prefix(function->name, "MPI_Comm_idup"))
                continue;
            call_decode(e->plan->call, t);
            const Arg *from = call_arg_of_kind(e->plan->call, WEND_KIND_COMM), *to = call_arg_named(e->plan->call, "newcomm");
            if (!from || !to || !from->has_in || !to->has_out || !wend_is_handle(from->in[0].value) || !wend_is_handle(to->out[0].value))
                continue;
            CommFacts *a = comm_facts(e, from->in[0].value), *b = comm_facts(e, to->out[0].value);
            b->indegree = MAX(a->indegree, b->indegree);
            b->outdegree = MAX(a->outdegree, b->outdegree);
        }
}

Extents *extents_new(Plan *plan)
{
    Extents *e = g_new0(Extents, 1);
    e->plan = plan;
    e->types = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
    e->comms = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (guint t = 0; t < wend_program_n_terminals(plan->program); t++) {
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_decode(plan->call, t);
        note_call(e, plan->call);
    }
    inherit_topologies(e);
    return e;
}

void extents_free(Extents *e)
{
    if (!e)
        return;
    g_hash_table_destroy(e->types);
    g_hash_table_destroy(e->comms);
    g_free(e);
}

static void hull_of(TypeFacts f, gint64 count, gint64 *low, gint64 *high)
{
    if (count <= 0 || f.true_extent <= 0)
        return;
    gint64 last = times(count - 1, f.extent);
    *low = MIN(*low, clamp(f.true_lb + MIN(0, last)));
    *high = MAX(*high, clamp(f.true_lb + f.true_extent + MAX(0, last)));
}

void extent_of_elements(const Extents *e, gint64 datatype, gint64 count, gint64 *low, gint64 *high)
{
    *low = *high = 0;
    if (wend_is_handle(datatype)) {
        const GArray *known = g_hash_table_lookup(e->types, &datatype);
        for (guint i = 0; known && i < known->len; i++)
            hull_of(g_array_index(known, TypeFacts, i), count, low, high);
        return;
    }
    gint64 facts[5];
    if (!wend_program_datatype(e->plan->program, datatype, facts)) {
        /* Not in the archive: no predefined type is larger than a complex long double. */
        if (wend_is_const(datatype))
            *high = count > 0 ? times(count, 32) : 0;
        return;
    }
    hull_of((TypeFacts){facts[0], facts[1], facts[2], facts[3], facts[4]}, count, low, high);
}

gint64 extent_data_size(const Extents *e, gint64 datatype, gint64 count)
{
    gint64 facts[5], size = 0;
    if (wend_is_handle(datatype)) {
        const GArray *known = g_hash_table_lookup(e->types, &datatype);
        for (guint i = 0; known && i < known->len; i++)
            size = MAX(size, g_array_index(known, TypeFacts, i).size);
    } else {
        size = wend_program_datatype(e->plan->program, datatype, facts) ? facts[0] : wend_is_const(datatype) ? 32 : 0;
    }
    return times(size, MAX(count, 0));
}

/* Communicators of the standard that are not handles of the recording: all ranks, or one. MPI_COMM_SELF has one member, which the larger
 * bound covers. */
gint64 extent_comm_size(const Extents *e, gint64 comm)
{
    const CommFacts *facts = wend_is_handle(comm) ? g_hash_table_lookup(e->comms, &comm) : NULL;
    if (facts)
        return facts->size;
    return g_strcmp0(wend_constant_name(e->plan->program, comm), "MPI_COMM_SELF") == 0 ? 1 : e->plan->n_ranks;
}

gint64 extent_comm_indegree(const Extents *e, gint64 comm)
{
    const CommFacts *facts = wend_is_handle(comm) ? g_hash_table_lookup(e->comms, &comm) : NULL;
    return facts ? facts->indegree : 0;
}

gint64 extent_comm_outdegree(const Extents *e, gint64 comm)
{
    const CommFacts *facts = wend_is_handle(comm) ? g_hash_table_lookup(e->comms, &comm) : NULL;
    return facts ? facts->outdegree : 0;
}

/* counts[i] elements of types[i] (or the one type) at displs[i] times UNIT. */
static void hull_of_vector(const Extents *e, const Call *c, const Arg *counts, const Arg *types, const Arg *displs, gboolean bytes, guint rank,
                           gint64 *low, gint64 *high)
{
    for (gint64 i = 0; i < counts->n_in; i++) {
        gint64 count = call_value(c, counts->in[i], rank), at = 0, l, h;
        gint64 type = !types ? WEND_ABSENT : !types->param->array ? types->in[0].value : i < types->n_in ? types->in[i].value : WEND_ABSENT;
        if (count <= 0 || type == WEND_ABSENT)
            continue;
        extent_of_elements(e, type, count, &l, &h);
        if (displs && i < displs->n_in) {
            /* address kinds have two words an element */
            at = call_value(c, displs->in[displs->n_in_words == 2 * (guint)displs->n_in ? 2 * i + 1 : i], rank);
            if (!bytes) {
                gint64 first, last; /* the extent of the type, found as the distance of two elements */
                extent_of_elements(e, type, 1, &first, &last);
                gint64 l2, h2;
                extent_of_elements(e, type, 2, &l2, &h2);
                at = times(at, h2 - last > 0 ? h2 - last : first - l2 > 0 ? l2 - first : 0);
            }
        }
        *low = MIN(*low, clamp(at + l));
        *high = MAX(*high, clamp(at + h));
    }
}

void extent_of_buffer(const Extents *e, const Call *c, guint index, guint rank, gint64 *low, gint64 *high)
{
    const WendParam *param = c->args[index].param;
    const Arg *count_arg = param->count >= 0 && param->count < (int)c->n_args ? &c->args[param->count] : NULL;
    const Arg *type_arg = param->type >= 0 && param->type < (int)c->n_args ? &c->args[param->type] : NULL;
    const Arg *displs = param->displs >= 0 && param->displs < (int)c->n_args ? &c->args[param->displs] : NULL;
    const Arg *comm_arg = call_arg_of_kind(c, WEND_KIND_COMM);
    gint64 comm = comm_arg && comm_arg->has_in ? comm_arg->in[0].value : WEND_ABSENT;
    gint64 type = type_arg && !type_arg->param->array && type_arg->n_in_words ? type_arg->in[0].value : WEND_ABSENT;
    gint64 count = !count_arg ? 1 : count_arg->param->array ? 0 : call_number(c, count_arg, rank, 0);
    gint64 copies = 1;

    *low = *high = 0;
    switch ((enum wend_extent)param->extent) {
    case WEND_EXTENT_NONE:
        return;
    case WEND_EXTENT_COUNT_SIZE:
        copies = extent_comm_size(e, comm);
        break;
    case WEND_EXTENT_NEIGHBORS_IN:
        copies = extent_comm_indegree(e, comm);
        break;
    case WEND_EXTENT_NEIGHBORS_OUT:
        copies = extent_comm_outdegree(e, comm);
        break;
    case WEND_EXTENT_COUNT:
        break;
    case WEND_EXTENT_COUNT_OWN_SIZE: /* of the local group: no larger than all ranks, or the facts would say so */
        copies = MAX(extent_comm_size(e, comm), (gint64)e->plan->n_ranks);
        break;
    case WEND_EXTENT_PARTITIONS:
        copies = call_number(c, displs, rank, 1);
        break;
    case WEND_EXTENT_BYTES:
        *high = MAX(0, clamp(count));
        return;
    case WEND_EXTENT_COUNTS_SUM:
        extent_of_elements(e, type, sum_of(c, count_arg, rank), low, high);
        return;
    case WEND_EXTENT_VECTOR: case WEND_EXTENT_VECTOR_BYTES:
        if (count_arg)
            hull_of_vector(e, c, count_arg, type_arg, displs, param->extent == WEND_EXTENT_VECTOR_BYTES, rank, low, high);
        return;
    }
    extent_of_elements(e, type, times(count, copies), low, high);
}
