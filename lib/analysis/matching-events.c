/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-events.c: what is given to the user, and who is woken. */
#include "config.h"

#include "matching-private.h"

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

void matching_give_receive(Matching *m, Receive *r)
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
        if (r != NULL && !r->paired && r->in_channel)
            r->number = ++m->n_numbers;
        if (r != NULL && (r->paired || r->in_channel))
            g_array_append_val(m->receives, *(r->paired ? &r->sent.number : &r->number));
    }
}

void matching_give_call(Matching *m, const Strand *s)
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
    if (g == NULL)
        return MESSAGE_NO_PLACE;
    gboolean all = g->waits == WEND_SYNC_ALL || (g->waits == WEND_SYNC_TO_ROOT && need->root);
    if (all && gathering_complete(g))
        return g->last;
    return g->waits == WEND_SYNC_FROM_ROOT && !need->root ? g->root_place : MESSAGE_NO_PLACE;
}

/* The call that sent what a probe found. MESSAGE_NO_PLACE: it is gone. */
static MessagePlace sender_of(Matching *m, const ChannelKey *key)
{
    const Channel *channel = channels_at(m->channels, key, FALSE);
    return channel != NULL && channel->sends.head != NULL
               ? ((const Sent *)channel->sends.head->data)->place
               : MESSAGE_NO_PLACE;
}

void matching_give_wait(Matching *m, const Strand *s, const Need *need)
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

/* -- waking -- */

void matching_wake_all(Matching *m, GArray *waiters)
{
    for (guint i = 0; waiters != NULL && i < waiters->len; i++)
        strands_wake(m->strands, g_array_index(waiters, guint, i));
    if (waiters != NULL)
        g_array_set_size(waiters, 0);
}

/* The message that SENT stands for is received. */
void matching_taken(Matching *m, const Sent *sent)
{
    Strand *sender = strands_at(m->strands, sent->strand);
    sender->outstanding--;
    if (!sent->waits)
        return;
    sender->ssends--;
    strands_wake(m->strands, sent->strand);
}

/* R has just met its send. */
void matching_met(Matching *m, Receive *r)
{
    if (r->waiter > 0)
        strands_wake(m->strands, r->waiter - 1);
    r->waiter = 0;
    if (r->never || r->completed.call != MESSAGE_NO_CALL)
        matching_give_receive(m, r);
}

/* R will not complete, as far as the recording says. Takes the caller's reference. */
void matching_abandon(Matching *m, Receive *r)
{
    r->never = TRUE;
    if (r->paired || !r->in_channel)
        matching_give_receive(m, r);
    receive_unref(m->channels, r);
}

void matching_drop_entry(gpointer data, RequestEntry *entry)
{
    Matching *m = data;
    if (entry->kind == ENTRY_RECEIVE)
        matching_abandon(m, entry->receive);
    else if (entry->kind == ENTRY_GATHERING)
        gathering_unref(entry->gathering);
}
