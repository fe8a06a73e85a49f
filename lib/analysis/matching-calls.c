/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-calls.c: what calls send, post, probe, start and complete. */
#include "config.h"

#include "matching-state.h"

/* -- operations -- */

static gint64 send_bytes(const WendWalk *walk, const WendCall *call)
{
    const TransferSizes sizes = transfer_sizes_of_walk(walk);
    guint64 bytes;
    return transfer_bytes(&sizes, call, &bytes) && bytes <= G_MAXINT64 ? (gint64)bytes
                                                                       : WEND_UNKNOWN;
}

/* The operation of CALL, which WALK gave, or which made a request at some time before. COMM: the
 * number of its communicator. */
static Operation operation_of(const MessageWords *words, const WendWalk *walk, const CallPlan *plan,
                              const WendCall *call, guint comm)
{
    gint64 root = call_plan_word(call, plan->root);
    Operation op = {.sends = plan->sends,
                    .receives = plan->receives,
                    .sync = call_plan_sync(plan, walk, call),
                    .waits = plan->waits,
                    .comm = comm,
                    .comm_word = call_plan_word(call, plan->comm),
                    .dest = WEND_ABSENT,
                    .source = WEND_ABSENT,
                    .bytes = WEND_UNKNOWN,
                    .synchronous = plan->synchronous};
    if (op.sync != plan->sync)
        op.waits = op.sync;
    op.root =
        root != WEND_ABSENT && (root == words->root || root == call_plan_word(call, plan->self));
    if (op.sends) {
        op.dest = call_plan_word(call, plan->dest);
        op.send_tag = call_plan_word(call, plan->send_tag);
        op.bytes = op.dest != words->proc_null ? send_bytes(walk, call) : 0;
    }
    if (op.receives || plan->probes) {
        op.source = call_plan_word(call, plan->source);
        op.receive_tag = call_plan_word(call, plan->receive_tag);
    }
    return op;
}

/* The process that RANK addresses as PEER in COMM. FALSE: it is unknown, or PEER is a constant. */
static gboolean find_process(const Matching *m, guint comm, guint rank, gint64 peer, guint *process)
{
    gint found = word_is_special(peer) || comm == WEND_COMM_UNKNOWN
                     ? -1
                     : members_process(m->members, comm, rank, peer);
    *process = (guint)MAX(found, 0);
    return found >= 0;
}

/* -- turns of threads -- */

/* Wakes the strand that has the next turn of ORDER. */
static void wake_next(Matching *m, const RankStrands *rank, guint order)
{
    guint next = recorded_turns_next(rank->turns, order);
    if (next != SEQUENCE_NONE) {
        strand_wake(m, rank->first + next);
        return;
    }
    for (guint q = 0; q < rank->n; q++)
        strand_wake(m, rank->first + q);
}

static void take_turn(Matching *m, Strand *s, guint order)
{
    if (recorded_turns_take(s->rank->turns, order, s->sequence, s->mpi_calls))
        wake_next(m, s->rank, order);
}

static guint order_of(const Strand *s, WendSequenceKind kind, gint64 comm, gint64 peer,
                      const MessageWords *words)
{
    gboolean none = !s->rank->turns || s->thread == G_MAXUINT || peer == words->proc_null
                    || peer == WEND_ABSENT;
    return none ? SEQUENCE_NONE : recorded_turns_find(s->rank->turns, kind, comm);
}

static gboolean may_go(const Strand *s, guint order)
{
    return order == SEQUENCE_NONE || s->pass_all
           || recorded_turns_may(s->rank->turns, order, s->sequence, s->mpi_calls);
}

/* S sends or receives as OP says, if it has the next turn. FALSE: it has not. */
static gboolean turn_comes(Matching *m, Strand *s, const Operation *op, WendSequenceKind kind)
{
    gboolean sends = kind == WEND_SEQUENCE_SENDS;
    gboolean partitioned = (sends ? op->send_subchannel : op->receive_subchannel) > 0;
    guint order = partitioned
                      ? SEQUENCE_NONE
                      : order_of(s, kind, op->comm_word, sends ? op->dest : op->source, &m->words);
    if (!may_go(s, order))
        return FALSE;
    if (order != SEQUENCE_NONE)
        take_turn(m, s, order);
    return TRUE;
}

/* The same for a call that is not followed any further. */
static gboolean turns_come(Matching *m, Strand *s, const Operation *op, gboolean receives,
                           gboolean sends)
{
    if (receives && s->begun_parts == 0 && !turn_comes(m, s, op, WEND_SEQUENCE_RECEIVES))
        return FALSE;
    s->begun_parts = 1;
    return !sends || turn_comes(m, s, op, WEND_SEQUENCE_SENDS);
}

void matching_calls_end_turn(Matching *m, Strand *s)
{
    if (s->turn_held > 0)
        take_turn(m, s, s->turn_held - 1);
    s->turn_held = 0;
}

void matching_calls_end_turns(Matching *m, Strand *s)
{
    recorded_turns_end(s->rank->turns, s->sequence);
    for (guint order = 0; order < recorded_turns_orders(s->rank->turns); order++)
        wake_next(m, s->rank, order);
}

/* -- sends -- */

static void send_message(Matching *m, Strand *s, const Operation *op, gint64 request,
                         const Answer *answer)
{
    ChannelKey key = {op->comm, s->rank->rank, 0, op->send_subchannel, op->send_tag};
    Sent sent = {.place = s->place,
                 .request = request,
                 .bytes = op->bytes,
                 .strand = s->index,
                 .unfinished = s->call->unfinished};
    if (op->dest == m->words.proc_null || op->dest == WEND_ABSENT)
        return;
    gboolean known = find_process(m, op->comm, key.from, op->dest, &key.to);
    gboolean cancelled = answer->kind == ANSWER_CANCELLED && !op->receives;
    RankStrands *to = known ? &m->ranks[key.to] : NULL;
    gboolean outside = !known || to->n == 0;
    if (!outside && !cancelled && s->rank->threads)
        sent.uncertain = !thread_order_use(s->rank->threads, s->sequence, &key, TRUE);
    if (outside || cancelled || (to->live == 0 && !channel_find(m, &key))) {
        MessageEvent *e = matching_give_send(m, &key, &sent);
        e->to = known ? (gint64)key.to : WEND_UNKNOWN;
        e->outside = outside;
        e->cancelled = cancelled;
        return;
    }
    sent.waits = op->synchronous && !s->call->failed;
    sent.number = ++m->n_numbers;
    Receive *r = channel_send(m, &key, &sent);
    g_array_append_val(s->sends, *(r && r->number > 0 ? &r->number : &sent.number));
    if (r) {
        matching_met(m, r);
        receive_unref(m, r);
        return;
    }
    s->outstanding++;
    s->ssends += sent.waits;
}

/* -- receives -- */

/* Sets the channel of R: from (SOURCE, TAG), where a wildcard has been resolved if it could be. */
static void resolve(Matching *m, Strand *s, const Operation *op, Receive *r, gint64 source,
                    gint64 tag)
{
    r->channel = (ChannelKey){op->comm, 0, s->rank->rank, op->receive_subchannel, tag};
    gboolean named = source != m->words.any_source && tag != m->words.any_tag;
    if (!named || r->cancelled)
        return;
    gboolean known = find_process(m, op->comm, s->rank->rank, source, &r->channel.from);
    r->resolved = known;
    r->outside = !known || m->ranks[r->channel.from].n == 0;
    if (r->outside)
        return;
    if (s->rank->threads)
        r->uncertain = !thread_order_use(s->rank->threads, s->sequence, &r->channel, FALSE);
    if (channel_receive(m, r))
        matching_taken(m, &r->sent);
}

/* Posts the receive of OP. STATUS: that of a blocking receive or a probe; NULL: none. ANSWER: that
 * of its request. The caller has a reference to the result. NULL: there is nothing to receive. */
static Receive *post_receive(Matching *m, Strand *s, const Operation *op, gint64 request,
                             const gint64 *status, const Answer *answer)
{
    gint64 source = op->source, tag = op->receive_tag;
    if (source == m->words.proc_null || source == WEND_ABSENT)
        return NULL;
    Receive *r = receive_new(m);
    if (!r)
        return NULL;
    const gint64 *got = status;
    gint64 answered[] = {answer->source, answer->tag};
    if (!got && answer->kind == ANSWER_MATCHED)
        got = answered;
    if (got && source == m->words.any_source)
        source = got[0];
    if (got && tag == m->words.any_tag)
        tag = got[1];
    r->posted = s->place;
    r->request = request;
    r->cancelled = answer->kind == ANSWER_CANCELLED;
    r->unfinished = s->call->unfinished;
    resolve(m, s, op, r, source, tag);
    return r;
}

/* -- requests -- */

/* Keeps what WORD stands for until it completes. A rank with one sequence completes a request
 * before it has another with its number, or never. */
static RequestEntry *keep_entry(Matching *m, Strand *s, gboolean message, gint64 word,
                                EntryKind kind)
{
    RankStrands *rank = s->rank;
    GHashTable **table = message ? &rank->messages : &rank->requests;
    RequestEntry *old = rank->n == 1 ? request_entry_take(*table, word, s->index) : NULL;
    if (old)
        matching_drop_entry(m, old);
    RequestEntry *entry = request_entry_add(m, table, word, kind, s->index);
    strand_wake_all(m, rank->word_waiters);
    return entry;
}

static void keep_receive(Matching *m, Strand *s, gboolean message, gint64 word, Receive *r)
{
    /* other threads may wait for a request whether it is a receive or not */
    EntryKind kind = r ? ENTRY_RECEIVE : ENTRY_OTHER;
    gboolean keep = word_is_handle(word) && (r != NULL || s->rank->n > 1);
    RequestEntry *entry = keep ? keep_entry(m, s, message, word, kind) : NULL;
    if (entry)
        entry->receive = r;
    else if (r)
        matching_abandon(m, r);
}

static void keep_gathering(Matching *m, Strand *s, gint64 word, Gathering *g, const Operation *op)
{
    EntryKind kind = g ? ENTRY_GATHERING : ENTRY_OTHER;
    gboolean keep = word_is_handle(word) && (g != NULL || s->rank->n > 1);
    RequestEntry *entry = keep ? keep_entry(m, s, FALSE, word, kind) : NULL;
    if (entry) {
        entry->gathering = g;
        entry->sync = op->sync;
        entry->root = op->root;
    } else if (g) {
        gathering_unref(g);
    }
}

/* -- a call begins -- */

static guint comm_of_handle(GHashTable *table, gint64 handle)
{
    gpointer comm;
    return table && g_hash_table_lookup_extended(table, &handle, NULL, &comm)
               ? GPOINTER_TO_UINT(comm)
               : WEND_COMM_UNKNOWN;
}

/* A walk does not know when another thread makes communicators with one handle in turn; in causal
 * order it is the last one. */
static guint comm_of_word(Matching *m, Strand *s, gint64 word)
{
    guint comm = s->rank->n > 1 && word_is_handle(word) && word_handle_tid(word) != s->thread
                     ? comm_of_handle(s->rank->comms, word)
                     : WEND_COMM_UNKNOWN;
    return comm != WEND_COMM_UNKNOWN ? comm
                                     : members_of_walk(m->members, s->walk, s->rank->rank, word);
}

static guint comm_of_call(Matching *m, Strand *s, const CallPlan *plan, const WendCall *call,
                          GatheringOver *over)
{
    *over = GATHERING_COMM;
    gint64 word = call_plan_word(call, plan->comm);
    if (word != WEND_ABSENT)
        return comm_of_word(m, s, word);
    *over = plan->window >= 0 ? GATHERING_WINDOW : GATHERING_FILE;
    return plan->window >= 0 ? comm_of_handle(s->rank->windows, call_plan_word(call, plan->window))
                             : comm_of_handle(s->rank->files, call_plan_word(call, plan->file));
}

static void keep_object(GHashTable **table, const WendArg *made, guint comm)
{
    if (made->n_out != 1 || !made->out || !word_is_handle(made->out[0]))
        return;
    if (!*table)
        *table = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    g_hash_table_replace(*table, g_memdup2(made->out, sizeof *made->out), GUINT_TO_POINTER(comm));
}

/* The call makes windows, files or, if other threads may use them, communicators. */
static void keep_objects(Matching *m, Strand *s, const CallPlan *plan, guint comm)
{
    const WendArg *args = s->call->args;
    if (plan->window_made >= 0)
        keep_object(&s->rank->windows, &args[plan->window_made], comm);
    if (plan->file_made >= 0)
        keep_object(&s->rank->files, &args[plan->file_made], comm);
    if (plan->comm_made < 0 || s->rank->n == 1 || args[plan->comm_made].n_out != 1)
        return;
    guint made = members_of_walk(m->members, s->walk, s->rank->rank, args[plan->comm_made].out[0]);
    keep_object(&s->rank->comms, &args[plan->comm_made], made);
}

/* The member comes to a collective operation. Its request is WORD, or it is blocking. */
static void begin_collective(Matching *m, Strand *s, const Operation *op, GatheringOver over,
                             gint64 word)
{
    WendSync sync = op->sync, waits = op->waits;
    /* Groups wait for each other, in other ways for each function. */
    if (op->comm != WEND_COMM_UNKNOWN && members_is_inter(m->members, op->comm, s->rank->rank))
        sync = waits = WEND_SYNC_LOOSE;
    Gathering *g = gathering_come(m, &s->place, op->comm, over, op->root);
    if (g)
        g->waits = waits;
    if (g && (gathering_complete(g) || op->root))
        strand_wake_all(m, g->waiters);
    if (word != WEND_ABSENT || s->call->unfinished) {
        Operation with = *op;
        with.sync = sync;
        keep_gathering(m, s, s->call->unfinished ? WEND_ABSENT : word, g, &with);
    } else if (g) {
        Need *need = matching_need(s, NEED_GATHERING);
        need->gathering = g;
        need->sync = sync;
        need->root = op->root;
    }
}

/* The number of a partitioned operation among those that RANK made of the same kind. Partitioned
 * operations match in the order of MPI_Psend_init and MPI_Precv_init, and each start with the start
 * of the same number. */
static guint next_subchannel(Matching *m, guint rank, guint comm, gint64 peer, gint64 tag,
                             gboolean sends)
{
    const ChannelKey key = {comm, (guint)peer, rank, sends ? COUNT_SENDS : COUNT_RECEIVES, tag};
    return (guint)matching_state_count(m, &key);
}

static void keep_note(Matching *m, Strand *s, Operation *op, gboolean partitioned, gint64 word)
{
    GHashTable **notes = &s->rank->notes;
    if (!word_is_handle(word))
        return;
    if (partitioned && op->sends)
        op->send_subchannel =
            next_subchannel(m, s->rank->rank, op->comm, op->dest, op->send_tag, TRUE);
    if (partitioned && op->receives)
        op->receive_subchannel =
            next_subchannel(m, s->rank->rank, op->comm, op->source, op->receive_tag, FALSE);
    if (!*notes)
        *notes = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, g_free);
    if (!g_hash_table_contains(*notes, &word) && !allowance_take(m->allowance, 1, sizeof *op + 80))
        m->full = TRUE;
    g_hash_table_replace(*notes, g_memdup2(&word, sizeof word), g_memdup2(op, sizeof *op));
}

/* Posts the receive of OP. POSTS: by a request, whose word is REQUEST, and whose answer is ANSWER.
 * Else it is blocking, and STATUS is that of the call. */
static void begin_receive(Matching *m, Strand *s, const Operation *op, gboolean posts,
                          gint64 request, const gint64 *status, const Answer *answer)
{
    Receive *r = post_receive(m, s, op, request, status, answer);
    if (posts) {
        keep_receive(m, s, FALSE, request, r);
    } else if (r && s->call->unfinished) {
        matching_abandon(m, r);
    } else if (r) {
        Need *need = matching_need(s, NEED_RECEIVE);
        need->receive = r;
        need->status = status;
        need->truncated = s->call->failed;
    }
}

/* Posts and sends what OP says, each in its turn, the receive first. The rest is as in
 * begin_receive. FALSE: S must wait for its turn. PART: how much of OP has been done. */
static gboolean begin_transfer(Matching *m, Strand *s, const Operation *op, gboolean posts,
                               gint64 request, const gint64 *status, guint *part)
{
    const Answer as_posted = {.kind = ANSWER_AS_POSTED};
    gboolean both = op->sends && op->receives;
    if (*part == 0) {
        Answer answer = as_posted;
        if (!turn_comes(m, s, op, op->receives ? WEND_SEQUENCE_RECEIVES : WEND_SEQUENCE_SENDS))
            return FALSE;
        if (posts && s->rank->answers && (op->receives || s->rank->cancels))
            answers_next(s->rank->answers, s->sequence, &answer);
        if (op->receives) {
            begin_receive(m, s, op, posts, request, status, &answer);
        } else {
            send_message(m, s, op, request, &answer);
            if (posts)
                keep_receive(m, s, FALSE, request, NULL);
        }
        *part = both;
    }
    if (both) {
        if (!turn_comes(m, s, op, WEND_SEQUENCE_SENDS))
            return FALSE;
        send_message(m, s, op, request, &as_posted);
    }
    if (op->sends && op->synchronous && !s->call->failed)
        matching_need(s, NEED_SSENDS);
    return TRUE;
}

/* MPI_Probe and MPI_Iprobe wait for a message; MPI_Mprobe and MPI_Improbe take it. */
static gboolean begin_probe(Matching *m, Strand *s, const Operation *op, const gint64 *status)
{
    const WendArg *made = s->plan->message_made >= 0 ? &s->call->args[s->plan->message_made] : NULL;
    const Answer none = {.kind = ANSWER_AS_POSTED};
    if (!status || op->source == m->words.proc_null)
        return turn_comes(m, s, op, WEND_SEQUENCE_RECEIVES);
    if (!made) {
        guint from,
            order = order_of(s, WEND_SEQUENCE_RECEIVES, op->comm_word, op->source, &m->words);
        ChannelKey key = {op->comm, 0, s->rank->rank, 0, status[1]};
        if (!may_go(s, order))
            return FALSE;
        /* nobody receives before the message is there */
        s->turn_held = order != SEQUENCE_NONE ? order + 1 : 0;
        if (!find_process(m, op->comm, key.to, status[0], &from) || m->ranks[from].n == 0)
            return TRUE;
        Need *need = matching_need(s, NEED_PROBE);
        key.from = from;
        need->channel = key;
        return TRUE;
    }
    if (!turn_comes(m, s, op, WEND_SEQUENCE_RECEIVES))
        return FALSE;
    Receive *r = post_receive(m, s, op, WEND_ABSENT, status, &none);
    if (!r)
        return TRUE;
    r->refs++;
    Need *need = matching_need(s, NEED_RECEIVE);
    need->receive = r;
    need->probed = TRUE;
    keep_receive(m, s, TRUE, made->n_out == 1 && made->out ? made->out[0] : WEND_ABSENT, r);
    return TRUE;
}

/* The bytes of a probed message, from the words of the call: the walk does not know messages of
 * other threads. */
static void receive_probed(Matching *m, Strand *s)
{
    gint64 word = call_plan_word(s->call, s->plan->message);
    if (s->plan->request_made < 0) {
        matching_need_word(m, s, TRUE, word, call_plan_status(s->plan, s->call), s->call->failed);
        return;
    }
    RequestEntry *entry = request_entry_take(s->rank->messages, word, s->index);
    Receive *r = entry && entry->kind == ENTRY_RECEIVE ? entry->receive : NULL;
    if (entry)
        request_entry_free(m, entry);
    gint64 request = call_plan_request(s->plan, s->call);
    if (r)
        r->request = request;
    keep_receive(m, s, FALSE, request, r);
}

/* FAILED: the call that starts the requests has failed, and so it has nothing but its turns. */
static gboolean begin_starts(Matching *m, Strand *s, gboolean failed)
{
    const WendArg *requests = &s->call->args[s->plan->requests];
    for (; s->begun_parts < requests->n_in; s->begun_parts++) {
        gint64 word = requests->in[s->begun_parts];
        const Operation *note = s->rank->notes ? g_hash_table_lookup(s->rank->notes, &word) : NULL;
        Operation op;
        if (note) {
            op = *note;
        } else {
            /* another thread made it, whose call has not been given */
            if (!m->decoder)
                m->decoder = decoder_new(m->program);
            CallMaker maker = call_maker(m->plans, s->walk, m->decoder, s->rank->rank, word);
            GatheringOver over;
            if (!maker.call)
                continue;
            op = operation_of(&m->words, s->walk, maker.plan, maker.call,
                              comm_of_call(m, s, maker.plan, maker.call, &over));
        }
        guint part = 0;
        gboolean begun = TRUE;
        if (failed && (op.sends || op.receives))
            begun =
                turn_comes(m, s, &op, op.receives ? WEND_SEQUENCE_RECEIVES : WEND_SEQUENCE_SENDS);
        else if (op.sync != WEND_SYNC_NONE && !failed)
            begin_collective(m, s, &op, GATHERING_COMM, word);
        else if (op.sends || op.receives)
            begun = begin_transfer(m, s, &op, TRUE, word, NULL, &part);
        if (!begun)
            return FALSE;
    }
    return TRUE;
}

static void begin_completions(Matching *m, Strand *s)
{
    guint n;
    const gint64 *completed = walk_completed(s->walk, &n);
    for (guint i = 0; i < n; i++)
        matching_need_word(m, s, FALSE, completed[i], call_status_of(s->call, completed, i), FALSE);
}

static void free_request(Matching *m, Strand *s)
{
    RequestEntry *entry =
        request_entry_take(s->rank->requests, call_plan_word(s->call, s->plan->requests), s->index);
    if (entry)
        matching_drop_entry(m, entry);
}

/* The strand of thread ID of the rank; NULL: it made no calls. */
static Strand *strand_of_thread(Matching *m, const RankStrands *rank, gint64 id)
{
    const WendClass *class = program_class(m->program, program_class_of(m->program, rank->rank));
    guint q = thread_order_sequence(class, id);
    return q != SEQUENCE_NONE ? &m->strands[rank->first + q] : NULL;
}

static void begin_thread(Matching *m, Strand *s)
{
    Strand *thread = strand_of_thread(m, s->rank, call_plan_word(s->call, s->plan->thread));
    if (!thread || thread == s)
        return;
    if (s->plan->role == ROLE_THREAD_JOIN) {
        matching_need(s, NEED_JOIN)->strand = thread->index;
    } else if (thread->starts_later) {
        thread->starts_later = FALSE;
        thread_order_after(s->rank->threads, thread->sequence, s->sequence);
        strand_wake(m, thread->index);
    }
}

/* A call that failed or had not returned. Of these only a receive whose message was too long has
 * met one; and what had not returned may have. */
static gboolean begin_failed(Matching *m, Strand *s)
{
    const CallPlan *plan = s->plan;
    const WendCall *call = s->call;
    GatheringOver over;
    Operation op =
        operation_of(&m->words, s->walk, plan, call, comm_of_call(m, s, plan, call, &over));
    gboolean blocking = plan->request_made < 0 && !plan->persistent;
    gboolean truncated = answers_has_status(call);
    gboolean received = plan->receives && plan->status >= 0
                        && answers_truncated(call, &(CallMaker){call, plan}, s->status);
    if (plan->starts)
        return begin_starts(m, s, TRUE);
    if (blocking && (plan->sends || plan->receives) && (call->unfinished || received))
        return begin_transfer(m, s, &op, FALSE, WEND_ABSENT, call->unfinished ? NULL : s->status,
                              &s->begun_parts);
    if (!plan->persistent && !turns_come(m, s, &op, plan->receives || plan->probes, plan->sends))
        return FALSE;
    if (!blocking)
        return TRUE;
    if (plan->sync != WEND_SYNC_NONE)
        begin_collective(m, s, &op, over, WEND_ABSENT);
    if (plan->receives_probed && truncated)
        matching_need_word(m, s, TRUE, call_plan_word(call, plan->message), NULL, TRUE);
    else if (plan->completes && !call->args[plan->requests].param->array && truncated)
        matching_need_word(m, s, FALSE, call_plan_word(call, plan->requests), NULL, TRUE);
    return TRUE;
}

/* A call that sends, posts, probes or is collective, or makes a request, window or file. */
static gboolean begin_object(Matching *m, Strand *s, const CallPlan *plan)
{
    const WendCall *call = s->call;
    const gint64 *status = call_plan_status(plan, call);
    GatheringOver over;
    guint comm = comm_of_call(m, s, plan, call, &over);
    Operation op = operation_of(&m->words, s->walk, plan, call, comm);
    gint64 request = call_plan_request(plan, call);
    keep_objects(m, s, plan, comm);
    if (plan->persistent)
        keep_note(m, s, &op, plan->partitioned, request);
    else if (plan->probes)
        return begin_probe(m, s, &op, status);
    else if (plan->sends || plan->receives)
        return begin_transfer(m, s, &op, plan->request_made >= 0, request, status, &s->begun_parts);
    else if (plan->sync != WEND_SYNC_NONE)
        begin_collective(m, s, &op, over, request);
    else if (plan->request_made >= 0 && !plan->receives_probed)
        keep_receive(m, s, FALSE, request, NULL);
    return TRUE;
}

gboolean matching_calls_begin(Matching *m, Strand *s)
{
    const CallPlan *plan = s->plan;
    if (s->call->failed)
        return begin_failed(m, s);
    if (plan->of_object && !begin_object(m, s, plan))
        return FALSE;
    if (plan->receives_probed)
        receive_probed(m, s);
    if (plan->starts && !begin_starts(m, s, FALSE))
        return FALSE;
    if (plan->completes)
        begin_completions(m, s);
    if (plan->role == ROLE_REQUEST_FREE)
        free_request(m, s);
    if (plan->role == ROLE_THREAD_START || plan->role == ROLE_THREAD_JOIN)
        begin_thread(m, s);
    return TRUE;
}
