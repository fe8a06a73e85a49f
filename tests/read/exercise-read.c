/* SPDX-License-Identifier: BSD-3-Clause */
/* exercise-read.c: see exercise-read.h. */
#include "exercise-read.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, SEQUENCES = 4, CALLS = 500, ELEMENTS = 50, SIGNATURES = 500, RULES = 500 };

static uint64_t mix(uint64_t hash, uint64_t n)
{
    hash = (hash ^ n) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = mix(hash, (unsigned char)bytes[i]);
    return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return text != NULL ? mix_bytes(hash, text, strlen(text) + 1) : mix(hash, 77);
}

static uint64_t mix_value(uint64_t hash, const WendReadValue *v)
{
    WendReadValue element;
    hash = mix(hash, v->type);
    switch (v->type) {
    case WEND_READ_NUMBER:
    case WEND_READ_LOGICAL:
        return mix(hash, (uint64_t)v->number);
    case WEND_READ_CONSTANT:
        return mix_text(hash, v->constant);
    case WEND_READ_HANDLE:
        return mix(mix(hash, v->handle.number), (uint64_t)v->handle.facts[0]);
    case WEND_READ_PLACE:
    case WEND_READ_DISTANCE:
        return mix(mix(hash, v->place.to.number), (uint64_t)v->place.to.offset);
    case WEND_READ_STATUS:
        return mix(mix(hash, (uint64_t)v->status.source), (uint64_t)v->status.bytes);
    case WEND_READ_STRING:
        if (v->string.bytes[v->string.length] != '\0')
            abort();
        return mix_bytes(hash, v->string.bytes, v->string.length);
    case WEND_READ_LIST:
        for (uint64_t i = 0; i < v->length && i < ELEMENTS; i++) {
            if (wend_read_element(v, i, &element) < 0)
                abort();
            hash = mix_value(hash, &element);
        }
        return hash;
    default:
        return hash;
    }
}

static uint64_t mix_request(uint64_t hash, const WendReadCall *call)
{
    WendReadValue list, request;
    WendReadRequest state;
    WendReadTransfer t;
    if (wend_read_completed(call, &list) < 0)
        abort();
    hash = mix_value(hash, &list);
    for (uint64_t i = 0; i < list.length && i < ELEMENTS; i++)
        if (wend_read_element(&list, i, &request) == 0
            && wend_read_request(call, &request, &state) == 0)
            hash = mix(hash, state.active + 2u * state.persistent);
    for (uint32_t i = 0; i < list.length && i < ELEMENTS; i++)
        if (wend_read_completed_transfer(call, i, &t) == 0)
            hash = mix(hash, (uint64_t)t.peer_world + t.communicator);
    return hash;
}

static uint64_t mix_call(uint64_t hash, WendRead *r, const WendReadCall *call)
{
    WendReadTransfer t;
    WendReadValue v;
    int64_t bytes, process;
    hash = mix_text(hash, call->function->name);
    hash = mix(mix(hash, call->index), (uint64_t)call->return_code);
    hash = mix_text(hash, wend_read_error_name(r, call->return_code));
    for (uint32_t i = 0; i < call->function->n_parameters; i++) {
        const char *name = wend_read_parameter(call->function, i)->name;
        if (wend_read_parameter_named(call->function, name) > i)
            abort();
        if (wend_read_input(call, i, &v) < 0)
            abort();
        hash = mix_value(hash, &v);
        if (wend_read_datatype_size(call, &v, &bytes) == 0)
            hash = mix(hash, (uint64_t)bytes);
        if (wend_read_output(call, i, &v) < 0)
            abort();
        hash = mix_value(hash, &v);
    }
    if (wend_read_transfer(call, &t) < 0)
        abort();
    hash = mix(mix(hash, t.communicator), (uint64_t)t.peer_world);
    hash = mix(mix(hash, (uint64_t)t.bytes), (uint64_t)t.comm_size);
    if (wend_read_world_rank(r, call->rank, t.communicator, t.peer, &process) == 0)
        hash = mix(hash, (uint64_t)process);
    return mix_request(hash, call);
}

static uint64_t mix_calls(uint64_t hash, WendRead *r, uint32_t rank, uint32_t sequence,
                          unsigned flags)
{
    WendReadCalls *calls;
    const WendReadCall *call;
    if (wend_read_calls(r, rank, sequence, flags, &calls) < 0)
        abort();
    for (int i = 0; i < CALLS && wend_read_next(calls, &call) == 0 && call != NULL; i++)
        hash = mix_call(hash, r, call);
    wend_read_calls_free(calls);
    return hash;
}

static uint64_t mix_values(uint64_t hash, WendRead *r, uint32_t rank)
{
    const WendReadValueStream *s;
    WendReadValues *values;
    const WendReadRecorded *v;
    for (uint32_t i = 0; wend_read_value_stream(r, rank, i, &s) == 0; i++) {
        hash = mix(mix(hash, (uint64_t)s->id), s->n_values);
        if (wend_read_values(r, rank, i, &values) < 0)
            abort();
        for (int k = 0; k < CALLS && wend_read_next_value(values, &v) == 0 && v != NULL; k++) {
            hash = mix(mix_text(hash, v->function), v->steps);
            for (uint32_t n = 0; n < v->n_numbers; n++)
                hash = mix(hash, (uint64_t)v->numbers[n]);
            for (size_t n = 0; n < v->n_bytes; n++)
                hash = mix(hash, ((const unsigned char *)v->bytes)[n]);
        }
        wend_read_values_free(values);
    }
    return hash;
}

/* The functions that SITE is in. */
static uint64_t mix_frames(uint64_t hash, WendRead *r, const WendReadSite *site)
{
    const WendReadSiteFrame *frame;
    for (uint32_t i = 0; wend_read_site_frame(r, site, i, &frame) == 0; i++)
        hash = mix(mix_text(mix_text(hash, frame->function), frame->file), frame->line);
    return hash;
}

/* A site that counts as another one has no entry. COUNTS_AS: NULL without groups. */
static void check_group(const uint32_t *counts_as, uint32_t site)
{
    if (counts_as != NULL && site != WEND_READ_NO_INDEX && counts_as[site] != site)
        abort();
}

/* How many calls waited. -1: times are missing or damaged. */
static int64_t count_waits(WendRead *r, const uint32_t *counts_as)
{
    const WendReadWait *w;
    int64_t waits = 0;
    bool has;
    int status = WEND_READ_OK;
    if (wend_read_has_times(r, &has) < 0 || !has)
        return -1;
    for (uint32_t i = 0; (status = wend_read_wait(r, i, &w)) == 0; i++) {
        waits += (int64_t)w->waits;
        check_group(counts_as, w->site);
        check_group(counts_as, w->late_site);
    }
    return status == WEND_READ_ERROR_NONE ? waits : -1;
}

/* The totals of sites, each by itself and then as pairs of neighbours. */
static uint64_t mix_site_totals(uint64_t hash, WendRead *r, uint32_t n_sites)
{
    const WendReadSiteTotals *t;
    uint32_t *pairs = calloc(n_sites + 1, sizeof *pairs);
    uint64_t calls[2] = {0, 0};
    int64_t waits[2];
    if (!pairs)
        abort();
    for (uint32_t i = 0; i < n_sites; i++)
        pairs[i] = i - i % 2;
    for (int grouped = 0; grouped < 2; grouped++) {
        if (wend_read_group_sites(r, pairs, grouped ? n_sites : 0) < 0)
            abort();
        for (uint32_t i = 0; wend_read_site_totals(r, i, &t) == 0; i++) {
            hash = mix(mix(mix_text(hash, t->function->name), t->site), t->calls);
            hash = mix(mix(hash, t->most_bytes), t->n_sites);
            hash = mix(mix(hash, t->least_seconds_rank), t->most_seconds_rank);
            calls[grouped] += t->calls;
            check_group(grouped ? pairs : NULL, t->site);
        }
        waits[grouped] = count_waits(r, grouped ? pairs : NULL);
    }
    /* entries are fewer in pairs, so that less memory is needed */
    if (calls[0] != calls[1] || (waits[0] >= 0 && waits[0] != waits[1])
        || wend_read_group_sites(r, NULL, 0) < 0)
        abort();
    free(pairs);
    return hash;
}

/* SHORT: the calls may be gone through. Damaged sites are refused. */
static uint64_t mix_sites(uint64_t hash, WendRead *r, uint32_t n_ranks, bool is_short)
{
    const WendReadSite *site;
    const WendReadStack *stack;
    WendReadCalls *calls;
    const WendReadCall *call;
    uint32_t n;
    if (wend_read_n_sites(r, &n) < 0)
        return mix(hash, 1);
    for (uint32_t i = 0; i < n && i < SIGNATURES; i++) {
        if (wend_read_site(r, i, &site) < 0)
            abort();
        hash = mix(mix_text(mix(hash, site->known), site->file), site->offset);
        for (size_t k = 0; k < site->n_build_id; k++)
            hash = mix(hash, site->build_id[k]);
        hash = mix_frames(hash, r, site);
        if (wend_read_stack(r, i, &stack) < 0)
            abort();
        hash = mix(mix(mix(hash, stack->recorded), stack->whole), stack->n_frames);
        for (uint32_t k = 0; wend_read_stack_frame(r, i, k, &site) == 0; k++)
            hash = mix_frames(mix(hash, site->offset), r, site);
    }
    for (uint32_t i = 0; i < n_ranks && i < RANKS; i++) {
        if (wend_read_calls(r, i, 0, WEND_READ_WITH_SITES, &calls) < 0)
            continue;
        for (int k = 0; k < CALLS && wend_read_next(calls, &call) == 0 && call != NULL; k++)
            hash = mix(hash, call->site);
        wend_read_calls_free(calls);
    }
    return is_short ? mix_site_totals(hash, r, n) : hash;
}

static uint64_t mix_ranks(uint64_t hash, WendRead *r, uint32_t n_ranks)
{
    const WendReadRank *rank;
    const WendReadSequence *sequence;
    uint32_t site;
    for (uint32_t i = 0; i < n_ranks && i < RANKS; i++) {
        if (wend_read_rank(r, i, &rank) < 0)
            abort();
        hash = mix_text(mix(hash, rank->world_rank), rank->termination);
        for (uint32_t s = 0; s < rank->n_sequences && s < SEQUENCES; s++) {
            if (wend_read_sequence(r, i, s, &sequence) < 0)
                abort();
            hash = mix(mix(hash, sequence->n_calls), sequence->n_polls);
            if (wend_read_unfinished_site(r, i, s, &site) == 0) /* sites may be damaged */
                hash = mix(hash, site);
            hash = mix_calls(hash, r, i, s, 0);
            hash = mix_calls(hash, r, i, s, WEND_READ_WITH_POLLS);
        }
        hash = mix_values(hash, r, i);
    }
    return hash;
}

static uint64_t mix_facts(uint64_t hash, WendRead *r, uint32_t world)
{
    const WendReadFacts *facts;
    const char *group, *key, *value;
    if (wend_read_facts(r, world, &facts) < 0)
        abort();
    hash = mix_text(mix_text(hash, facts->program), facts->arguments);
    hash = mix(mix(hash, facts->n_ranks), facts->member_bytes);
    for (uint32_t i = 0; wend_read_meta(r, world, i, &group, &key, &value) == 0; i++)
        hash = mix_text(mix_text(mix_text(hash, group), key), value);
    return hash;
}

static uint64_t mix_rank_times(uint64_t hash, WendRead *r, uint32_t world)
{
    const WendReadRankTimes *t;
    for (uint32_t i = 0; wend_read_rank_times(r, world, i, &t) == 0; i++) {
        hash = mix(mix(mix_text(hash, t->function->name), t->fastest), t->slowest);
        for (uint32_t k = 0; k < t->n; k++) {
            hash = mix(hash, (uint64_t)(t->seconds[k] < 1e9 ? t->seconds[k] * 1e9 : 1));
            hash = mix(hash, t->ranks != NULL ? t->ranks[k] : t->counts[k]);
        }
    }
    return hash;
}

static uint64_t mix_grammar(uint64_t hash, WendRead *r, const WendReadFacts *facts)
{
    const WendReadRule *rule;
    const WendReadCall *call;
    WendReadSymbol symbol;
    for (uint32_t i = 0; i < facts->n_rules && i < RULES; i++) {
        if (wend_read_rule(r, i, &rule) < 0)
            abort();
        for (uint32_t s = 0, n = rule->n_symbols; s < n; s++) {
            if (wend_read_symbol(r, i, s, &symbol) < 0)
                abort();
            hash = mix(mix(hash, symbol.number), symbol.repeats + symbol.is_rule);
        }
    }
    for (uint32_t i = 0; i < facts->n_signatures && i < SIGNATURES && facts->n_ranks > 0; i++)
        if (wend_read_signature(r, i, 0, &call) == 0)
            hash = mix_call(hash, r, call);
    return hash;
}

static uint64_t mix_classes(uint64_t hash, WendRead *r, const WendReadFacts *facts)
{
    const WendReadClass *class;
    const WendReadCount *counts;
    WendReadTiming duration, interval;
    uint32_t n;
    for (uint32_t i = 0; i < facts->n_classes && i < RANKS; i++) {
        if (wend_read_class(r, i, &class) < 0)
            abort();
        hash = mix(mix(hash, class->n_ranks), class->n_mpi_calls);
        for (uint32_t s = 0; s < class->n_sequences && s < SEQUENCES; s++) {
            if (wend_read_counts(r, i, s, &counts, &n) < 0)
                abort();
            for (uint32_t k = 0; k < n; k++) {
                if (wend_read_timing(r, i, s, counts[k].signature, &duration, &interval) < 0)
                    abort();
                hash = mix(mix(hash, counts[k].calls), duration.count);
            }
        }
    }
    return hash;
}

static uint64_t mix_totals(uint64_t hash, WendRead *r)
{
    const WendReadTotals *totals;
    const WendReadFunctionTotals *row;
    if (wend_read_totals(r, &totals) < 0)
        abort();
    hash = mix(mix(hash, totals->mpi_calls), totals->amounts[0].bytes);
    for (uint32_t i = 0; wend_read_function_totals(r, i, &row) == 0; i++)
        hash = mix(mix_text(hash, row->function->name), row->calls);
    return hash;
}

static uint64_t mix_matrix(uint64_t hash, WendRead *r)
{
    const WendReadPair *pairs;
    const WendReadSizes *sizes;
    uint64_t n;
    if (wend_read_matrix(r, WEND_READ_POINT_TO_POINT | WEND_READ_ONE_SIDED, &pairs, &n) < 0)
        abort();
    for (uint64_t i = 0; i < n; i++)
        hash = mix(mix(hash, (uint64_t)pairs[i].destination), pairs[i].amount.bytes);
    if (wend_read_sizes(r, (1u << WEND_READ_N_TRANSFER_KINDS) - 1, &sizes) < 0)
        abort();
    for (int i = 0; i < WEND_READ_N_SIZES; i++)
        hash = mix(hash, sizes->sizes[i].operations);
    return hash;
}

static uint64_t mix_communicators(uint64_t hash, WendRead *r)
{
    const WendReadCommunicator *c;
    uint32_t n;
    if (wend_read_n_communicators(r, &n) < 0)
        abort();
    for (uint32_t i = 0; i <= n && i < ELEMENTS; i++) {
        if (wend_read_communicator(r, i, &c) < 0)
            abort();
        for (uint32_t k = 0; k < c->n_members && k < ELEMENTS; k++)
            hash = mix(hash, (uint64_t)c->members[k]);
        for (uint32_t k = 0; k < c->n_remote && k < ELEMENTS; k++)
            hash = mix(hash, (uint64_t)c->remote[k]);
    }
    return hash;
}

static uint64_t mix_messages(uint64_t hash, WendRead *r)
{
    WendReadMessages *messages;
    WendReadMessageFacts facts;
    const WendReadMessage *m;
    int status;
    if (wend_read_messages(r, &messages) < 0)
        abort();
    while ((status = wend_read_next_message(messages, &m)) == 0 && m != NULL)
        hash = mix(mix(mix(hash, m->state), (uint64_t)m->source), m->completed.call);
    if (wend_read_message_facts(messages, &facts) < 0)
        abort();
    wend_read_messages_free(messages);
    return mix(hash, facts.most_in_flight);
}

/* Percentiles, waits and messages with times: what is damaged is refused. */
static uint64_t mix_waits(uint64_t hash, WendRead *r)
{
    const WendReadFunctionTotals *f;
    const WendReadWait *w;
    WendReadPercentile p;
    WendReadMessages *messages;
    const WendReadMessage *m;
    bool has;
    if (wend_read_has_times(r, &has) < 0)
        return mix(hash, 1);
    for (uint32_t i = 0; wend_read_function_totals(r, i, &f) == 0; i++)
        for (int percent = 10; percent <= 100; percent += 45)
            if (wend_read_percentile(r, f->function, percent, &p) == 0)
                hash = mix(mix(hash, p.calls), (uint64_t)(p.seconds < 1e9 ? p.seconds * 1e9 : 1));
    for (uint32_t i = 0; wend_read_wait(r, i, &w) == 0; i++) {
        hash = mix(mix_text(hash, w->function->name), w->waits);
        for (uint32_t k = 0; k < w->n_ranks; k++)
            hash = mix(mix(hash, w->ranks[k].rank), w->ranks[k].caused);
        for (uint32_t k = 0; k < w->n_pairs; k++)
            hash = mix(mix(hash, w->pairs[k].late_rank), w->pairs[k].waits);
    }
    if (wend_read_messages_with(r, WEND_READ_WITH_TIMES | WEND_READ_WITH_SITES, &messages) < 0)
        return hash;
    while (wend_read_next_message(messages, &m) == 0 && m != NULL)
        hash = mix(mix(hash, m->sent_site), m->waited > 0);
    wend_read_messages_free(messages);
    return hash;
}

uint64_t exercise_read(WendRead *r, bool matrix)
{
    const WendReadFacts *facts;
    const WendReadWorld *world;
    uint64_t hash = 1;
    if (wend_read_facts(r, WEND_READ_JOB, &facts) < 0)
        abort();
    hash = mix_facts(hash, r, WEND_READ_JOB);
    for (uint32_t i = 0; i < facts->n_worlds && i < RANKS; i++) {
        if (wend_read_world(r, i, &world) < 0)
            abort();
        hash = mix_facts(mix_text(mix(hash, world->first_rank), world->name), r, i);
        hash = mix_rank_times(hash, r, i);
    }
    hash = mix_ranks(hash, r, facts->n_ranks);
    hash = mix_grammar(hash, r, facts);
    hash = mix_classes(hash, r, facts);
    hash = mix_totals(hash, r);
    hash = mix_communicators(hash, r);
    hash = mix_sites(hash, r, facts->n_ranks, matrix);
    return matrix ? mix_waits(mix_messages(mix_matrix(hash, r), r), r) : hash;
}
