/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic.c: see traffic.h.
 *
 * Sizes of derived datatypes and of communicators, and the sends behind persistent requests, come from the calls that made them. Handles
 * are used again, so a handle can have several makers. They need not be told apart as long as they all give the same; otherwise the
 * operation is unsized. */
#include "config.h"

#include "traffic.h"

#include <string.h>

typedef struct { guint32 terminal; guint64 times; } Occurrence; /* times on each rank */

typedef struct {
    const WendProgram *program;
    const WendClass *class;
    GArray *occurrences;
    GHashTable *makers[WEND_KINDS];  /* comm, datatype, request: handle word -> GArray of terminals */
    WendDecoder *calls, *definitions;
    gint64 proc_null, mpi_root, in_place;
    guint rank;                      /* at which calls are being decoded */
    Traffic *traffic;
    GHashTable *by_function;
    const char *function;            /* of the call at hand */
} Scan;

#define NO_SIZE G_MAXUINT64

static guint64 times(guint64 a, guint64 b)
{
    guint64 product;
    if (a == NO_SIZE || b == NO_SIZE)
        return NO_SIZE;
    return __builtin_mul_overflow(a, b, &product) ? G_MAXUINT64 - 1 : product;
}

static guint64 plus(guint64 a, guint64 b)
{
    guint64 sum;
    if (a == NO_SIZE || b == NO_SIZE)
        return NO_SIZE;
    return __builtin_add_overflow(a, b, &sum) ? G_MAXUINT64 - 1 : sum;
}

static guint64 number(gint64 word)
{
    return word >= 0 ? (guint64)word : NO_SIZE;
}

/* -- what handles are -- */

static void add_maker(Scan *s, WendKind kind, gint64 handle, guint32 terminal)
{
    if (!wend_is_handle(handle))
        return;
    GArray *makers = g_hash_table_lookup(s->makers[kind], &handle);
    if (makers == NULL) {
        makers = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_hash_table_insert(s->makers[kind], g_memdup2(&handle, sizeof handle), makers);
    }
    g_array_append_val(makers, terminal);
}

static void find_makers(Scan *s)
{
    for (guint i = 0; i < s->occurrences->len; i++) {
        guint32 terminal = g_array_index(s->occurrences, Occurrence, i).terminal;
        const WendCall *call = wend_decoder_call(s->calls, terminal, s->class->ranks[0]);
        for (guint a = 0; a < call->n_args; a++) {
            const WendArg *arg = &call->args[a];
            WendKind kind = arg->param->kind;
            if (s->makers[kind] == NULL || arg->param->dir != WEND_DIR_OUT || arg->n_out <= 0 || arg->out == NULL)
                continue;
            guint width = kind == WEND_KIND_REQUEST ? 1 : 6;
            for (gint64 e = 0; e < arg->n_out; e++)
                add_maker(s, kind, arg->out[e * width], terminal);
        }
    }
}

/* A fact on a handle, by the terminal that made it. */
typedef guint64 (*Fact)(Scan *s, const WendCall *maker, gint64 handle);

static guint64 handle_fact(Scan *s, WendKind kind, gint64 handle, Fact fact)
{
    const GArray *makers = g_hash_table_lookup(s->makers[kind], &handle);
    guint64 value = NO_SIZE;
    for (guint i = 0; makers != NULL && i < makers->len; i++) {
        guint64 v = fact(s, wend_decoder_call(s->definitions, g_array_index(makers, guint32, i), s->rank), handle);
        if (i > 0 && v != value)
            return NO_SIZE;
        value = v;
    }
    return value;
}

/* The facts that follow an out handle: what is I of them. */
static guint64 out_fact(const WendCall *maker, WendKind kind, gint64 handle, guint i)
{
    for (guint a = 0; a < maker->n_args; a++) {
        const WendArg *arg = &maker->args[a];
        if (arg->param->kind != kind || arg->param->dir != WEND_DIR_OUT || arg->out == NULL)
            continue;
        for (gint64 e = 0; e < arg->n_out; e++)
            if (arg->out[e * 6] == handle)
                return number(arg->out[e * 6 + 1 + i]);
    }
    return NO_SIZE;
}

static guint64 fact_type_size(Scan *s, const WendCall *maker, gint64 handle)
{
    (void)s;
    return out_fact(maker, WEND_KIND_DATATYPE, handle, 0);
}

static guint64 fact_comm_size(Scan *s, const WendCall *maker, gint64 handle)
{
    (void)s;
    guint64 remote = out_fact(maker, WEND_KIND_COMM, handle, 3); /* collectives of an intercommunicator talk to the other group */
    return remote != NO_SIZE ? remote : out_fact(maker, WEND_KIND_COMM, handle, 0);
}

static guint64 fact_comm_neighbors(Scan *s, const WendCall *maker, gint64 handle)
{
    (void)s;
    (void)handle;
    const WendArg *dims = wend_call_arg(maker, "ndims"), *degree = wend_call_arg(maker, "outdegree");
    if (dims != NULL && dims->n_in > 0)
        return times(2, number(dims->in[0]));
    return degree != NULL && degree->n_in > 0 ? number(degree->in[0]) : NO_SIZE;
}

static guint64 type_size(Scan *s, gint64 type)
{
    gint64 facts[5];
    if (wend_is_handle(type))
        return handle_fact(s, WEND_KIND_DATATYPE, type, fact_type_size);
    return wend_program_datatype(s->program, type, facts) ? number(facts[0]) : NO_SIZE;
}

static guint64 comm_size(Scan *s, gint64 comm)
{
    if (wend_is_handle(comm))
        return handle_fact(s, WEND_KIND_COMM, comm, fact_comm_size);
    const char *name = wend_constant_name(s->program, comm);
    if (name != NULL && strcmp(name, "MPI_COMM_WORLD") == 0)
        return wend_program_ranks(s->program);
    return name != NULL && strcmp(name, "MPI_COMM_SELF") == 0 ? 1 : NO_SIZE;
}

/* -- what calls send -- */

static const WendArg *arg_at(const WendCall *call, int index)
{
    return index >= 0 && (guint)index < call->n_args ? &call->args[index] : NULL;
}

/* Bytes of the buffer argument BUF of CALL. Copies nothing, so CALL must stay decoded: type_size uses the other decoder. */
static guint64 buffer_bytes(Scan *s, const WendCall *call, const WendParam *buf)
{
    const WendArg *count = arg_at(call, buf->count), *type = arg_at(call, buf->type), *comm = wend_call_arg_of_kind(call, WEND_KIND_COMM);
    if (count == NULL)
        return NO_SIZE;
    if (count->n_in == WEND_ABSENT || (count->n_in > 0 && count->in[0] == WEND_ABSENT))
        return 0; /* not significant at this rank */
    guint64 sum = 0;
    for (gint64 i = 0; i < count->n_in; i++) {
        guint64 size = 1;
        if (type != NULL && type->n_in > 0)
            size = type_size(s, type->in[type->param->array ? MIN(i, type->n_in - 1) : 0]);
        sum = plus(sum, times(number(count->in[i]), size));
    }
    gint64 handle = comm != NULL && comm->n_in > 0 ? comm->in[0] : WEND_UNKNOWN;
    switch (buf->extent) {
    case WEND_EXTENT_COUNT_SIZE:
        return times(sum, comm_size(s, handle));
    case WEND_EXTENT_NEIGHBORS_OUT:
        return count->param->array ? sum : times(sum, wend_is_handle(handle) ? handle_fact(s, WEND_KIND_COMM, handle, fact_comm_neighbors) : NO_SIZE);
    case WEND_EXTENT_PARTITIONS: {
        const WendArg *partitions = wend_call_arg(call, "partitions");
        return partitions != NULL && partitions->n_in > 0 ? times(sum, number(partitions->in[0])) : NO_SIZE;
    }
    default:
        return sum;
    }
}

/* The buffer that a call sends from: its first one, or the second if the first is MPI_IN_PLACE. */
static const WendParam *send_buffer(Scan *s, const WendCall *call)
{
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (arg->param->kind != WEND_KIND_BUF || arg->param->count < 0)
            continue;
        if (!arg->param->array && arg->n_in > 0 && arg->in[0] == s->in_place)
            continue;
        return arg->param;
    }
    return NULL;
}

static gboolean is_persistent(const WendCall *call)
{
    return (call->function->flags & WEND_F_PERSISTENT) != 0;
}

/* Whether the rank is one of those that send in a collective with a root, or has none. A root's own type has MPI_ROOT. */
static gboolean sends_as_root(Scan *s, const WendCall *call)
{
    const WendArg *root = wend_call_arg(call, "root"), *self = wend_call_arg_of_kind(call, WEND_KIND_SELF);
    const char *name = call->function->name;
    gboolean from_root = strstr(name, "cast") != NULL || strstr(name, "catter") != NULL;
    if (root == NULL || root->n_in <= 0)
        return TRUE;
    gint64 rank = root->in[0];
    if (rank == s->proc_null)
        return FALSE;
    gboolean is_root = rank == s->mpi_root || (self != NULL && self->n_in > 0 && self->in[0] == rank);
    return !from_root || is_root;
}

/* Kind and bytes of what a call hands over; FALSE: nothing of the sort. */
static gboolean call_traffic(Scan *s, const WendCall *call, TrafficKind *kind, guint64 *bytes)
{
    const WendFunction *f = call->function;
    const WendParam *buf = send_buffer(s, call);
    const WendArg *peer;
    if (call->failed || buf == NULL || (f->flags & (WEND_F_PSEUDO | WEND_F_QUERY)) != 0)
        return FALSE;
    if (wend_call_arg_of_kind(call, WEND_KIND_FILE) != NULL && wend_call_arg_of_kind(call, WEND_KIND_DATATYPE) != NULL) {
        *kind = strstr(f->name, "write") != NULL ? TRAFFIC_FILE_WRITE : TRAFFIC_FILE_READ;
    } else if ((peer = wend_call_arg(call, "target_rank")) != NULL) {
        *kind = TRAFFIC_ONE_SIDED;
        if (peer->n_in > 0 && peer->in[0] == s->proc_null)
            return FALSE;
    } else if ((f->flags & WEND_F_SEND) != 0) {
        *kind = TRAFFIC_POINT;
        peer = wend_call_arg(call, "dest");
        if (peer != NULL && peer->n_in > 0 && peer->in[0] == s->proc_null)
            return FALSE;
    } else if ((f->flags & WEND_F_COLLECTIVE) != 0 && wend_call_arg_of_kind(call, WEND_KIND_DATATYPE) != NULL) {
        *kind = TRAFFIC_COLLECTIVE;
        if (!sends_as_root(s, call))
            return FALSE;
    } else {
        return FALSE;
    }
    *bytes = buffer_bytes(s, call, buf);
    return TRUE;
}

static void add_traffic(Traffic *t, guint64 bytes, guint64 n)
{
    t->operations += n;
    if (bytes == NO_SIZE)
        t->unsized += n;
    else
        t->bytes = plus(t->bytes, times(bytes, n));
}

static void count_traffic(Scan *s, TrafficKind kind, guint64 bytes, guint64 n)
{
    Traffic *of_function = g_hash_table_lookup(s->by_function, s->function);
    if (of_function == NULL)
        g_hash_table_insert(s->by_function, (gpointer)s->function,
                            of_function = g_new0(Traffic, 1));
    add_traffic(&s->traffic[kind], bytes, n);
    add_traffic(of_function, bytes, n);
}

/* Starts of persistent requests: the calls that made them say what is sent. */
static void count_starts(Scan *s, const WendCall *call, guint64 n)
{
    const WendArg *requests = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    gint64 n_requests = requests != NULL ? requests->n_in : 0;
    gint64 *words = n_requests > 0 ? g_memdup2(requests->in, (gsize)n_requests * sizeof *words) : NULL; /* decoding makers ends the call */
    for (gint64 i = 0; i < n_requests; i++) {
        const GArray *makers = g_hash_table_lookup(s->makers[WEND_KIND_REQUEST], &words[i]);
        TrafficKind kind;
        guint64 bytes;
        if (makers == NULL) /* made by another thread of another class's making, or unknown */
            continue;
        if (call_traffic(s, wend_decoder_call(s->calls, g_array_index(makers, guint32, 0), s->rank), &kind, &bytes))
            count_traffic(s, kind, bytes, n);
    }
    g_free(words);
}

static void count_call(Scan *s, guint32 terminal, guint64 n)
{
    const WendCall *call = wend_decoder_call(s->calls, terminal, s->rank);
    TrafficKind kind;
    guint64 bytes;
    s->function = call->function->name;
    if (g_str_equal(call->function->name, "MPI_Start") || g_str_equal(call->function->name, "MPI_Startall"))
        count_starts(s, call, n);
    else if (!is_persistent(call) && call_traffic(s, call, &kind, &bytes))
        count_traffic(s, kind, bytes, n);
}

/* -- a class -- */

/* Whether the slots of a terminal give the same bytes on all ranks at a glance. */
static gboolean is_uniform(const WendProgram *p, guint32 terminal)
{
    const WendTerminal *t = wend_program_terminal(p, terminal);
    const WendFunction *f = wend_program_shape(p, t->shape)->function;
    for (guint i = (f->flags & WEND_F_SELF) != 0; i < t->n_slots; i++)
        if (t->slots[i].form == WEND_SLOT_TABLE)
            return FALSE;
    for (guint i = 0; i < f->n_params; i++)
        if (strcmp(f->params[i].name, "root") == 0)
            return FALSE;
    return TRUE;
}

static gboolean all_makers_uniform(const Scan *s)
{
    for (guint kind = 0; kind < WEND_KINDS; kind++) {
        if (s->makers[kind] == NULL)
            continue;
        GHashTableIter iter;
        gpointer makers;
        g_hash_table_iter_init(&iter, s->makers[kind]);
        while (g_hash_table_iter_next(&iter, NULL, &makers))
            for (guint i = 0; i < ((GArray *)makers)->len; i++)
                if (!is_uniform(s->program, g_array_index((GArray *)makers, guint32, i)))
                    return FALSE;
    }
    return TRUE;
}

/* Whether the size of a call follows from makers, which may differ by rank even if the call does not. */
static gboolean uses_handles(const WendProgram *p, guint32 terminal)
{
    const WendShape *shape = wend_program_shape(p, wend_program_terminal(p, terminal)->shape);
    for (guint i = 1; i < shape->n_words; i++)
        if (wend_is_handle(shape->words[i]))
            return TRUE;
    return FALSE;
}

void traffic_add_class(const WendProgram *p, Counts *counts, guint class_index,
                       Traffic traffic[TRAFFIC_KINDS], GHashTable *by_function)
{
    static const WendKind kinds[] = {WEND_KIND_COMM, WEND_KIND_DATATYPE, WEND_KIND_REQUEST};
    Scan s = {.program = p,
              .class = wend_program_class(p, class_index),
              .traffic = traffic,
              .by_function = by_function};
    s.occurrences = g_array_new(FALSE, FALSE, sizeof(Occurrence));
    for (guint i = 0; i < s.class->n_sequences; i++) {
        guint n;
        const guint32 *terminals = counts_of_rule(counts, s.class->sequences[i].rule, &n);
        for (guint t = 0; t < n; t++) {
            Occurrence o = {terminals[t], counts_terminal(counts, terminals[t])};
            g_array_append_val(s.occurrences, o);
        }
    }
    s.calls = wend_decoder_new(p);
    s.definitions = wend_decoder_new(p);
    s.proc_null = wend_constant_word("MPI_PROC_NULL");
    s.mpi_root = wend_constant_word("MPI_ROOT");
    s.in_place = wend_constant_word("MPI_IN_PLACE");
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        s.makers[kinds[i]] = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
    find_makers(&s);
    gboolean uniform_makers = all_makers_uniform(&s);

    for (guint i = 0; i < s.occurrences->len; i++) {
        Occurrence o = g_array_index(s.occurrences, Occurrence, i);
        if (is_uniform(p, o.terminal) && (uniform_makers || !uses_handles(p, o.terminal))) {
            s.rank = s.class->ranks[0];
            count_call(&s, o.terminal, times(o.times, s.class->n_ranks));
            continue;
        }
        for (guint r = 0; r < s.class->n_ranks; r++) {
            s.rank = s.class->ranks[r];
            count_call(&s, o.terminal, o.times);
        }
    }
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        g_hash_table_unref(s.makers[kinds[i]]);
    wend_decoder_free(s.calls);
    wend_decoder_free(s.definitions);
    g_array_unref(s.occurrences);
}
