/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic.c: see traffic.h.
 *
 * Sizes of derived datatypes and of communicators, and the sends behind persistent requests, come
 * from the calls that made them. Handles are used again, so a handle can have several makers. They
 * need not be distinguished as long as they all give the same; otherwise the calls that use it are
 * gone through one by one. */
#include "config.h"

#include "traffic.h"

#include <string.h>

#include "follower.h"

/* Above so many calls of a class, those that would be gone through are unsized. An archive of a few
 * bytes can have any number of them. */
enum { CALLS_MOST = 1 << 27 };

typedef struct {
    guint32 terminal;
    guint64 times;    /* on each rank */
    gboolean uniform; /* its calls transfer the same on all ranks */
} Occurrence;

struct TrafficScan {
    const WendProgram *program;
    const WendClass *class;
    GArray *occurrences;
    GHashTable *makers[WEND_KINDS]; /* of made_kinds: handle word -> GArray of terminals */
    WendDecoder *calls, *definitions;
    TransferSizes sizes;
    guint rank;         /* for which calls are decoded */
    gboolean ambiguous; /* a handle had makers that differ */
};

static const WendKind made_kinds[] = {WEND_KIND_COMM, WEND_KIND_DATATYPE, WEND_KIND_REQUEST,
                                      WEND_KIND_WIN};
enum { SIZED_KINDS = 3 }; /* the first of them: sizes depend on them */

static guint64 number(gint64 word)
{
    return word >= 0 ? (guint64)word : TRANSFER_UNSIZED;
}

/* -- the objects that handles stand for -- */

static void add_maker(TrafficScan *s, WendKind kind, gint64 handle, guint32 terminal)
{
    if (!word_is_handle(handle))
        return;
    GArray *makers = g_hash_table_lookup(s->makers[kind], &handle);
    if (!makers) {
        makers = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_hash_table_insert(s->makers[kind], g_memdup2(&handle, sizeof handle), makers);
    }
    g_array_append_val(makers, terminal);
}

static void find_makers(TrafficScan *s)
{
    for (guint i = 0; i < s->occurrences->len; i++) {
        guint32 terminal = g_array_index(s->occurrences, Occurrence, i).terminal;
        const WendCall *call = decoder_call(s->calls, terminal, s->class->ranks[0]);
        for (guint a = 0; a < call->n_args; a++) {
            const WendArg *arg = &call->args[a];
            WendKind kind = arg->param->kind;
            if (!s->makers[kind] || arg->param->dir != WEND_DIR_OUT || arg->n_out <= 0 || !arg->out)
                continue;
            guint width = kind == WEND_KIND_COMM || kind == WEND_KIND_DATATYPE ? 6 : 1;
            for (gint64 e = 0; e < arg->n_out; e++)
                add_maker(s, kind, arg->out[e * width], terminal);
        }
    }
}

/* A fact on a handle, by the call that made it. */
typedef guint64 (*MakerFact)(const WendCall *maker, gint64 handle);

static guint64 handle_fact(TrafficScan *s, WendKind kind, gint64 handle, MakerFact fact)
{
    const GArray *makers = g_hash_table_lookup(s->makers[kind], &handle);
    guint64 value = TRANSFER_UNSIZED;
    for (guint i = 0; makers != NULL && i < makers->len; i++) {
        guint32 maker = g_array_index(makers, guint32, i);
        guint64 v = fact(decoder_call(s->definitions, maker, s->rank), handle);
        if (i > 0 && v != value) {
            s->ambiguous = TRUE;
            return TRANSFER_UNSIZED;
        }
        value = v;
    }
    return value;
}

/* Item I of the metadata that follows an out handle. */
static guint64 out_fact(const WendCall *maker, WendKind kind, gint64 handle, guint i)
{
    for (guint a = 0; a < maker->n_args; a++) {
        const WendArg *arg = &maker->args[a];
        if (arg->param->kind != kind || arg->param->dir != WEND_DIR_OUT || !arg->out)
            continue;
        for (gint64 e = 0; e < arg->n_out; e++)
            if (arg->out[e * 6] == handle)
                return number(arg->out[e * 6 + 1 + i]);
    }
    return TRANSFER_UNSIZED;
}

static guint64 fact_type_size(const WendCall *maker, gint64 handle)
{
    return out_fact(maker, WEND_KIND_DATATYPE, handle, 0);
}

static guint64 fact_comm_size(const WendCall *maker, gint64 handle)
{
    /* collectives of an intercommunicator communicate with the other group */
    guint64 remote = out_fact(maker, WEND_KIND_COMM, handle, 3);
    return remote != TRANSFER_UNSIZED ? remote : out_fact(maker, WEND_KIND_COMM, handle, 0);
}

static guint64 fact_comm_neighbors(const WendCall *maker, gint64 handle)
{
    (void)handle;
    const WendArg *dims = call_arg(maker, "ndims");
    const WendArg *degree = call_arg(maker, "outdegree");
    if (dims != NULL && dims->n_in > 0)
        return transfer_times(2, number(dims->in[0]));
    return degree != NULL && degree->n_in > 0 ? number(degree->in[0]) : TRANSFER_UNSIZED;
}

/* The word of a window's communicator, as a number that is not TRANSFER_UNSIZED. */
static guint64 fact_window_comm(const WendCall *maker, gint64 handle)
{
    (void)handle;
    return (guint64)transfer_object(maker, WEND_KIND_COMM);
}

static guint64 type_size(gpointer data, gint64 type)
{
    TrafficScan *s = data;
    gint64 facts[5];
    if (word_is_handle(type))
        return handle_fact(s, WEND_KIND_DATATYPE, type, fact_type_size);
    return program_datatype(s->program, type, facts) ? number(facts[0]) : TRANSFER_UNSIZED;
}

static guint64 comm_size(gpointer data, gint64 comm)
{
    TrafficScan *s = data;
    if (word_is_handle(comm))
        return handle_fact(s, WEND_KIND_COMM, comm, fact_comm_size);
    const char *name = program_constant_name(s->program, comm);
    if (name != NULL && strcmp(name, "MPI_COMM_WORLD") == 0)
        return program_world(s->program, program_world_of(s->program, s->rank))->ranks;
    return name != NULL && strcmp(name, "MPI_COMM_SELF") == 0 ? 1 : TRANSFER_UNSIZED;
}

static guint64 comm_neighbours(gpointer data, gint64 comm)
{
    TrafficScan *s = data;
    return word_is_handle(comm) ? handle_fact(s, WEND_KIND_COMM, comm, fact_comm_neighbors)
                                : TRANSFER_UNSIZED;
}

gint64 traffic_scan_window(TrafficScan *s, gint64 window, gboolean *ambiguous)
{
    gboolean before = s->ambiguous;
    s->ambiguous = FALSE;
    guint64 comm = handle_fact(s, WEND_KIND_WIN, window, fact_window_comm);
    *ambiguous = s->ambiguous;
    s->ambiguous = before;
    return comm == TRANSFER_UNSIZED ? WEND_UNKNOWN : (gint64)comm;
}

/* -- a call -- */

static gboolean visit_call(TrafficScan *s, const WendCall *call, TrafficVisit visit, gpointer data)
{
    TrafficKind kind;
    guint64 bytes;
    if (!transfer_kind(call, &kind) || !transfer_bytes(&s->sizes, call, &bytes))
        return FALSE;
    visit(data, call, kind, bytes);
    return TRUE;
}

/* Visits the starts of persistent requests. The calls that made the requests give the data. */
static void visit_starts(TrafficScan *s, const WendCall *call, TrafficVisit visit, gpointer data)
{
    const WendArg *requests = call_arg_of_kind(call, WEND_KIND_REQUEST);
    gint64 n_requests = requests != NULL ? requests->n_in : 0;
    gint64 *words = NULL; /* a copy: decoding makers ends the call */
    if (n_requests > 0)
        words = g_memdup2(requests->in, (gsize)n_requests * sizeof *words);
    for (gint64 i = 0; i < n_requests; i++) {
        const GArray *makers = g_hash_table_lookup(s->makers[WEND_KIND_REQUEST], &words[i]);
        s->ambiguous |= !makers ? word_is_handle(words[i]) : makers->len > 1;
        if (!makers)
            continue;
        guint32 maker = g_array_index(makers, guint32, 0);
        visit_call(s, decoder_call(s->calls, maker, s->rank), visit, data);
    }
    g_free(words);
}

gboolean traffic_scan_call(TrafficScan *s, guint32 terminal, guint rank, TrafficVisit visit,
                           gpointer data)
{
    s->rank = rank;
    s->ambiguous = FALSE;
    const WendCall *call = decoder_call(s->calls, terminal, rank);
    if (call->function->operation == WEND_FN_MPI_Start)
        visit_starts(s, call, visit, data);
    else if ((call->function->flags & WEND_F_PERSISTENT) == 0)
        visit_call(s, call, visit, data);
    return !s->ambiguous;
}

/* -- a class -- */

TrafficScan *traffic_scan_new(const WendProgram *p, Counts *counts, guint class_index)
{
    TrafficScan *s = g_new0(TrafficScan, 1);
    s->program = p;
    s->class = program_class(p, class_index);
    s->occurrences = g_array_new(FALSE, FALSE, sizeof(Occurrence));
    for (guint i = 0; i < s->class->n_sequences; i++) {
        guint n;
        const guint32 *terminals = counts_of_rule(counts, s->class->sequences[i].rule, &n);
        for (guint t = 0; t < n; t++) {
            Occurrence o = {terminals[t], counts_terminal(counts, terminals[t]), FALSE};
            g_array_append_val(s->occurrences, o);
        }
    }
    s->calls = decoder_new(p);
    s->definitions = decoder_new(p);
    s->sizes = (TransferSizes){s, type_size, comm_size, comm_neighbours};
    for (guint i = 0; i < G_N_ELEMENTS(made_kinds); i++)
        s->makers[made_kinds[i]] = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free,
                                                         (GDestroyNotify)g_array_unref);
    find_makers(s);
    return s;
}

void traffic_scan_free(TrafficScan *s)
{
    for (guint i = 0; i < G_N_ELEMENTS(made_kinds); i++)
        g_hash_table_unref(s->makers[made_kinds[i]]);
    decoder_free(s->calls);
    decoder_free(s->definitions);
    g_array_unref(s->occurrences);
    g_free(s);
}

/* A quick check whether a terminal has the same bytes on all ranks: no slot differs by rank, and it
 * has no root. */
static gboolean is_uniform(const WendProgram *p, guint32 terminal)
{
    const WendTerminal *t = program_terminal(p, terminal);
    const WendFunction *f = program_shape(p, t->shape)->function;
    for (guint i = (f->flags & WEND_F_SELF) != 0; i < t->n_slots; i++)
        if (t->slots[i].form == WEND_SLOT_TABLE)
            return FALSE;
    for (guint i = 0; i < f->n_params; i++)
        if (strcmp(f->params[i].name, "root") == 0)
            return FALSE;
    return TRUE;
}

static gboolean all_makers_uniform(const TrafficScan *s)
{
    for (guint k = 0; k < SIZED_KINDS; k++) {
        GHashTableIter iter;
        gpointer makers;
        g_hash_table_iter_init(&iter, s->makers[made_kinds[k]]);
        while (g_hash_table_iter_next(&iter, NULL, &makers))
            for (guint i = 0; i < ((GArray *)makers)->len; i++)
                if (!is_uniform(s->program, g_array_index((GArray *)makers, guint32, i)))
                    return FALSE;
    }
    return TRUE;
}

/* Does the size of a call follow from the calls that made its handles? These may differ by rank
 * even if the call does not. */
static gboolean uses_handles(const WendProgram *p, guint32 terminal)
{
    const WendShape *shape = program_shape(p, program_terminal(p, terminal)->shape);
    for (guint i = 1; i < shape->n_words; i++)
        if (word_is_handle(shape->words[i]))
            return TRUE;
    return FALSE;
}

void traffic_add(Traffic *t, guint64 bytes, guint64 n)
{
    t->operations += n;
    if (bytes == TRANSFER_UNSIZED)
        t->unsized += n;
    else
        t->bytes = transfer_plus(t->bytes, transfer_times(bytes, n));
}

void traffic_found_add(gpointer found, const WendCall *call, TrafficKind kind, guint64 bytes)
{
    TrafficFound one = {kind, bytes};
    (void)call; /* for a start it is the call that made the request */
    g_array_append_val((GArray *)found, one);
}

typedef struct {
    Traffic *traffic;
    GHashTable *by_function;
    GArray *found;                 /* TrafficFound, of the current call */
    GHashTable *unclear, *of_rank; /* terminals whose sizes are not clear: on all ranks, on one */
    const char *function;          /* of the current call */
    guint64 times;
} Sum;

static void add_to_sum(Sum *sum, TrafficKind kind, guint64 bytes)
{
    Traffic *of_function = g_hash_table_lookup(sum->by_function, sum->function);
    if (!of_function)
        g_hash_table_insert(sum->by_function, (gpointer)sum->function,
                            of_function = g_new0(Traffic, 1));
    traffic_add(&sum->traffic[kind], bytes, sum->times);
    traffic_add(of_function, bytes, sum->times);
}

/* Adds the transfers of O's calls by RANK. If their sizes are not clear, the terminal goes to
 * UNCLEAR, or, without that, they are unsized. */
static void add_occurrence(TrafficScan *s, Occurrence o, guint rank, Sum *sum, GHashTable *unclear)
{
    guint32 shape = program_terminal(s->program, o.terminal)->shape;
    sum->function = program_shape(s->program, shape)->function->name;
    g_array_set_size(sum->found, 0);
    gboolean clear = traffic_scan_call(s, o.terminal, rank, traffic_found_add, sum->found);
    if (!clear && unclear != NULL) {
        g_hash_table_add(unclear, GUINT_TO_POINTER(o.terminal));
        return;
    }
    for (guint i = 0; i < sum->found->len; i++) {
        const TrafficFound *f = &g_array_index(sum->found, TrafficFound, i);
        add_to_sum(sum, f->kind, clear ? f->bytes : TRANSFER_UNSIZED);
    }
}

static void add_followed(gpointer sum, const Transfer *t)
{
    add_to_sum(sum, t->kind, t->bytes);
}

/* Goes through the calls of RANK, and adds the transfers of those that are unclear. */
static void walk_rank(const TrafficScan *s, const WendMembers *m, guint rank, Sum *sum)
{
    sum->times = 1;
    for (guint q = 0; q < s->class->n_sequences; q++) {
        WendWalk *walk = walk_new(s->program, rank, q, WEND_WALK_MAIN);
        Follower *follower = follower_new(s->program, m, rank);
        const WendCall *call;
        while ((call = walk_next(walk)) != NULL) {
            gconstpointer terminal = GUINT_TO_POINTER(call->terminal);
            follower_next(follower, walk, call);
            sum->function = call->function->name;
            if (g_hash_table_contains(sum->unclear, terminal)
                || g_hash_table_contains(sum->of_rank, terminal))
                follower_each(follower, add_followed, sum);
        }
        follower_free(follower);
        walk_free(walk);
    }
}

/* Whether the calls of the class are few enough to be gone through. */
static gboolean can_be_walked(const TrafficScan *s)
{
    guint64 calls = 0;
    for (guint i = 0; i < s->occurrences->len; i++)
        calls = transfer_plus(calls, g_array_index(s->occurrences, Occurrence, i).times);
    return transfer_times(calls, s->class->n_ranks) <= CALLS_MOST;
}

static void find_uniform(const TrafficScan *s)
{
    gboolean uniform_makers = all_makers_uniform(s);
    for (guint i = 0; i < s->occurrences->len; i++) {
        Occurrence *o = &g_array_index(s->occurrences, Occurrence, i);
        o->uniform = is_uniform(s->program, o->terminal)
                     && (uniform_makers || !uses_handles(s->program, o->terminal));
    }
}

/* Adds the uniform calls of all ranks, or the others of RANK. */
static void add_occurrences(TrafficScan *s, gboolean uniform, guint rank, Sum *sum,
                            GHashTable *unclear)
{
    for (guint i = 0; i < s->occurrences->len; i++) {
        Occurrence o = g_array_index(s->occurrences, Occurrence, i);
        sum->times = uniform ? transfer_times(o.times, s->class->n_ranks) : o.times;
        if (o.uniform == uniform)
            add_occurrence(s, o, rank, sum, unclear);
    }
}

void traffic_add_class(const WendProgram *p, Counts *counts, WendMembers **members,
                       guint class_index, Traffic traffic[TRAFFIC_KINDS], GHashTable *by_function)
{
    TrafficScan *s = traffic_scan_new(p, counts, class_index);
    Sum sum = {.traffic = traffic,
               .by_function = by_function,
               .found = g_array_new(FALSE, FALSE, sizeof(TrafficFound)),
               .unclear = g_hash_table_new(NULL, NULL),
               .of_rank = g_hash_table_new(NULL, NULL)};
    gboolean walks = can_be_walked(s);
    find_uniform(s);
    if (s->class->n_ranks > 0)
        add_occurrences(s, TRUE, s->class->ranks[0], &sum, walks ? sum.unclear : NULL);
    for (guint r = 0; r < s->class->n_ranks; r++) {
        guint rank = s->class->ranks[r];
        g_hash_table_remove_all(sum.of_rank);
        add_occurrences(s, FALSE, rank, &sum, walks ? sum.of_rank : NULL);
        if (g_hash_table_size(sum.unclear) + g_hash_table_size(sum.of_rank) == 0)
            continue;
        if (!*members)
            *members = members_new(p);
        walk_rank(s, *members, rank, &sum);
    }
    g_array_unref(sum.found);
    g_hash_table_unref(sum.unclear);
    g_hash_table_unref(sum.of_rank);
    traffic_scan_free(s);
}
