/* SPDX-License-Identifier: BSD-3-Clause */
/* read-messages.c: which send met which receive. */
#include "config.h"

#include <math.h>

#include "call-stamps.h"
#include "lib/analysis/matching.h"
#include "read-private.h"
#include "wrap.h"

struct WendReadMessages {
    WendRead *reader;
    Matching *messages;
    CallStamps *stamps; /* NULL: neither times nor sites are wanted */
    WendReadMessage message;
};

int wend_read_messages(WendRead *r, WendReadMessages **messages)
{
    return wend_read_messages_with(r, 0, messages);
}

int wend_read_messages_with(WendRead *r, unsigned flags, WendReadMessages **messages)
{
    CallStamps *stamps = NULL;
    int status = read_check(r, messages);
    flags &= WEND_READ_WITH_TIMES | WEND_READ_WITH_SITES;
    if (status == WEND_READ_OK && flags != 0)
        stamps = call_stamps_new(r, flags, &status);
    if (status < 0)
        return status;
    WendReadMessages *m = g_new0(WendReadMessages, 1);
    m->reader = r;
    m->messages = wend_read_wrap_matching(r, 0);
    m->stamps = stamps;
    if (stamps != NULL)
        matching_stamp(m->messages, call_stamps_set, stamps);
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
    return wend_word_is_special(word) ? WEND_READ_UNKNOWN : word;
}

static void set_message(const WendProgram *p, WendReadMessage *to, const MessageEvent *e)
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
        .send_request = wend_word_is_handle(e->send_request) ? e->send_request : WEND_READ_ABSENT,
        .receive_request =
            wend_word_is_handle(e->receive_request) ? e->receive_request : WEND_READ_ABSENT,
        .bytes_sent = known(e->bytes_sent),
        .bytes_received = known(e->bytes_received),
        .cancelled = e->cancelled,
        .truncated = e->truncated,
        .unfinished = e->unfinished,
        .outside = e->outside,
        .uncertain = e->uncertain,
        .sent_start = e->sent.start,
        .completed_start = e->completed.start,
        .waited =
            e->kind == MESSAGE_MATCHED ? wait_row_seconds(wait_row_call(p, e), &e->sent) : NAN,
        .sent_site = e->sent.site,
        .completed_site = e->completed.site};
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
        set_message(r->program, &messages->message, &event);
        *message = &messages->message;
    } else if (matching_error(messages->messages, r->path != NULL ? r->path : "the recording",
                              &error)) {
        return read_fail_error(r, error);
    } else {
        *message = NULL;
    }
    return messages->stamps != NULL ? call_stamps_status(messages->stamps) : WEND_READ_OK;
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
    call_stamps_free(messages->stamps);
    g_free(messages);
}
