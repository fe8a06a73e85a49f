/* SPDX-License-Identifier: BSD-3-Clause */
/* read-calls.c: the calls of a sequence in order, and calls by signature. */
#include "config.h"

#include "read-private.h"
#include "wrap.h"

struct WendReadCalls {
    ReadCall call;
    WendWalk *walk;
    guint64 index; /* number of calls given, without unsuccessful polls */
    guint sequence;
    guint8 *repeats; /* by signature: 0 unknown so far, 1 no, 2 yes */
    gboolean ended;
    ReadTimes *times;    /* NULL: nobody asks for them */
    WendSiteWalk *sites; /* NULL: sites are not wanted */
    gboolean with_polls; /* unsuccessful polls are given */
};

void read_call_init(ReadCall *c, WendRead *r)
{
    *c = (ReadCall){.reader = r, .strings = g_string_chunk_new(256)};
}

void read_call_clear(ReadCall *c)
{
    if (c->strings != NULL)
        g_string_chunk_free(c->strings);
    *c = (ReadCall){0};
}

void read_call_set(ReadCall *c, const WendWalk *walk, const WendCall *call)
{
    if (c->has_strings)
        g_string_chunk_clear(c->strings);
    c->has_strings = FALSE;
    c->walk = walk;
    c->call = call;
    c->list = NULL;
    if (!c->public.function || c->public.function->name != call->function->name) {
        c->public.function = read_function_of(call->function);
        c->parameters = wend_read_parameter(c->public.function, 0);
    }
    c->public.rank = call->rank;
    c->public.signature = call->terminal;
    c->public.index = call->index;
    c->public.polls_before = call->polls_before;
    c->public.poll = call->poll;
    c->public.failed = call->failed;
    c->public.unfinished = call->unfinished;
    c->public.bare = !walk;
    c->public.return_code = call->return_code;
    c->public.site = WEND_READ_NO_INDEX;
}

/* -- in order -- */

int wend_read_calls(WendRead *r, uint32_t rank, uint32_t sequence, unsigned flags,
                    WendReadCalls **calls)
{
    const WendReadSequence *info;
    int status = read_check(r, calls);
    if (status == WEND_READ_OK)
        status = wend_read_sequence(r, rank, sequence, &info);
    if (status < 0)
        return status;
    Error *error = NULL;
    if ((flags & WEND_READ_WITH_SITES) != 0 && !read_sites(r, &error))
        return read_fail_error(r, error);
    gboolean through_polls = (flags & (WEND_READ_WITH_POLLS | WEND_READ_WITH_SITES)) != 0;
    ReadTimes *times = NULL;
    if ((flags & WEND_READ_WITH_TIMES) != 0)
        status = read_times_new(r, rank, sequence, through_polls, &times);
    if (status < 0)
        return status;
    WendReadCalls *c = g_new0(WendReadCalls, 1);
    read_call_init(&c->call, r);
    c->times = times;
    c->with_polls = (flags & WEND_READ_WITH_POLLS) != 0;
    if ((flags & WEND_READ_WITH_SITES) != 0)
        c->sites = site_walk_new(r->sites, rank, sequence);
    c->walk =
        walk_new(r->program, rank, sequence, through_polls ? WEND_WALK_POLLS : WEND_WALK_MAIN);
    if ((flags & WEND_READ_WITHOUT_TRANSFERS) == 0)
        c->call.follower = follower_new(r->program, read_members(r), rank);
    c->call.public.sequence = sequence;
    c->repeats = g_new0(guint8, program_n_terminals(r->program) + 1);
    *calls = c;
    return WEND_READ_OK;
}

/* Whether the call names a communicator. Only a walk knows the communicator's number; all other
 * values follow from the signature. */
static gboolean names_communicator(const WendCall *call)
{
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (arg->param->kind != WEND_KIND_COMM || (arg->n_in <= 0 && arg->n_out <= 0))
            continue;
        if (arg->param->array || word_is_handle(arg->n_in > 0 ? arg->in[0] : arg->out[0]))
            return TRUE;
    }
    return FALSE;
}

static gboolean repeats(WendReadCalls *c, const WendCall *call)
{
    guint8 *known = &c->repeats[call->terminal];
    if (!call->fixed || call->poll)
        return FALSE;
    if (*known == 0)
        *known = names_communicator(call) ? 1 : 2;
    return *known == 2;
}

/* The next call that is given, and *SITE, its site. */
static const WendCall *next_call(WendReadCalls *c, guint *site)
{
    const WendCall *call;
    do {
        call = walk_next(c->walk);
        if (call != NULL && c->sites != NULL)
            *site = site_walk_next(c->sites, call);
        if (call != NULL && c->times != NULL)
            read_times_next(c->times, call);
    } while (call != NULL && call->poll && !c->with_polls);
    return call;
}

int wend_read_next(WendReadCalls *calls, const WendReadCall **call)
{
    if (!calls)
        return WEND_READ_ERROR_USAGE;
    int status = read_check(calls->call.reader, call);
    if (status < 0)
        return status;
    guint site = WEND_READ_NO_INDEX;
    const WendCall *next = calls->ended ? NULL : next_call(calls, &site);
    *call = NULL;
    calls->ended = !next;
    if (calls->ended)
        return WEND_READ_OK;
    read_call_set(&calls->call, calls->walk, next);
    if (calls->call.follower != NULL)
        follower_next(calls->call.follower, calls->walk, next);
    calls->call.public.site = site;
    calls->call.public.index = calls->index;
    calls->call.public.repeats = repeats(calls, next);
    if (!next->poll)
        calls->index++;
    *call = &calls->call.public;
    return WEND_READ_OK;
}

int wend_read_time(WendReadCalls *calls, WendReadTime *time)
{
    if (!calls)
        return WEND_READ_ERROR_USAGE;
    int status = read_check(calls->call.reader, time);
    return status < 0 ? status : read_times_get(calls->call.reader, calls->times, time);
}

void read_wrap_keep(WendReadCalls *calls, guint n)
{
    walk_keep(calls->walk, n);
}

void wend_read_calls_free(WendReadCalls *calls)
{
    if (!calls)
        return;
    read_times_free(calls->times);
    follower_free(calls->call.follower);
    read_call_clear(&calls->call);
    site_walk_free(calls->sites);
    walk_free(calls->walk);
    g_free(calls->repeats);
    g_free(calls);
}

/* -- by signature -- */

int wend_read_signature(WendRead *r, uint32_t signature, uint32_t rank, const WendReadCall **call)
{
    int status = read_check(r, call);
    if (status == WEND_READ_OK)
        status = read_check_index(r, call, "signature", signature, program_n_terminals(r->program));
    if (status == WEND_READ_OK)
        status = read_check_index(r, call, "rank", rank, program_ranks(r->program));
    if (status < 0)
        return status;
    if (!r->decoder) {
        r->decoder = decoder_new(r->program);
        read_call_init(&r->signature, r);
    }
    read_call_set(&r->signature, NULL, decoder_call(r->decoder, signature, rank));
    r->signature.public.index = 0;
    *call = &r->signature.public;
    return WEND_READ_OK;
}
