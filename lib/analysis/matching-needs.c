/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-needs.c: what calls need of others before they can be given. */
#include "config.h"

#include "matching-private.h"

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
    if (s->rank->threads != NULL)
        thread_order_after(s->rank->threads, s->sequence,
                           strands_at(m->strands, entry->strand)->sequence);
    request_entry_free(m->strands, entry);
}

/* What WORD stands for completes in this call. */
void matching_need_word(Matching *m, Strand *s, gboolean message, gint64 word, const gint64 *status,
                        gboolean truncated)
{
    RequestEntry *entry =
        request_entry_take(message ? s->rank->messages : s->rank->requests, word, s->index);
    if (entry == NULL && (s->rank->n == 1 || !wend_word_is_handle(word)))
        return; /* of a send, or made while recording was off */
    Need *need = matching_need(s, NEED_WORD);
    need->status = status;
    need->truncated = truncated;
    need->message = message;
    need->word = word;
    if (entry != NULL)
        need_entry(m, s, need, entry);
}

static void add_waiter(GArray **waiters, guint strand)
{
    if (*waiters == NULL)
        *waiters = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = (*waiters)->len; i-- > 0;)
        if (g_array_index(*waiters, guint, i) == strand)
            return;
    g_array_append_val(*waiters, strand);
}

static WaitKind wait_for_gathering(Strand *s, Gathering *g, WendSync sync, gboolean root)
{
    if (g == NULL || gathering_complete(g))
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
    Channel *channel = channels_at(m->channels, key, TRUE);
    if (channel == NULL) {
        m->full = TRUE;
        return WAIT_NONE;
    }
    if (channel->sends.length > 0)
        return WAIT_NONE;
    if (!s->pass_all) {
        add_waiter(&channel->probes, s->index);
        return WAIT_DATA;
    }
    for (guint i = 0; channel->probes != NULL && i < channel->probes->len; i++)
        if (g_array_index(channel->probes, guint, i) == s->index)
            g_array_remove_index(channel->probes, i--);
    channels_tidy(m->channels, channel);
    return WAIT_NONE;
}

static WaitKind wait_for_word(Matching *m, Strand *s, Need *need)
{
    RequestEntry *entry = request_entry_take(need->message ? s->rank->messages : s->rank->requests,
                                             need->word, s->index);
    if (entry != NULL) {
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
        if (need->receive == NULL || need->receive->paired || !need->receive->in_channel)
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
        return strands_at(m->strands, need->strand)->state == STRAND_ENDED ? WAIT_NONE : WAIT_DATA;
    default:
        return WAIT_NONE;
    }
}

WaitKind matching_wait(Matching *m, Strand *s)
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
    if (need->status != NULL) {
        r->cancelled |= need->status[3] & 1;
        r->truncated |= need->status[3] >> 1 != 0;
        r->bytes = need->status[2];
    }
    if (r->cancelled)
        channels_withdraw(m->channels, r);
    if (!r->in_channel)
        matching_give_receive(m, r);
    receive_unref(m->channels, r);
}

void matching_end_needs(Matching *m, Strand *s)
{
    for (guint i = 0; i < s->needs->len; i++) {
        const Need *need = &g_array_index(s->needs, Need, i);
        matching_give_wait(m, s, need);
        if (need->kind == NEED_GATHERING && need->gathering != NULL)
            gathering_unref(need->gathering);
        if (need->kind == NEED_JOIN)
            thread_order_after(s->rank->threads, s->sequence,
                               strands_at(m->strands, need->strand)->sequence);
        if (need->kind != NEED_RECEIVE || need->receive == NULL)
            continue;
        if (need->probed)
            receive_unref(m->channels, need->receive);
        else
            complete_receive(m, s, need);
    }
    g_array_set_size(s->needs, 0);
}
