/* SPDX-License-Identifier: BSD-3-Clause */
/* message-traffic.c: see message-traffic.h. */
#include "message-traffic.h"

#include <string.h>

#include "src/proxygen/analysis/call-analysis.h"

/* How often a rank makes a call in one phase on one communicator, and at which steps. */
typedef struct {
    gint64 times;
    guint64 first, last;
} CallOccurrence;
typedef struct {
    guint terminal, phase, comm; /* members_pass_now */
} When;
/* The receives of a rank in one phase that take messages of matched probes: the numbers of both
 * calls, and the smallest buffer. */
typedef struct {
    gint64 probed, received, bytes;
} Matched;
enum { ANY_PHASE = G_MAXUINT };
/* The role of a terminal. */
typedef enum {
    NOTHING,
    TRANSFERS,
    SYNCHRONIZES,
    /* it makes members of a communicator known */ MAKES_COMM,
    WINDOWS /* precedence_is_of_window() */
} CallMove;

gboolean message_traffic_is_probe(const WendFunction *f)
{
    return f->operation == WEND_FN_MPI_Probe && !(f->flags & WEND_F_MATCHED);
}

gboolean message_traffic_is_matched_probe(const WendFunction *f)
{
    return f->operation == WEND_FN_MPI_Probe && (f->flags & WEND_F_MATCHED);
}

static gboolean is_matched_receive(const WendFunction *f)
{
    return f->operation == WEND_FN_MPI_Recv && (f->flags & WEND_F_MATCHED);
}

static gboolean named(const CallPattern *c, const char *name, guint rank, gint64 *value)
{
    const Arg *arg = call_pattern_arg_named(c, name);
    if (!arg || !arg->has_in || arg->n_in_words == 0)
        return FALSE;
    *value = call_pattern_value(c, arg->in[0], rank);
    return TRUE;
}

/* The bytes of the argument BUFFER on RANK. */
static gint64 bytes_of(const Plan *plan, const CallPattern *c, const char *buffer, guint rank)
{
    const Arg *arg = call_pattern_arg_named(c, buffer);
    if (!arg || arg->param->count < 0 || arg->param->type < 0)
        return -1;
    const Arg *type = &c->args[arg->param->type];
    gint64 count = call_pattern_number(c, &c->args[arg->param->count], rank, 0);
    gint64 partitions =
        arg->param->displs >= 0 ? call_pattern_number(c, &c->args[arg->param->displs], rank, 1) : 1;
    return type->n_in_words ? extent_data_size(plan->extents, type->in[0].value,
                                               count * MAX(partitions, 1), rank)
                            : -1;
}

gboolean message_traffic_is_made(guint comm)
{
    return comm != WEND_COMM_WORLD && comm != WEND_COMM_SELF;
}

static void count_message(MessageTraffic *t, guint receiver, guint comm, guint phase, gint64 times)
{
    const ChannelKey key = {.comm = comm,
                            .to = comm == WEND_COMM_UNKNOWN ? t->plan->n_ranks : receiver,
                            .subchannel = phase};
    *(gint64 *)map_entry(t->balance, &key, sizeof key, sizeof(gint64)) += times;
    /* without a known receiver, the sums of single mailboxes mean nothing */
    t->one_phase |= key.to == t->plan->n_ranks;
}

static void add(GPtrArray *lists, guint index, PostedMessage t)
{
    if (!lists->pdata[index])
        lists->pdata[index] = g_array_new(FALSE, FALSE, sizeof(PostedMessage));
    g_array_append_val((GArray *)lists->pdata[index], t);
}

/* Reports a transfer to the precedence. Its channel is unsure if one of its ends is unknown, or the
 * order of the calls is. */
static void tell(const MessageTraffic *t, const PostedMessage *one, gboolean sent, gint partner,
                 guint rank, const CallOccurrence *when)
{
    guint other = partner >= 0 ? (guint)partner : WEND_CHANNEL_ANY;
    const ChannelKey channel = {.comm = one->comm,
                                .from = sent ? rank : other,
                                .to = sent ? other : rank,
                                .subchannel = t->merged         ? 0
                                              : one->persistent ? WEND_CHANNEL_ANY
                                                                : one->phase,
                                .tag = one->tag};
    if (one->persistent || one->comm == WEND_COMM_UNKNOWN || partner < 0 || one->tag == t->any_tag
        || when->first != when->last)
        precedence_unsure(t->precedence, &channel);
    else if (sent)
        precedence_sent(t->precedence, &channel, when->first, (guint64)when->times);
    else
        precedence_received(t->precedence, &channel, when->last, (guint64)when->times,
                            one->blocking);
}

static gint source_of(const MessageTraffic *t, const PostedMessage *one, guint rank)
{
    if (one->source == t->any_source)
        return -1;
    return members_process(t->members, one->comm, rank, one->source);
}

static void note_received(MessageTraffic *t, guint rank, const PostedMessage *one, gboolean probe,
                          const CallOccurrence *when)
{
    if (t->precedence) {
        if (!probe)
            tell(t, one, FALSE, source_of(t, one, rank), rank, when);
        return;
    }
    add(t->received, rank, *one);
    if (!probe && !one->persistent)
        count_message(t, rank, one->comm, one->phase, -when->times);
}

static void note_sent(MessageTraffic *t, gint receiver, const PostedMessage *one,
                      const CallOccurrence *when)
{
    if (t->precedence) {
        tell(t, one, TRUE, receiver, (guint)one->source, when);
        return;
    }
    guint index = receiver >= 0 ? (guint)receiver : t->plan->n_ranks;
    add(t->sent, index, *one);
    if (!one->persistent)
        count_message(t, index, one->comm, one->phase, when->times);
}

static guint number_of(const MessageTraffic *t, guint rank, guint sequence, gint64 handle,
                       guint now)
{
    guint comm = members_number(t->members, rank, sequence, handle, now);
    return t->one_made && message_traffic_is_made(comm) ? WEND_COMM_UNKNOWN : comm;
}

/* Whether the call moved no message because it failed. A receive that names its source and fails
 * may have received a message that is too long (MPI_ERR_TRUNCATE). */
static gboolean moved_nothing(const MessageTraffic *t, const CallPattern *c, guint rank,
                              guint number)
{
    static const char *const partners[] = {"source", "dest"};
    if (!c->failed)
        return FALSE;
    gint64 value;
    for (guint i = 0; i < G_N_ELEMENTS(partners); i++)
        if (named(c, partners[i], rank, &value) && value != t->any_source && value != t->proc_null
            && (value < 0 || value >= (gint64)t->plan->n_ranks
                || (!message_traffic_is_made(number)
                    && members_process(t->members, number, rank, value) < 0)))
            return TRUE;
    return !(c->function->flags & WEND_F_RECV);
}

static void note_matched(MessageTraffic *t, guint rank, guint phase, Matched more)
{
    if (t->precedence)
        return; /* it has been noted before */
    const guint places[][2] = {{rank, phase}, {rank, ANY_PHASE}};
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        Matched *known = map_entry(t->matched, places[i], sizeof *places, sizeof *known);
        gboolean first = known->probed + known->received == 0;
        known->probed += more.probed;
        known->received += more.received;
        known->bytes = first ? more.bytes : MIN(known->bytes, more.bytes);
    }
}

/* If each probed message is received in the phase, the smallest buffer of the phase is the bound,
 * else the smallest buffer of the rank. */
gint64 message_traffic_room(const MessageTraffic *t, guint rank, guint phase)
{
    const guint here[] = {rank, phase}, anywhere[] = {rank, ANY_PHASE};
    const Matched *in_phase = map_entry(t->matched, here, sizeof here, sizeof *in_phase),
                  *all = map_entry(t->matched, anywhere, sizeof here, sizeof *all);
    if (in_phase->probed > 0 && !t->merged && in_phase->probed == in_phase->received)
        return in_phase->bytes;
    return all->probed + all->received > 0 ? all->bytes : G_MAXINT64;
}

static void note_call(MessageTraffic *t, const CallPattern *c, guint rank, guint phase,
                      guint number, const CallOccurrence *when)
{
    const WendFunction *f = c->function;
    const Arg *comm = call_pattern_arg_of_kind(c, WEND_KIND_COMM);
    gint64 value;
    if (is_matched_receive(f)) {
        gint64 bytes = bytes_of(t->plan, c, "buf", rank);
        note_matched(t, rank, phase, (Matched){0, when->times, bytes >= 0 ? bytes : G_MAXINT64});
        return;
    }
    if (message_traffic_is_matched_probe(f))
        note_matched(t, rank, phase, (Matched){when->times, 0, G_MAXINT64});
    if (!comm || !comm->has_in || moved_nothing(t, c, rank, number))
        return;
    PostedMessage one = {.comm = number,
                         .terminal = c->terminal,
                         .source = rank,
                         .phase = phase,
                         .first = when->first,
                         .last = when->last};
    if (f->progress == WEND_PERSISTENT) {
        one.persistent = TRUE;
        one.last = G_MAXUINT64;
    }
    gboolean combined = (f->flags & WEND_F_SEND) && (f->flags & WEND_F_RECV),
             two_buffers = combined && call_pattern_arg_named(c, "sendbuf");
    if ((f->flags & WEND_F_RECV) && named(c, "source", rank, &one.source)
        && one.source != t->proc_null && named(c, combined ? "recvtag" : "tag", rank, &one.tag)) {
        one.bytes = message_traffic_is_probe(f) || message_traffic_is_matched_probe(f)
                        ? -1
                        : bytes_of(t->plan, c, two_buffers ? "recvbuf" : "buf", rank);
        /* polls are repeated until they succeed */
        one.blocking = !call_pattern_arg_of_kind(c, WEND_KIND_REQUEST);
        note_received(t, rank, &one, message_traffic_is_probe(f), when);
    }
    if ((f->flags & WEND_F_SEND) && named(c, "dest", rank, &value) && value != t->proc_null
        && named(c, combined ? "sendtag" : "tag", rank, &one.tag)) {
        one.source = rank;
        one.bytes = bytes_of(t->plan, c, two_buffers ? "sendbuf" : "buf", rank);
        one.blocking = !call_pattern_arg_of_kind(c, WEND_KIND_REQUEST)
                       && f->mode != WEND_MODE_BUFFERED && !combined;
        one.waits = f->mode == WEND_MODE_SYNCHRONOUS && f->progress != WEND_BLOCKING;
        if (f->mode == WEND_MODE_SYNCHRONOUS && f->progress != WEND_NONBLOCKING)
            /* it waits for the receive, whatever its size; it is not too large for any buffer: see
             * below */
            one.bytes = MAX(one.bytes, EAGER_BYTES + 1);
        note_sent(t, members_process(t->members, number, rank, value), &one, when);
    }
}

/* -- phases -- */

static gboolean rule_moves(MessageTraffic *t, guint rule)
{
    if (t->rule_moves[rule] < 0) {
        const PlanRule *r = &t->plan->rules[rule];
        gint8 found = 0;
        for (guint i = 0; i < r->n && !found; i++)
            found = r->symbols[i].is_rule ? (gint8)rule_moves(t, r->symbols[i].id)
                                          : t->moves[r->symbols[i].id] != 0;
        t->rule_moves[rule] = found;
    }
    return t->rule_moves[rule];
}

/* The number of steps of walk(). Bodies of loops contain no rules. */
static guint64 calls_of_loop(const Plan *plan, const PlanRule *loop)
{
    guint64 n = 0;
    for (guint i = 0; i < loop->n; i++)
        n += loop->symbols[i].repeats
             * (loop->symbols[i].is_rule ? plan->rules[loop->symbols[i].id].n : 1);
    return n;
}

/* Whether it is a communicator of all ranks. */
static gboolean is_of_all(const MessageTraffic *t, guint number, guint rank)
{
    return number == WEND_COMM_WORLD || (!t->world_only && members_all(t->members, number, rank));
}

/* Reports a call at the current step, or at any step of the current loop. */
static void tell_call(MessageTraffic *t, guint terminal, guint64 times)
{
    CallMove move = t->moves[terminal];
    guint now = members_pass_now(t->comms, t->comm_words[terminal]),
          phase = t->merged ? 0 : t->phase;
    const CallOccurrence when = {(gint64)times, t->loop_end ? t->loop_start : t->steps,
                                 t->loop_end ? t->loop_end : t->steps};
    if (move == NOTHING
        || (move == TRANSFERS && !t->merged
            && !g_hash_table_contains(t->asked, GUINT_TO_POINTER(phase))))
        return;
    call_pattern_decode(t->plan->call, terminal);
    for (guint r = 0; r < t->ranks.n; r++) {
        guint rank = t->ranks.ranks[r],
              number = number_of(t, rank, t->sequence, t->comm_words[terminal], now);
        if (move == TRANSFERS)
            note_call(t, t->plan->call, rank, phase, number, &when);
        else
            precedence_window(t->precedence, decoder_call(t->decoder, terminal, rank), phase,
                              number, t->steps, times == 1 && !t->loop_end);
    }
}

static void step(MessageTraffic *t, guint terminal, guint64 times)
{
    t->no_order |= ++t->steps > STEP_LIMIT;
    if (t->moves[terminal] == SYNCHRONIZES) {
        gint64 handle = t->comm_words[terminal];
        guint now = members_pass_now(t->comms, handle);
        guint number = members_number(t->members, t->rank, t->sequence, handle, now);
        t->unclear |= number == WEND_COMM_UNKNOWN;
        if (is_of_all(t, number, t->rank))
            t->phase += (guint)times;
    } else if (t->moves[terminal] == MAKES_COMM) {
        members_pass_made(t->comms, terminal, times, t->loop_end != 0);
    } else if (t->precedence) {
        tell_call(t, terminal, times);
    } else if (t->moves[terminal] == TRANSFERS) {
        const When key = {terminal, t->phase, members_pass_now(t->comms, t->comm_words[terminal])};
        CallOccurrence *when = map_entry(t->done, &key, sizeof key, sizeof *when);
        if (when->times == 0)
            when->first = t->loop_end ? t->loop_start : t->steps;
        when->last = MAX(t->steps, t->loop_end);
        when->times += (gint64)times;
    }
}

/* Notes communicators that the calls of a loop may make, because these calls may come first. */
static void foresee_comms(MessageTraffic *t, const PlanRule *r)
{
    for (guint i = 0; i < r->n; i++) {
        if (r->symbols[i].is_rule)
            foresee_comms(t, &t->plan->rules[r->symbols[i].id]);
        else if (t->moves[r->symbols[i].id] == MAKES_COMM)
            members_pass_made(t->comms, r->symbols[i].id, 0, TRUE);
    }
}

static void walk(MessageTraffic *t, guint rule)
{
    const PlanRule *r = &t->plan->rules[rule];
    if (r->loop && !t->loop_end) {
        foresee_comms(t, r);
        /* Its calls come in any order: each may be the first or the last of the loop. */
        t->loop_start = t->steps + 1;
        t->loop_end = t->steps + calls_of_loop(t->plan, r);
        walk(t, rule);
        t->loop_end = 0;
        return;
    }
    for (guint i = 0; i < r->n && !t->no_order; i++) {
        const WendSymbol *s = &r->symbols[i];
        if (s->is_rule) {
            for (guint64 e = 0; rule_moves(t, s->id) && e < s->repeats && !t->no_order; e++)
                walk(t, s->id);
            continue;
        }
        step(t, s->id, s->repeats);
    }
}

/* Whether the source is a wildcard on any of the ranks. */
static gboolean is_wildcard(const MessageTraffic *t, const CallPattern *c, RankList ranks)
{
    gint64 source;
    for (guint r = 0; r < ranks.n; r++)
        if (named(c, "source", ranks.ranks[r], &source) && source == t->any_source)
            return TRUE;
    return FALSE;
}

static guint64 type_size(gpointer data, gint64 type)
{
    const MessageTraffic *t = data;
    return (guint64)extent_data_size(t->plan->extents, type, 1, t->rank);
}

static guint64 no_size(gpointer data, gint64 comm)
{
    (void)data;
    (void)comm;
    return TRANSFER_UNSIZED;
}

/* Whether no rank that makes the call returns before all members have made it. If ranks share a
 * count, the first one answers for all. */
static gboolean synchronizes(MessageTraffic *t, CallPlans *plans, const CallPattern *c,
                             RankList ranks)
{
    const WendFunction *f = c->function;
    const TransferSizes sizes = {t, type_size, no_size, no_size};
    if (c->failed || f->sync != WEND_SYNC_ALL || f->progress != WEND_BLOCKING)
        return FALSE;
    gboolean varies = FALSE;
    for (guint i = 0; i < c->slots->n_slots; i++)
        varies |= c->slots->slots[i].form == WEND_SLOT_TABLE;
    for (guint r = 0; r < (varies ? ranks.n : 1); r++) {
        t->rank = ranks.ranks[r];
        const WendCall *call = decoder_call(t->decoder, c->terminal, t->rank);
        if (call_plan_is_empty(call_plans_of(plans, call), &sizes, call))
            return FALSE;
    }
    return TRUE;
}

/* Finds the terminals that move messages, and those that separate phases. All ranks make all
 * collective calls on communicators of all ranks in the same order, even on several communicators
 * (MPI 4.0, 6.14). But only calls after which every rank depends on every other separate phases. */
static void find_moves(MessageTraffic *t)
{
    CallPlans *plans = call_plans_new(t->plan->program);
    for (guint i = 0; i < program_n_terminals(t->plan->program); i++) {
        if (t->plan->terminal_ranks[i].n == 0)
            continue;
        call_pattern_decode(t->plan->call, i);
        const CallPattern *c = t->plan->call;
        const Arg *comm = call_pattern_arg_of_kind(c, WEND_KIND_COMM);
        gint64 word = comm && comm->has_in ? comm->in[0].value : WEND_ABSENT;
        if (c->function->flags & (WEND_F_RECV | WEND_F_SEND)) {
            t->moves[i] = TRANSFERS;
            t->comm_words[i] = word;
            t->wildcards |= is_wildcard(t, c, t->plan->terminal_ranks[i]);
        } else if (!c->failed && comm_made_parameter(c->function) >= 0) {
            t->moves[i] = MAKES_COMM;
        } else if (precedence_is_of_window(c->function)) {
            t->moves[i] = WINDOWS;
            t->comm_words[i] = word;
        } else if (word != WEND_ABSENT && synchronizes(t, plans, c, t->plan->terminal_ranks[i])) {
            t->moves[i] = SYNCHRONIZES;
            t->comm_words[i] = word;
        }
        t->cancels |= c->function->id == WEND_FN_MPI_Cancel;
    }
    call_plans_free(plans);
}

static void forget(MessageTraffic *t)
{
    for (guint r = 0; r <= t->plan->n_ranks; r++) {
        if (t->received->pdata[r])
            g_array_unref(t->received->pdata[r]);
        if (t->sent->pdata[r])
            g_array_unref(t->sent->pdata[r]);
        t->received->pdata[r] = t->sent->pdata[r] = NULL;
    }
    map_clear(t->balance);
    map_clear(t->matched);
}

/* Takes all calls of all ranks as one phase. It does not count calls, so all communicators count as
 * one. */
static void note_all(MessageTraffic *t)
{
    t->one_made = TRUE;
    const CallOccurrence any_time = {1, 0, G_MAXUINT64};
    for (guint i = 0; i < program_n_terminals(t->plan->program); i++) {
        RankList ranks = t->plan->terminal_ranks[i];
        if (ranks.n == 0 || t->moves[i] != TRANSFERS)
            continue;
        call_pattern_decode(t->plan->call, i);
        for (guint r = 0; r < ranks.n; r++)
            note_call(t, t->plan->call, ranks.ranks[r], 0,
                      number_of(t, ranks.ranks[r], 0, t->comm_words[i], 0), &any_time);
    }
}

/* Subtracts cancelled receives, which took no message. A receive that was pending over several
 * phases could take a message of any of them. */
static void discount_cancelled(MessageTraffic *t, guint rank, guint sequence)
{
    typedef struct {
        guint comm, phase;
    } Pending;
    /* request -> Pending */
    g_autoptr(GHashTable) pending =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    WendWalk *walk = walk_new(t->plan->program, rank, sequence, WEND_WALK_MAIN);
    const WendCall *call;
    guint phase = 0;
    while ((call = walk_next(walk)) != NULL) {
        const gint64 *made = call_request_made(call);
        if (t->moves[call->terminal] == SYNCHRONIZES) {
            gint64 handle = t->comm_words[call->terminal];
            guint comm = members_of_walk(t->members, walk, rank, handle);
            phase += is_of_all(t, comm, rank);
        }
        if (made && (call->function->flags & WEND_F_RECV)
            && !(call->function->flags & WEND_F_PERSISTENT)) {
            gint64 handle = t->comm_words[call->terminal];
            Pending p = {members_of_walk(t->members, walk, rank, handle), phase};
            if (t->one_made && message_traffic_is_made(p.comm))
                p.comm = WEND_COMM_UNKNOWN;
            g_hash_table_replace(pending, g_memdup2(made, sizeof *made), g_memdup2(&p, sizeof p));
        }
        guint n;
        const gint64 *completed = walk_completed(walk, &n);
        for (guint i = 0; i < n && g_hash_table_size(pending) > 0; i++) {
            const Pending *p = g_hash_table_lookup(pending, &completed[i]);
            const gint64 *status = p ? call_status_of(call, completed, i) : NULL;
            if (status && status[3] & 1) {
                count_message(t, rank, p->comm, p->phase, 1);
                t->one_phase |= p->phase != phase;
            }
            g_hash_table_remove(pending, &completed[i]);
        }
    }
    walk_free(walk);
}

static void walk_thread(MessageTraffic *t, const PlanThread *thread)
{
    guint prefix = t->plan->prefix ? t->plan->prefix->len : 0;
    t->comms = members_pass_new(t->members, thread->class_index, thread->sequence);
    t->phase = 0;
    t->rank = thread->ranks.ranks[0];
    t->ranks = thread->ranks;
    t->sequence = thread->sequence;
    for (guint i = 0; i < prefix; i++)
        step(t, g_array_index(t->plan->prefix, guint, i), 1);
    walk(t, thread->rule);
    t->no_order |= !members_pass_complete(t->comms);
    members_pass_free(t->comms);
}

static void note_thread(MessageTraffic *t, const PlanThread *thread)
{
    t->done = map_of_bytes(memory_free);
    walk_thread(t, thread);
    for (MapPlace at = {.map = t->done}; !t->no_order && map_next(&at);) {
        const When *when = map_key_bytes(&at);
        call_pattern_decode(t->plan->call, when->terminal);
        for (guint r = 0; r < thread->ranks.n; r++) {
            guint rank = thread->ranks.ranks[r];
            note_call(
                t, t->plan->call, rank, when->phase,
                number_of(t, rank, thread->sequence, t->comm_words[when->terminal], when->comm),
                at.value);
        }
    }
    map_unref(t->done);
    for (guint r = 0; t->cancels && !t->no_order && r < thread->ranks.n; r++)
        discount_cancelled(t, thread->ranks.ranks[r], thread->sequence);
}

/* Whether each mailbox has as many receives as sends, in each phase and in all phases together. */
static void weigh(const MessageTraffic *t, gboolean *each_phase, gboolean *all)
{
    AUTO(Map) sums = map_of_bytes(memory_free); /* the same, in phase 0 */
    *each_phase = *all = TRUE;
    for (MapPlace at = {.map = t->balance}; map_next(&at);) {
        ChannelKey mailbox = *(const ChannelKey *)map_key_bytes(&at);
        const gint64 *left = at.value;
        *each_phase &= *left == 0;
        mailbox.subchannel = 0;
        *(gint64 *)map_entry(sums, &mailbox, sizeof mailbox, sizeof(gint64)) += *left;
    }
    for (MapPlace at = {.map = sums}; map_next(&at);)
        *all &= *(const gint64 *)at.value == 0
                || !message_traffic_is_made(((const ChannelKey *)map_key_bytes(&at))->comm);
}

static void merge_phases(GPtrArray *lists)
{
    for (guint i = 0; i < lists->len; i++) {
        GArray *list = lists->pdata[i];
        AUTO(Map) places = map_of_bytes(memory_free);
        guint kept = 0;
        for (guint k = 0; list && k < list->len; k++) {
            PostedMessage one = g_array_index(list, PostedMessage, k);
            const guint key[3] = {one.terminal, one.comm, (guint)one.source};
            guint *place = map_entry(places, key, sizeof key, sizeof *place);
            one.phase = 0;
            if (*place > 0) {
                PostedMessage *first = &g_array_index(list, PostedMessage, *place - 1);
                first->first = MIN(first->first, one.first);
                first->last = MAX(first->last, one.last);
            } else {
                g_array_index(list, PostedMessage, kept++) = one;
                *place = kept;
            }
        }
        if (list)
            g_array_set_size(list, kept);
    }
}

static void walk_threads(MessageTraffic *t)
{
    t->steps = 0;
    t->one_phase = FALSE;
    for (guint i = 0; i < t->plan->threads->len && !t->no_order; i++) {
        const PlanThread *thread = &g_array_index(t->plan->threads, PlanThread, i);
        t->no_order |= thread->n_others > 0;
        if (t->no_order)
            break;
        if (t->precedence)
            walk_thread(t, thread);
        else
            note_thread(t, thread);
    }
}

static void note_in_order(MessageTraffic *t)
{
    walk_threads(t);
    if (!t->unclear || t->world_only || t->no_order)
        return;
    t->world_only = TRUE; /* ranks could count phases differently */
    forget(t);
    walk_threads(t);
}

void message_traffic_note(MessageTraffic *t)
{
    gboolean each_phase = FALSE, all = FALSE;
    note_in_order(t);
    if (!t->no_order)
        weigh(t, &each_phase, &all);
    /* Some messages are not received, or communicators are not resolved. Worlds count their phases
     * each by itself. */
    if (!t->no_order && (!all || plan_worlds_several(t->plan))) {
        t->one_made = TRUE;
        forget(t);
        note_in_order(t);
        weigh(t, &each_phase, &all);
    }
    if (t->no_order) {
        forget(t);
        t->merged = TRUE;
        note_all(t);
    } else if (t->one_phase || !each_phase) {
        t->merged = TRUE;
        merge_phases(t->received);
        merge_phases(t->sent);
    }
}

static void free_lists(GPtrArray *lists)
{
    for (guint i = 0; i < lists->len; i++)
        if (lists->pdata[i])
            g_array_unref(lists->pdata[i]);
    g_ptr_array_free(lists, TRUE);
}

MessageTraffic *message_traffic_new(Plan *plan)
{
    const guint n_terminals = program_n_terminals(plan->program);
    MessageTraffic *t = g_new0(MessageTraffic, 1);
    t->plan = plan;
    t->any_source = program_constant_word("MPI_ANY_SOURCE");
    t->any_tag = program_constant_word("MPI_ANY_TAG");
    t->proc_null = program_constant_word("MPI_PROC_NULL");
    t->received = g_ptr_array_new();
    t->sent = g_ptr_array_new();
    g_ptr_array_set_size(t->received, (gint)plan->n_ranks + 1);
    g_ptr_array_set_size(t->sent, (gint)plan->n_ranks + 1);
    t->matched = map_of_bytes(memory_free);
    t->balance = map_of_bytes(memory_free);
    t->moves = g_new0(guint8, n_terminals + 1);
    t->comm_words = g_new0(gint64, n_terminals + 1);
    t->rule_moves = g_malloc(plan->n_rules + 1);
    memset(t->rule_moves, -1, plan->n_rules + 1);
    t->decoder = decoder_new(plan->program);
    find_moves(t);
    if (t->wildcards)
        t->members = members_new(plan->program);
    return t;
}

void message_traffic_free(MessageTraffic *t)
{
    free_lists(t->received);
    free_lists(t->sent);
    map_unref(t->matched);
    map_unref(t->balance);
    g_free(t->moves);
    g_free(t->comm_words);
    g_free(t->rule_moves);
    decoder_free(t->decoder);
    members_free(t->members);
    g_free(t);
}

void message_traffic_report(MessageTraffic *t, WendPrecedence *p)
{
    t->precedence = p;
    walk_threads(t);
    t->precedence = NULL;
}
