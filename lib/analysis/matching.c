/* SPDX-License-Identifier: BSD-3-Clause */
/* matching.c: see matching.h.
 *
 * Each call is begun, which may need things of other strands; when it has them it is given, and the
 * strand reads its next call. A strand whose call lacks something waits, and is woken when that may
 * be there. */
#include "config.h"

#include "matching-private.h"

#include "base/byte-table.h"

enum { CALLS_AT_ONCE = 1024 };
/* Signatures that walks keep decoded: all walks together, and each at least. */
enum { KEEP_ALL = 1 << 16, KEEP_LEAST = 16 };

/* -- strands -- */

static void end_call(Matching *m, Strand *s)
{
    matching_give_call(m, s);
    matching_end_needs(m, s);
    matching_end_turn(m, s);
    s->mpi_calls += !(s->call->function->flags & WEND_F_PSEUDO);
    s->need = 0;
    s->call = NULL;
    s->pass_loose = s->pass_all = FALSE;
}

/* The number of decoded signatures to keep in each walk. */
static guint keep(const Matching *m)
{
    return CLAMP(KEEP_ALL / MAX(strands_n(m->strands), 1), KEEP_LEAST, KEEP_ALL / 16);
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
    s->walk = wend_walk_new(m->program, s->rank->rank, s->sequence, WEND_WALK_MAIN);
    wend_walk_keep(s->walk, keep(m));
    s->needs = g_array_new(FALSE, FALSE, sizeof(Need));
    s->sends = g_array_new(FALSE, FALSE, sizeof(guint64));
}

static void end_rank(Matching *m, RankStrands *rank)
{
    request_entries_drain(m->strands, rank->requests, matching_drop_entry, m);
    request_entries_drain(m->strands, rank->messages, matching_drop_entry, m);
    g_clear_pointer(&rank->requests, g_hash_table_unref);
    g_clear_pointer(&rank->messages, g_hash_table_unref);
    g_clear_pointer(&rank->notes, g_hash_table_unref);
    g_clear_pointer(&rank->answers, answers_free);
}

static void end_strand(Matching *m, Strand *s)
{
    s->state = STRAND_ENDED;
    g_clear_pointer(&s->walk, wend_walk_free);
    g_clear_pointer(&s->needs, g_array_unref);
    g_clear_pointer(&s->sends, g_array_unref);
    allowance_give(m->allowance, s->walk_bytes);
    matching_end_turns(m, s);
    for (guint q = 0; q < s->rank->n; q++) /* who joins it */
        if (s->rank->n > 1)
            strands_wake(m->strands, s->rank->first + q);
    if (--s->rank->live == 0)
        end_rank(m, s->rank);
}

static void account_walk(Matching *m, Strand *s)
{
    gsize bytes = wend_walk_bytes(s->walk);
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
    if (m->stamp != NULL)
        m->stamp(m->stamp_data, s->call, &s->place);
}

/* Goes on with S until it waits, ends, gives way, or there is an event. */
static void run(Matching *m, Strand *s)
{
    if (s->walk == NULL)
        begin_strand(m, s);
    for (guint i = 0; i < CALLS_AT_ONCE && m->events->len == 0 && !m->full; i++) {
        if (s->call == NULL) {
            s->call = wend_walk_next(s->walk);
            if (s->call == NULL) {
                end_strand(m, s);
                return;
            }
            g_array_set_size(s->sends, 0);
            set_place(m, s);
            s->plan = call_plans_of(m->plans, s->call);
            s->begun = s->plan == NULL;
            s->begun_parts = 0;
        }
        s->begun = s->begun || matching_begin(m, s);
        WaitKind wait = s->begun ? WAIT_NONE : WAIT_DATA;
        if (s->begun && s->needs->len > 0)
            wait = matching_wait(m, s);
        if (wait != WAIT_NONE) {
            account_walk(m, s);
            strands_wait(m->strands, s, wait);
            return;
        }
        end_call(m, s);
        if (strands_gives_way(s))
            break;
    }
    account_walk(m, s);
    strands_ready(m->strands, s);
}

/* Whether S waits for a message of a rank that has ended. */
static gboolean is_hopeless(gpointer data, const Strand *s)
{
    const Matching *m = data;
    if (s->needs == NULL || s->need >= s->needs->len)
        return FALSE;
    const Need *need = &g_array_index(s->needs, Need, s->need);
    return need->kind == NEED_RECEIVE && need->receive != NULL && need->receive->in_channel
           && strands_rank(m->strands, need->receive->channel.from)->live == 0;
}

/* Nobody can go on: lets one go on without what it waits for. FALSE: nobody waits. */
static gboolean break_order(Matching *m)
{
    Strand *s = strands_waiting(m->strands, WAIT_LOOSE);
    if (s != NULL) {
        s->pass_loose = TRUE;
    } else {
        s = strands_find_waiting(m->strands, is_hopeless, m);
        if (s == NULL)
            s = strands_waiting(m->strands, WAIT_DATA);
        if (s == NULL)
            return FALSE;
        s->pass_all = TRUE;
        s->starts_later = FALSE;
        m->broken++;
    }
    strands_wake(m->strands, s->index);
    return TRUE;
}

/* -- what is left in the end -- */

static void give_left(gpointer data, Channel *channel)
{
    Matching *m = data;
    for (GList *i = channel->sends.head; i != NULL; i = i->next)
        matching_give_send(m, &channel->key, i->data);
    for (GList *i = channel->receives.head; i != NULL; i = i->next)
        matching_give_receive(m, i->data);
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
    channels_each(m->channels, give_left, m);
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
    allowance_add_archive(m->allowance, wend_program_archive_size(p));
    m->plans = call_plans_new(p);
    m->channels = channels_new(m->allowance);
    m->gatherings = gatherings_new(members, m->allowance);
    m->lanes = wend_byte_table_entries_new(g_free);
    m->events = g_array_new(FALSE, FALSE, sizeof(MessageEvent));
    m->receives = g_array_new(FALSE, FALSE, sizeof(guint64));
    m->strands = strands_new(p, m->allowance);
    m->full = m->strands == NULL;
    return m;
}

void matching_stamp(Matching *m, MatchingStamp stamp, gpointer data)
{
    m->stamp = stamp;
    m->stamp_data = data;
}

static void drop_needs(Matching *m)
{
    for (guint i = 0; i < strands_n(m->strands); i++) {
        Strand *s = strands_at(m->strands, i);
        for (guint k = 0; s->needs != NULL && k < s->needs->len; k++) {
            const Need *need = &g_array_index(s->needs, Need, k);
            if (need->kind == NEED_GATHERING && need->gathering != NULL)
                gathering_unref(need->gathering);
            if (need->kind == NEED_RECEIVE && need->receive != NULL)
                receive_unref(m->channels, need->receive);
        }
        if (s->sequence == 0) {
            request_entries_drain(m->strands, s->rank->requests, matching_drop_entry, m);
            request_entries_drain(m->strands, s->rank->messages, matching_drop_entry, m);
        }
    }
}

void matching_free(Matching *m)
{
    if (m == NULL)
        return;
    if (m->strands != NULL)
        drop_needs(m);
    strands_free(m->strands);
    channels_free(m->channels);
    gatherings_free(m->gatherings);
    g_hash_table_destroy(m->lanes);
    call_plans_free(m->plans);
    wend_decoder_free(m->decoder);
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
        Strand *s = strands_take(m->strands);
        if (s != NULL)
            run(m, s);
        else if (!break_order(m))
            finish(m);
    }
    if (m->full || m->next_event >= m->events->len)
        return FALSE;
    *event = g_array_index(m->events, MessageEvent, m->next_event++);
    return TRUE;
}

gboolean matching_error(const Matching *m, const char *name, GError **error)
{
    return m->full && allowance_error(m->allowance, name, error);
}

guint64 matching_broken(const Matching *m)
{
    return m->broken;
}

guint64 matching_in_flight(const Matching *m)
{
    return channels_in_flight(m->channels);
}

guint64 matching_most_in_flight(const Matching *m)
{
    return channels_most_in_flight(m->channels);
}
