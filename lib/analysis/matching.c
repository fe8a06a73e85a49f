/* SPDX-License-Identifier: BSD-3-Clause */
/* matching.c: see matching.h.
 *
 * Each call is begun, which may need things of other strands; when it has them it is given, and the
 * strand reads its next call. A strand whose call lacks something waits, and is woken when that may
 * be there. */
#include "config.h"

#include "matching-state.h"

enum { CALLS_AT_ONCE = 1024, LOOK_AT = 1000 };
/* Signatures that walks keep decoded: all walks together, and each at least. */
enum { KEEP_ALL = 1 << 16, KEEP_LEAST = 16 };

/* -- events -- */

static MessageEvent *add_event(Matching *m, MessageEventKind kind)
{
    MessageEvent e = {.kind = kind,
                      .comm = WEND_COMM_UNKNOWN,
                      .from = WEND_UNKNOWN,
                      .to = WEND_UNKNOWN,
                      .sent = MESSAGE_NO_PLACE,
                      .posted = MESSAGE_NO_PLACE,
                      .completed = MESSAGE_NO_PLACE,
                      .send_request = WEND_ABSENT,
                      .receive_request = WEND_ABSENT,
                      .bytes_sent = WEND_UNKNOWN,
                      .bytes_received = WEND_UNKNOWN};
    g_array_append_val(m->events, e);
    return &g_array_index(m->events, MessageEvent, m->events->len - 1);
}

static void set_send(MessageEvent *e, const Sent *sent)
{
    e->sent = sent->place;
    e->from = sent->place.rank;
    e->send_request = sent->request;
    e->bytes_sent = sent->bytes;
    e->unfinished |= sent->unfinished;
    e->uncertain |= sent->uncertain;
}

MessageEvent *matching_give_send(Matching *m, const ChannelKey *key, const Sent *sent)
{
    MessageEvent *e = add_event(m, MESSAGE_NOT_TAKEN);
    set_send(e, sent);
    e->comm = key->comm;
    e->tag = key->tag;
    e->to = key->to;
    return e;
}

static void give_receive(Matching *m, Receive *r)
{
    MessageEvent *e = add_event(m, r->paired ? MESSAGE_MATCHED : MESSAGE_NOT_ARRIVED);
    r->given = TRUE;
    e->comm = r->channel.comm;
    e->tag = r->channel.tag;
    e->from = r->resolved ? (gint64)r->channel.from : WEND_UNKNOWN;
    e->to = r->posted.rank;
    e->posted = r->posted;
    e->completed = r->completed;
    e->receive_request = r->request;
    e->bytes_received = r->bytes;
    e->cancelled = r->cancelled && !r->paired;
    e->truncated = r->truncated;
    e->unfinished = r->unfinished;
    e->outside = r->outside;
    e->uncertain = r->uncertain;
    if (r->paired)
        set_send(e, &r->sent);
}

/* Numbers the messages that are received in the call of S. One whose send has not come gets its
 * number here. */
static void number_receives(Matching *m, const Strand *s)
{
    g_array_set_size(m->receives, 0);
    for (guint i = 0; i < s->needs->len; i++) {
        const Need *need = &g_array_index(s->needs, Need, i);
        Receive *r = need->kind == NEED_RECEIVE && !need->probed ? need->receive : NULL;
        if (r && !r->paired && r->in_channel)
            r->number = ++m->n_numbers;
        if (r && (r->paired || r->in_channel))
            g_array_append_val(m->receives, *(r->paired ? &r->sent.number : &r->number));
    }
}

static void give_call(Matching *m, const Strand *s)
{
    if (!(m->flags & MATCHING_WITH_CALLS))
        return;
    number_receives(m, s);
    MessageEvent *e = add_event(m, MESSAGE_CALL);
    e->sends = (const guint64 *)(gpointer)s->sends->data;
    e->n_sends = s->sends->len;
    e->receives = (const guint64 *)(gpointer)m->receives->data;
    e->n_receives = m->receives->len;
    e->sequence = s->sequence;
    e->walk = s->walk;
    e->call = s->call;
}

/* The call that a member of the collective operation of NEED waited for. MESSAGE_NO_PLACE: for
 * none. */
static MessagePlace awaited_of(const Need *need)
{
    const Gathering *g = need->gathering;
    if (!g)
        return MESSAGE_NO_PLACE;
    gboolean all = g->waits == WEND_SYNC_ALL || (g->waits == WEND_SYNC_TO_ROOT && need->root);
    if (all && gathering_complete(g))
        return g->last;
    return g->waits == WEND_SYNC_FROM_ROOT && !need->root ? g->root_place : MESSAGE_NO_PLACE;
}

/* The call that sent what a probe found. MESSAGE_NO_PLACE: it is gone. */
static MessagePlace sender_of(const Matching *m, const ChannelKey *key)
{
    const Channel *channel = channel_find(m, key);
    return channel && channel->sends ? channel->sends->place : MESSAGE_NO_PLACE;
}

static void give_wait(Matching *m, const Strand *s, const Need *need)
{
    gboolean probe = need->kind == NEED_PROBE;
    if (!(m->flags & MATCHING_WITH_WAITS) || (!probe && need->kind != NEED_GATHERING))
        return;
    MessagePlace awaited = probe ? sender_of(m, &need->channel) : awaited_of(need);
    if (awaited.call == MESSAGE_NO_CALL)
        return;
    MessageEvent *e = add_event(m, MESSAGE_WAIT);
    e->comm = probe ? need->channel.comm : need->gathering->key.comm;
    e->from = awaited.rank;
    e->to = s->place.rank;
    e->waits = probe ? WEND_SYNC_NONE : need->gathering->waits;
    e->sent = awaited;
    e->completed = s->place;
}

/* The message that SENT stands for is received. */
void matching_taken(Matching *m, const Sent *sent)
{
    Strand *sender = &m->strands[sent->strand];
    sender->outstanding--;
    if (!sent->waits)
        return;
    sender->ssends--;
    strand_wake(m, sent->strand);
}

/* R has just met its send. */
void matching_met(Matching *m, Receive *r)
{
    if (r->waiter > 0)
        strand_wake(m, r->waiter - 1);
    r->waiter = 0;
    if (r->never || r->completed.call != MESSAGE_NO_CALL)
        give_receive(m, r);
}

/* R will not complete, as far as the recording says. Takes the caller's reference. */
void matching_abandon(Matching *m, Receive *r)
{
    r->never = TRUE;
    if (r->paired || !r->in_channel)
        give_receive(m, r);
    receive_unref(m, r);
}

void matching_drop_entry(Matching *m, RequestEntry *entry)
{
    if (entry->kind == ENTRY_RECEIVE)
        matching_abandon(m, entry->receive);
    else if (entry->kind == ENTRY_GATHERING)
        gathering_unref(entry->gathering);
    request_entry_free(m, entry);
}

/* -- needs -- */

Need *matching_need(Strand *s, NeedKind kind)
{
    Need need = {.kind = kind};
    g_array_append_val(s->needs, need);
    return &g_array_index(s->needs, Need, s->needs->len - 1);
}

static void need_entry(Matching *m, Strand *s, Need *need, RequestEntry *entry)
{
    need->kind = entry->kind == ENTRY_GATHERING ? NEED_GATHERING : NEED_RECEIVE;
    need->receive = entry->receive;
    need->gathering = entry->gathering;
    need->sync = entry->sync;
    need->root = entry->root;
    if (s->rank->threads)
        thread_order_after(s->rank->threads, s->sequence, m->strands[entry->strand].sequence);
    request_entry_free(m, entry);
}

/* What WORD stands for completes in this call. */
void matching_need_word(Matching *m, Strand *s, gboolean message, gint64 word, const gint64 *status,
                        gboolean truncated)
{
    RequestEntry *entry =
        request_entry_take(message ? s->rank->messages : s->rank->requests, word, s->index);
    if (!entry && (s->rank->n == 1 || !word_is_handle(word)))
        return; /* of a send, or made while recording was off */
    Need *need = matching_need(s, NEED_WORD);
    need->status = status;
    need->truncated = truncated;
    need->message = message;
    need->word = word;
    if (entry)
        need_entry(m, s, need, entry);
}

static void add_waiter(GArray **waiters, guint strand)
{
    if (!*waiters)
        *waiters = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = (*waiters)->len; i-- > 0;)
        if (g_array_index(*waiters, guint, i) == strand)
            return;
    g_array_append_val(*waiters, strand);
}

static WaitKind wait_for_gathering(Strand *s, Gathering *g, WendSync sync, gboolean root)
{
    if (!g || gathering_complete(g))
        return WAIT_NONE;
    g_array_append_val(g->waiters, s->index);
    switch (sync) {
    case WEND_SYNC_ALL:
        return WAIT_DATA;
    case WEND_SYNC_FROM_ROOT:
        return root || g->root ? WAIT_LOOSE : WAIT_DATA;
    case WEND_SYNC_TO_ROOT:
        return root ? WAIT_DATA : WAIT_LOOSE;
    default:
        return WAIT_LOOSE;
    }
}

static WaitKind wait_for_message(Matching *m, Strand *s, const ChannelKey *key)
{
    Channel *channel = channel_at(m, key);
    if (!channel || channel->sends)
        return WAIT_NONE;
    if (!s->pass_all) {
        add_waiter(&channel->probes, s->index);
        return WAIT_DATA;
    }
    for (guint i = 0; channel->probes && i < channel->probes->len; i++)
        if (g_array_index(channel->probes, guint, i) == s->index)
            g_array_remove_index(channel->probes, i--);
    channel_tidy(m, channel);
    return WAIT_NONE;
}

static WaitKind wait_for_word(Matching *m, Strand *s, Need *need)
{
    RequestEntry *entry = request_entry_take(need->message ? s->rank->messages : s->rank->requests,
                                             need->word, s->index);
    if (entry) {
        need_entry(m, s, need, entry);
        return WAIT_NONE;
    }
    add_waiter(&s->rank->word_waiters, s->index);
    return WAIT_LOOSE; /* it may have been inactive */
}

/* Whether S must wait for NEED; then it will be woken. */
static WaitKind wait_for(Matching *m, Strand *s, Need *need)
{
    if (need->kind == NEED_WORD) {
        WaitKind kind = wait_for_word(m, s, need);
        if (kind != WAIT_NONE)
            return kind;
    }
    switch (need->kind) {
    case NEED_RECEIVE:
        if (!need->receive || need->receive->paired || !need->receive->in_channel)
            return WAIT_NONE;
        need->receive->waiter = s->index + 1;
        return WAIT_DATA;
    case NEED_GATHERING:
        return wait_for_gathering(s, need->gathering, need->sync, need->root);
    case NEED_PROBE:
        return wait_for_message(m, s, &need->channel);
    case NEED_SSENDS:
        return s->ssends > 0 ? WAIT_LOOSE : WAIT_NONE;
    case NEED_JOIN:
        return m->strands[need->strand].state == STRAND_ENDED ? WAIT_NONE : WAIT_DATA;
    default:
        return WAIT_NONE;
    }
}

static WaitKind wait_for_needs(Matching *m, Strand *s)
{
    for (; s->need < s->needs->len; s->need++) {
        WaitKind kind = wait_for(m, s, &g_array_index(s->needs, Need, s->need));
        if (kind != WAIT_NONE && !s->pass_all && !(s->pass_loose && kind == WAIT_LOOSE))
            return kind;
    }
    return WAIT_NONE;
}

/* -- the call is given -- */

static void complete_receive(Matching *m, Strand *s, const Need *need)
{
    Receive *r = need->receive;
    r->completed = s->place;
    r->truncated = need->truncated;
    if (need->status) {
        r->cancelled |= need->status[3] & 1;
        r->truncated |= need->status[3] >> 1 != 0;
        r->bytes = need->status[2];
    }
    if (r->cancelled)
        channel_withdraw(m, r);
    if (!r->in_channel)
        give_receive(m, r);
    receive_unref(m, r);
}

static void end_needs(Matching *m, Strand *s)
{
    for (guint i = 0; i < s->needs->len; i++) {
        const Need *need = &g_array_index(s->needs, Need, i);
        give_wait(m, s, need);
        if (need->kind == NEED_GATHERING && need->gathering)
            gathering_unref(need->gathering);
        if (need->kind == NEED_JOIN)
            thread_order_after(s->rank->threads, s->sequence, m->strands[need->strand].sequence);
        if (need->kind != NEED_RECEIVE || !need->receive)
            continue;
        if (need->probed)
            receive_unref(m, need->receive);
        else
            complete_receive(m, s, need);
    }
    g_array_set_size(s->needs, 0);
}

/* -- strands -- */

static void end_call(Matching *m, Strand *s)
{
    give_call(m, s);
    end_needs(m, s);
    matching_calls_end_turn(m, s);
    s->mpi_calls += !(s->call->function->flags & WEND_F_PSEUDO);
    s->need = 0;
    s->call = NULL;
    s->pass_loose = s->pass_all = FALSE;
}

/* The number of decoded signatures to keep in each walk. */
static guint keep(const Matching *m)
{
    return CLAMP(KEEP_ALL / MAX(m->n_strands, 1), KEEP_LEAST, KEEP_ALL / 16);
}

static void begin_rank(Matching *m, RankStrands *rank)
{
    rank->begun = TRUE;
    if (!allowance_take(m->allowance, 1, recorded_turns_memory(m->program, rank->rank)))
        m->full = TRUE;
    else
        rank->turns = recorded_turns_new(m->program, rank->rank, rank->threads);
    if (answers_needed(m->program, m->plans, rank->rank, &rank->cancels))
        rank->answers = answers_new(m->program, m->plans, rank->rank,
                                    rank->cancels ? ANSWERS_CANCELS : 0, keep(m), m->allowance);
}

static void begin_strand(Matching *m, Strand *s)
{
    if (!s->rank->begun)
        begin_rank(m, s->rank);
    s->starts_later = s->pass_loose = s->pass_all = FALSE;
    s->walk = walk_new(m->program, s->rank->rank, s->sequence, WEND_WALK_MAIN);
    walk_keep(s->walk, keep(m));
    s->needs = g_array_new(FALSE, FALSE, sizeof(Need));
    s->sends = g_array_new(FALSE, FALSE, sizeof(guint64));
}

/* Drops all entries of *TABLE, in no order, and the table. */
static void drop_entries(Matching *m, GHashTable **table)
{
    GHashTableIter i;
    gpointer value;
    if (!*table)
        return;
    g_hash_table_iter_init(&i, *table);
    while (g_hash_table_iter_next(&i, NULL, &value))
        for (RequestEntry *entry = value, *next; entry; entry = next) {
            next = entry->next;
            matching_drop_entry(m, entry);
        }
    g_clear_pointer(table, g_hash_table_unref);
}

static void end_rank(Matching *m, RankStrands *rank)
{
    drop_entries(m, &rank->requests);
    drop_entries(m, &rank->messages);
    g_clear_pointer(&rank->notes, g_hash_table_unref);
    g_clear_pointer(&rank->answers, answers_free);
}

static void end_strand(Matching *m, Strand *s)
{
    s->state = STRAND_ENDED;
    g_clear_pointer(&s->walk, walk_free);
    g_clear_pointer(&s->needs, g_array_unref);
    g_clear_pointer(&s->sends, g_array_unref);
    allowance_give(m->allowance, s->walk_bytes);
    matching_calls_end_turns(m, s);
    for (guint q = 0; q < s->rank->n; q++) /* who joins it */
        if (s->rank->n > 1)
            strand_wake(m, s->rank->first + q);
    if (--s->rank->live == 0)
        end_rank(m, s->rank);
}

static void account_walk(Matching *m, Strand *s)
{
    gsize bytes = walk_bytes(s->walk);
    if (bytes > s->walk_bytes && !allowance_take(m->allowance, 1, bytes - s->walk_bytes)) {
        m->full = TRUE;
        return;
    }
    if (bytes < s->walk_bytes)
        allowance_give(m->allowance, s->walk_bytes - bytes);
    s->walk_bytes = bytes;
}

static void set_place(const Matching *m, Strand *s)
{
    s->place = MESSAGE_NO_PLACE;
    s->place.rank = s->rank->rank;
    s->place.sequence = s->sequence;
    s->place.terminal = s->call->terminal;
    s->place.call = s->call->index;
    if (m->stamp)
        m->stamp(m->stamp_data, s->call, &s->place);
}

/* Goes on with S until it waits, ends, gives way, or there is an event. */
static void run(Matching *m, Strand *s)
{
    if (!s->walk)
        begin_strand(m, s);
    for (guint i = 0; i < CALLS_AT_ONCE && m->events->len == 0 && !m->full; i++) {
        if (!s->call) {
            s->call = walk_next(s->walk);
            if (!s->call) {
                end_strand(m, s);
                return;
            }
            g_array_set_size(s->sends, 0);
            set_place(m, s);
            s->plan = call_plans_of(m->plans, s->call);
            s->begun = !s->plan;
            s->begun_parts = 0;
        }
        s->begun = s->begun || matching_calls_begin(m, s);
        WaitKind wait = s->begun ? WAIT_NONE : WAIT_DATA;
        if (s->begun && s->needs->len > 0)
            wait = wait_for_needs(m, s);
        if (wait != WAIT_NONE) {
            account_walk(m, s);
            strand_wait(m, s, wait);
            return;
        }
        end_call(m, s);
        if (strand_gives_way(s))
            break;
    }
    account_walk(m, s);
    strand_ready(m, s);
}

/* Whether S waits for a message of a rank that has ended. */
static gboolean is_hopeless(const Matching *m, const Strand *s)
{
    if (!s->needs || s->need >= s->needs->len)
        return FALSE;
    const Need *need = &g_array_index(s->needs, Need, s->need);
    return need->kind == NEED_RECEIVE && need->receive && need->receive->in_channel
           && m->ranks[need->receive->channel.from].live == 0;
}

/* The strand that waits for data and is let go on: of the oldest thousand the first that is
 * hopeless, or else the oldest. NULL: nobody waits. */
static Strand *find_stuck(const Matching *m)
{
    guint looked = 0;
    for (const GList *i = m->data.head; i && looked < LOOK_AT; i = i->next, looked++)
        if (is_hopeless(m, i->data))
            return i->data;
    return m->data.head ? m->data.head->data : NULL;
}

/* Nobody can go on: lets one go on without what it waits for. FALSE: nobody waits. */
static gboolean break_order(Matching *m)
{
    Strand *s = m->loose.head ? m->loose.head->data : NULL;
    if (s) {
        s->pass_loose = TRUE;
    } else {
        s = find_stuck(m);
        if (!s)
            return FALSE;
        s->pass_all = TRUE;
        s->starts_later = FALSE;
        m->broken++;
    }
    strand_wake(m, s->index);
    return TRUE;
}

/* -- what is left in the end -- */

static void give_left(Matching *m)
{
    GHashTableIter i;
    gpointer key;
    g_hash_table_iter_init(&i, m->channels);
    while (g_hash_table_iter_next(&i, &key, NULL)) {
        const Channel *channel = key;
        for (const Sent *sent = channel->sends; sent; sent = sent->next)
            matching_give_send(m, &channel->key, sent);
        for (Receive *r = channel->receives; r; r = r->next)
            give_receive(m, r);
    }
}

static gint compare_left(gconstpointer a, gconstpointer b)
{
    const MessageEvent *x = a, *y = b;
    const MessagePlace *p = x->kind == MESSAGE_NOT_TAKEN ? &x->sent : &x->posted,
                       *q = y->kind == MESSAGE_NOT_TAKEN ? &y->sent : &y->posted;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    if (p->sequence != q->sequence)
        return p->sequence < q->sequence ? -1 : 1;
    if (p->call != q->call)
        return p->call < q->call ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

static void finish(Matching *m)
{
    give_left(m);
    g_array_sort(m->events, compare_left);
    m->finished = TRUE;
}

/* -- interface -- */

Matching *matching_new(const WendProgram *p, const WendMembers *members, guint flags,
                       guint64 max_size)
{
    Matching *m = g_new0(Matching, 1);
    m->program = p;
    m->members = members;
    m->flags = flags;
    m->words = call_plan_message_words();
    m->allowance = allowance_new(max_size);
    allowance_add_archive(m->allowance, program_archive_size(p));
    m->plans = call_plans_new(p);
    m->events = g_array_new(FALSE, FALSE, sizeof(MessageEvent));
    m->receives = g_array_new(FALSE, FALSE, sizeof(guint64));
    matching_state_begin(m);
    return m;
}

void matching_stamp(Matching *m, MatchingStamp stamp, gpointer data)
{
    m->stamp = stamp;
    m->stamp_data = data;
}

static void drop_needs(Matching *m)
{
    for (guint i = 0; i < m->n_strands; i++) {
        Strand *s = &m->strands[i];
        for (guint k = 0; s->needs && k < s->needs->len; k++) {
            const Need *need = &g_array_index(s->needs, Need, k);
            if (need->kind == NEED_GATHERING && need->gathering)
                gathering_unref(need->gathering);
            if (need->kind == NEED_RECEIVE && need->receive)
                receive_unref(m, need->receive);
        }
    }
    for (guint r = 0; r < m->n_ranks; r++) {
        drop_entries(m, &m->ranks[r].requests);
        drop_entries(m, &m->ranks[r].messages);
    }
}

void matching_free(Matching *m)
{
    if (!m)
        return;
    drop_needs(m);
    matching_state_end(m);
    call_plans_free(m->plans);
    decoder_free(m->decoder);
    g_array_unref(m->events);
    g_array_unref(m->receives);
    allowance_unref(m->allowance);
    g_free(m);
}

gboolean matching_next(Matching *m, MessageEvent *event)
{
    while (m->next_event >= m->events->len && !m->finished && !m->full) {
        g_array_set_size(m->events, 0);
        m->next_event = 0;
        Strand *s = strand_take(m);
        if (s)
            run(m, s);
        else if (!break_order(m))
            finish(m);
    }
    if (m->full || m->next_event >= m->events->len)
        return FALSE;
    *event = g_array_index(m->events, MessageEvent, m->next_event++);
    return TRUE;
}

gboolean matching_error(const Matching *m, const char *name, Error **error)
{
    return m->full && allowance_error(m->allowance, name, error);
}

guint64 matching_broken(const Matching *m)
{
    return m->broken;
}

guint64 matching_in_flight(const Matching *m)
{
    return m->in_flight;
}

guint64 matching_most_in_flight(const Matching *m)
{
    return m->most_in_flight;
}
