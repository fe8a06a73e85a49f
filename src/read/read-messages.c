/* SPDX-License-Identifier: BSD-3-Clause */
/* read-matching.c: which send met which receive. */
#include "config.h"

#include "lib/analysis/matching.h"
#include "read-private.h"
#include "wrap.h"

struct WendReadMessages {
    WendRead *reader;
    Matching *messages;
    WendReadMessage message;
};

int wend_read_messages(WendRead *r, WendReadMessages **messages)
{
    int status = read_check(r, messages);
    if (status < 0)
        return status;
    WendReadMessages *m = g_new0(WendReadMessages, 1);
    m->reader = r;
    m->messages = wend_read_wrap_matching(r, 0);
    *messages = m;
    return WEND_READ_OK;
}

static WendReadCallPlace place_of(const MessagePlace *p)
{
    if (p->call == MESSAGE_NO_CALL)
        return (WendReadCallPlace){WEND_READ_NO_INDEX, WEND_READ_NO_INDEX, WEND_READ_NO_INDEX,
                                   WEND_READ_NO_CALL};
    return (WendReadCallPlace){p->rank, p->sequence, p->terminal, p->call};
}

/* Words that are no number stand for unknown. */
static gint64 known(gint64 word)
{
    return wend_is_special(word) ? WEND_READ_UNKNOWN : word;
}

static void set_message(WendReadMessage *to, const MessageEvent *e)
{
    *to = (WendReadMessage){
        .state = e->kind == MESSAGE_MATCHED     ? WEND_READ_MATCHED
                 : e->kind == MESSAGE_NOT_TAKEN ? WEND_READ_UNRECEIVED
                                                : WEND_READ_UNSENT,
        .communicator = e->comm != WEND_COMM_UNKNOWN ? e->comm : WEND_READ_NO_INDEX,
        .tag = known(e->tag),
        .source = known(e->from),
        .destination = known(e->to),
        .sent = place_of(&e->sent),
        .posted = place_of(&e->posted),
        .completed = place_of(&e->completed),
        .send_request = wend_is_handle(e->send_request) ? e->send_request : WEND_READ_ABSENT,
        .receive_request =
            wend_is_handle(e->receive_request) ? e->receive_request : WEND_READ_ABSENT,
        .bytes_sent = known(e->bytes_sent),
        .bytes_received = known(e->bytes_received),
        .cancelled = e->cancelled,
        .truncated = e->truncated,
        .unfinished = e->unfinished,
        .outside = e->outside,
        .uncertain = e->uncertain};
}

int wend_read_next_message(WendReadMessages *messages, const WendReadMessage **message)
{
    MessageEvent event;
    GError *error = NULL;
    if (messages == NULL)
        return WEND_READ_ERROR_USAGE;
    WendRead *r = messages->reader;
    int status = read_check(r, message);
    if (status < 0)
        return status;
    if (matching_next(messages->messages, &event)) {
        set_message(&messages->message, &event);
        *message = &messages->message;
    } else if (matching_error(messages->messages, r->path != NULL ? r->path : "the recording",
                              &error)) {
        return read_fail_error(r, error);
    } else {
        *message = NULL;
    }
    return WEND_READ_OK;
}

int wend_read_message_facts(const WendReadMessages *messages, WendReadMessageFacts *facts)
{
    if (messages == NULL || facts == NULL)
        return WEND_READ_ERROR_USAGE;
    *facts = (WendReadMessageFacts){matching_in_flight(messages->messages),
                                    matching_most_in_flight(messages->messages),
                                    matching_broken(messages->messages)};
    return WEND_READ_OK;
}

void wend_read_messages_free(WendReadMessages *messages)
{
    if (messages == NULL)
        return;
    matching_free(messages->messages);
    g_free(messages);
}
