/* SPDX-License-Identifier: BSD-3-Clause */
/* dependence.c: the dependences between the calls of a rank. */
#include "src/proxygen/analysis/handlers.h"

#include <string.h>

#include "src/proxygen/analysis/call-analysis.h"
#include "lib/record/layout.h"

static guint resource(RankDependence *r, char kind, gint64 a, gint64 b, gint64 c)
{
    const gint64 key[] = {kind, a, b, c};
    bool new;
    guint number = map_number(r->numbers, key, sizeof key, &new);
    if (new) {
        Resource made = {.is_receive = kind == 'r', .comm = a, .source = b, .tag = c};
        g_array_append_val(r->resources, made);
        if (made.is_receive)
            g_array_append_val(r->receives, number);
    }
    return number;
}

guint dependence_request_resource(RankDependence *r, gint64 request)
{
    return resource(r, 'h', WEND_KIND_REQUEST, request, 0);
}

guint dependence_memory_numbers(RankDependence *r)
{
    return resource(r, 'a', 0, 0, 0);
}

static void add_use(Dependence *e, guint resource, UseKind kind, gint64 bytes)
{
    ResourceUse use = {resource, kind, bytes};
    g_array_append_val(e->uses, use);
}

static const WendArg *request_arg(const WendCall *call, WendDir dir)
{
    const WendArg *arg = call_arg_of_kind(call, WEND_KIND_REQUEST);
    return arg && arg->param->dir == dir ? arg : NULL;
}

static gint64 value_of(const WendArg *arg)
{
    return arg && arg->n_in > 0 ? arg->in[0] : WEND_ABSENT;
}

/* The bytes of the buffer that a call sends or receives. */
static gint64 bytes_of(const RankDependence *r, const WendCall *call)
{
    const WendArg *buf = call_arg(call, "buf");
    if (!buf || buf->param->count < 0 || buf->param->type < 0)
        return G_MAXINT64;
    return extent_data_size(r->plan->extents, value_of(&call->args[buf->param->type]),
                            value_of(&call->args[buf->param->count]), r->rank);
}

/* Whether the message leaves at once, even if it is not received yet. */
static gboolean is_eager(const RankDependence *r, const WendCall *call)
{
    const WendFunction *f = call->function;
    return f->operation == WEND_FN_MPI_Send
           && (f->mode == WEND_MODE_STANDARD || f->mode == WEND_MODE_BUFFERED)
           && bytes_of(r, call) <= EAGER_BYTES;
}

/* Notes the messages that a call sends or receives when it is started. */
static void use_channel(RankDependence *r, Dependence *e, const WendCall *call)
{
    gint64 comm = value_of(call_arg(call, "comm")), tag = value_of(call_arg(call, "tag"));
    const WendArg *dest = call_arg(call, "dest"), *source = call_arg(call, "source");
    if (dest && value_of(dest) != r->proc_null)
        add_use(e, resource(r, 's', comm, value_of(dest), tag),
                is_eager(r, call) ? USE_SEND : USE_WRITE, bytes_of(r, call));
    if (source && value_of(source) != r->proc_null)
        add_use(e, resource(r, 'r', comm, value_of(source), tag), USE_POST, bytes_of(r, call));
    e->noticed |= dest != NULL;
}

/* Whether the call makes a request whose start may be in a body, or itself posts a message and may
 * be in one. A ready send relies on what its receiver has done before. */
static gboolean is_of_message(const WendCall *call, WendProgress progress)
{
    const WendFunction *f = call->function;
    return f->progress == progress && f->mode != WEND_MODE_READY
           && (f->operation == WEND_FN_MPI_Send
               || (f->operation == WEND_FN_MPI_Recv && !(f->flags & WEND_F_MATCHED)));
}

/* A receive with more sources or tags counts as one that may match any message. */
enum { CHANNELS_MAX = 64 };

/* The terminals that make the request, or NULL. They differ in amounts alone (functions.h), unless
 * the request number is in common because their shape had too many pools (recording.md,
 * "Requests"). */
static const GArray *makers_of(const RankDependence *r, gint64 request)
{
    return word_is_handle(request) ? g_hash_table_lookup(r->makers, &request) : NULL;
}

/* Whether a call that starts (STARTS) or ends these requests may be in a body. */
static gboolean requests_go_on(RankDependence *r, Dependence *e, const gint64 *requests, gint64 n,
                               gboolean starts)
{
    WendDecoder *decoder = decoder_new(r->plan->program);
    gboolean good = TRUE;
    for (gint64 i = 0; good && i < n; i++) {
        const GArray *makers = makers_of(r, requests[i]);
        if (!makers)
            good = !word_is_handle(requests[i]) && !starts;
        for (guint k = 0; good && makers && k < makers->len; k++) {
            const WendCall *maker = decoder_call(decoder, g_array_index(makers, guint, k), r->rank);
            if (starts && is_of_message(maker, WEND_PERSISTENT))
                use_channel(r, e, maker);
            else
                good = !starts && is_eager(r, maker); /* the end of a send that has left at once */
        }
    }
    decoder_free(decoder);
    return good;
}

/* Whether the call may be in a body. Notes its messages. */
static gboolean goes_on(RankDependence *r, Dependence *e, const WendCall *call)
{
    const WendFunction *f = call->function;
    guint32 flags = f->flags;
    const WendArg *requests = request_arg(call, WEND_DIR_INOUT);
    if (call->failed)
        return FALSE;
    if ((flags & (WEND_F_QUERY | WEND_F_LOCAL)) || is_of_message(call, WEND_PERSISTENT)
        || f->id == WEND_FN_wend_free || call_pattern_is_place(f))
        return TRUE;
    if (flags & WEND_F_PSEUDO)
        return FALSE;
    if (is_of_message(call, WEND_NONBLOCKING)
        || (f->operation == WEND_FN_MPI_Send && f->mode < WEND_MODE_SYNCHRONOUS)) {
        use_channel(r, e, call);
        return request_arg(call, WEND_DIR_OUT) || is_eager(r, call);
    }
    gboolean starts = f->operation == WEND_FN_MPI_Start;
    if (starts || ((flags & WEND_F_COMPLETES) && !(flags & WEND_F_ANY)))
        return requests && requests_go_on(r, e, requests->in, requests->n_in, starts);
    if ((flags & WEND_F_COLLECTIVE) && !(flags & (WEND_F_CREATES_COMM | WEND_F_PERSISTENT))
        && request_arg(call, WEND_DIR_OUT) && call_arg(call, "comm")) {
        add_use(e, resource(r, 'c', value_of(call_arg(call, "comm")), 0, 0), USE_WRITE, 0);
        e->noticed = TRUE;
        return TRUE;
    }
    return FALSE;
}

static gboolean is_address(WendKind kind)
{
    return kind == WEND_KIND_BUF || kind == WEND_KIND_ADDRESS || kind == WEND_KIND_ATTR;
}

static void use_words(RankDependence *r, Dependence *e, const WendArg *arg, gboolean is_out)
{
    WendKind kind = arg->param->kind;
    const gint64 *words = is_out ? arg->out : arg->in;
    gint64 n = is_out ? arg->n_out : arg->n_in;
    gboolean pair = is_address(kind);
    if (!pair && kind != WEND_KIND_SEGMENT && kind != WEND_KIND_REQUEST && !kind_is_handle(kind))
        return; /* the number of elements of strings and statuses is not a number of words */
    gboolean writes = is_out || arg->param->dir == WEND_DIR_INOUT || kind == WEND_KIND_REQUEST;
    for (gint64 i = 0; words && i < n; i++) {
        gint64 word = words[i * layout_element_words(arg->param, is_out)];
        if (pair || kind == WEND_KIND_SEGMENT)
            word = word_segment_in_host_memory(word);
        if ((kind_is_handle(kind) || kind == WEND_KIND_REQUEST) && word_is_handle(word)) {
            add_use(e, resource(r, 'h', kind, word, 0), writes ? USE_WRITE : USE_READ, 0);
            if (writes && kind != WEND_KIND_REQUEST)
                /* the next object of this kind gets the smallest free number */
                add_use(e, resource(r, 'k', kind, 0, 0), USE_WRITE, 0);
        } else if ((pair && word_is_segment(word)) || kind == WEND_KIND_SEGMENT) {
            guint segment = resource(r, 'm', word, 0, 0);
            add_use(e, segment, kind == WEND_KIND_SEGMENT ? USE_WRITE : USE_READ, 0);
            g_array_append_val(e->memory, segment);
            if (kind == WEND_KIND_SEGMENT)
                add_use(e, dependence_memory_numbers(r), USE_WRITE, 0);
        }
    }
}

/* Notes the use of a pool: its requests are numbered in the order in which they are made. */
static void use_pool(RankDependence *r, Dependence *e, const WendCall *call)
{
    g_autoptr(GByteArray) name = g_byte_array_new();
    g_byte_array_append(name, (const guint8 *)call->function->name,
                        (guint)strlen(call->function->name) + 1);
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        WendKind kind = arg->param->kind;
        gboolean left_out = kind == WEND_KIND_REQUEST || kind == WEND_KIND_STATUS
                            || kind == WEND_KIND_STRING || kind == WEND_KIND_STRINGS
                            || kind == WEND_KIND_STRINGS2
                            || param_is_amount(call->function, arg->param);
        gsize width = left_out ? 0 : layout_element_words(arg->param, FALSE);
        if (arg->n_in > 0 && arg->in)
            g_byte_array_append(name, (const guint8 *)arg->in,
                                (guint)((gsize)arg->n_in * width * sizeof *arg->in));
    }
    bool new;
    guint number = map_number(r->numbers, name->data, name->len, &new);
    if (new) {
        Resource made = {0};
        g_array_append_val(r->resources, made);
    }
    add_use(e, number, USE_WRITE, 0);
}

static void dependence_free(Dependence *e)
{
    if (!e)
        return;
    g_array_unref(e->uses);
    g_array_unref(e->changes);
    g_array_unref(e->memory);
    g_free(e);
}

const Dependence *rank_dependence_of(RankDependence *r, const WendCall *call)
{
    Dependence *e = r->calls[call->terminal];
    if (e)
        return e;
    e = r->calls[call->terminal] = g_new0(Dependence, 1);
    e->uses = g_array_new(FALSE, FALSE, sizeof(ResourceUse));
    e->changes = g_array_new(FALSE, FALSE, sizeof(RequestChange));
    e->memory = g_array_new(FALSE, FALSE, sizeof(guint));
    e->function = GPOINTER_TO_UINT(call->function);
    e->waits = !goes_on(r, e, call);
    e->frees = call->function->id == WEND_FN_wend_free;
    gboolean starts = call->function->operation == WEND_FN_MPI_Start;
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        use_words(r, e, arg, FALSE);
        use_words(r, e, arg, TRUE);
        if (arg->param->kind != WEND_KIND_REQUEST)
            continue;
        gboolean makes = arg->param->dir == WEND_DIR_OUT;
        if (makes)
            use_pool(r, e, call);
        for (gint64 k = 0; k < (makes ? arg->n_out : arg->n_in); k++) {
            RequestChange change = {makes ? arg->out[k] : arg->in[k],
                                    starts
                                        || (makes && !(call->function->flags & WEND_F_PERSISTENT))};
            if (word_is_handle(change.request))
                g_array_append_val(e->changes, change);
        }
    }
    return e;
}

static void free_array(gpointer a)
{
    g_array_unref(a);
}

/* Finds the calls that make each request. */
static void find_makers(RankDependence *r)
{
    WendDecoder *decoder = decoder_new(r->plan->program);
    for (guint t = 0; t < program_n_terminals(r->plan->program); t++) {
        if (!rank_list_has(r->plan->terminal_ranks[t], r->rank))
            continue;
        const WendCall *call = decoder_call(decoder, t, r->rank);
        const WendArg *made = call->failed ? NULL : request_arg(call, WEND_DIR_OUT);
        for (gint64 i = 0; made && i < made->n_out; i++) {
            if (!word_is_handle(made->out[i]))
                continue;
            GArray *makers = g_hash_table_lookup(r->makers, &made->out[i]);
            if (!makers)
                g_hash_table_insert(r->makers, g_memdup2(&made->out[i], sizeof(gint64)),
                                    makers = g_array_new(FALSE, FALSE, sizeof(guint)));
            g_array_append_val(makers, t);
        }
    }
    decoder_free(decoder);
}

static gboolean has_segment(const GArray *segments, guint segment)
{
    for (guint i = 0; i < segments->len; i++)
        if (g_array_index(segments, guint, i) == segment)
            return TRUE;
    return FALSE;
}

const GArray *dependence_request_memory(RankDependence *r, gint64 request)
{
    const GArray *makers = makers_of(r, request);
    GArray *all = makers ? g_hash_table_lookup(r->memories, &request) : NULL;
    if (!makers || all)
        return all;
    WendDecoder *decoder = decoder_new(r->plan->program);
    all = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint k = 0; k < makers->len; k++) {
        const Dependence *e =
            rank_dependence_of(r, decoder_call(decoder, g_array_index(makers, guint, k), r->rank));
        for (guint i = 0; i < e->memory->len; i++)
            if (!has_segment(all, g_array_index(e->memory, guint, i)))
                g_array_append_val(all, g_array_index(e->memory, guint, i));
    }
    decoder_free(decoder);
    g_hash_table_insert(r->memories, g_memdup2(&request, sizeof request), all);
    return all;
}

static gboolean same_channel(const Resource *a, const Resource *b)
{
    return a->comm == b->comm && a->source == b->source && a->tag == b->tag;
}

/* The messages that a request may receive, as Resources, each once. If there are more than
 * CHANNELS_MAX, one more than that is returned. */
static const GArray *channels_of(RankDependence *r, WendDecoder *decoder, gint64 request)
{
    GArray *all = g_hash_table_lookup(r->channels, &request);
    if (all)
        return all;
    const GArray *makers = makers_of(r, request);
    all = g_array_new(FALSE, FALSE, sizeof(Resource));
    for (guint k = 0; makers && k < makers->len && all->len <= CHANNELS_MAX; k++) {
        const WendCall *maker = decoder_call(decoder, g_array_index(makers, guint, k), r->rank);
        const WendArg *source = call_arg(maker, "source");
        if (!source)
            break; /* all makers are calls of one function */
        Resource own = {TRUE, value_of(call_arg(maker, "comm")), value_of(source),
                        value_of(call_arg(maker, "tag"))};
        guint i = 0;
        while (i < all->len && !same_channel(&g_array_index(all, Resource, i), &own))
            i++;
        if (i == all->len)
            g_array_append_val(all, own);
    }
    g_hash_table_insert(r->channels, g_memdup2(&request, sizeof request), all);
    return all;
}

gboolean dependence_request_meets(RankDependence *r, WendDecoder *decoder, gint64 request,
                                  const Resource *receive)
{
    const GArray *own = channels_of(r, decoder, request);
    gboolean meets = own->len > CHANNELS_MAX;
    for (guint k = 0; !meets && k < own->len; k++)
        meets = dependence_receives_meet(r, receive, &g_array_index(own, Resource, k));
    return meets;
}

gboolean dependence_receives_meet(const RankDependence *r, const Resource *a, const Resource *b)
{
    return a->comm == b->comm
           && (a->source == b->source || a->source == r->any_source || b->source == r->any_source)
           && (a->tag == b->tag || a->tag == r->any_tag || b->tag == r->any_tag);
}

RankDependence *rank_dependence_new(const Plan *plan, guint rank)
{
    RankDependence *r = g_new(RankDependence, 1);
    *r = (RankDependence){
        .plan = plan,
        .rank = rank,
        .resources = g_array_new(FALSE, FALSE, sizeof(Resource)),
        .receives = g_array_new(FALSE, FALSE, sizeof(guint)),
        .calls = g_new0(Dependence *, program_n_terminals(plan->program) + 1),
        .makers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_array),
        .memories = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_array),
        .channels = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_array),
        .numbers = map_of_bytes(NULL),
        .any_source = program_constant_word("MPI_ANY_SOURCE"),
        .any_tag = program_constant_word("MPI_ANY_TAG"),
        .proc_null = program_constant_word("MPI_PROC_NULL"),
    };
    find_makers(r);
    return r;
}

void rank_dependence_free(RankDependence *r)
{
    for (guint i = 0; i < program_n_terminals(r->plan->program); i++)
        dependence_free(r->calls[i]);
    g_free(r->calls);
    g_hash_table_destroy(r->makers);
    g_hash_table_destroy(r->memories);
    g_hash_table_destroy(r->channels);
    map_unref(r->numbers);
    g_array_unref(r->resources);
    g_array_unref(r->receives);
    g_free(r);
}
