/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-private.h: the inside of a Messages, for matching.c and its neighbours alone. */
#ifndef WEND_MESSAGES_PRIVATE_H
#define WEND_MESSAGES_PRIVATE_H

#include "matching.h"
#include "operation.h"
#include "strands.h"

struct Messages {
    const WendProgram *program;
    const WendMembers *members;
    guint flags;
    MessageWords words;
    Allowance *allowance;
    CallPlans *plans;
    WendDecoder *decoder; /* for persistent requests of other threads; NULL until needed */
    Strands *strands;     /* NULL: memory is used up */
    Channels *channels;
    Gatherings *gatherings;
    GHashTable *lanes; /* partitioned operations made, by channel and direction -> guint */
    GArray *events;    /* MessageEvent: those before NEXT_EVENT have been given */
    guint next_event;
    guint64 broken;
    gboolean full; /* memory is used up */
    gboolean finished;
};

/* -- messages-events.c: what is given to the user, and who is woken -- */

MessagePlace messages_place(const Strand *s); /* the call of S */
MessageEvent *messages_give_send(Messages *m, const ChannelKey *key, const Sent *sent);
void messages_give_receive(Messages *m, Receive *r);
void messages_give_call(Messages *m, const Strand *s);
void messages_wake_all(Messages *m, GArray *waiters); /* and empties WAITERS, which may be NULL */
/* The message that SENT stands for is received. */
void messages_taken(Messages *m, const Sent *sent);
/* R has just met its send. */
void messages_met(Messages *m, Receive *r);
/* R will not complete, as far as the recording says. Takes the caller's reference. */
void messages_abandon(Messages *m, Receive *r);
/* Drops what an entry stands for, which will not complete. DATA: the Messages. */
void messages_drop_entry(gpointer data, RequestEntry *entry);

/* -- messages-begin.c -- */

/* Begins the call of S, which matters to messages: sends, posts, and adds its needs. */
void messages_begin(Messages *m, Strand *s);

/* -- messages-needs.c -- */

Need *messages_need(Strand *s, NeedKind kind);
/* What WORD, of a request or a probed message, stands for completes in the call of S. */
void messages_need_word(Messages *m, Strand *s, gboolean message, gint64 word, const gint64 *status,
                        gboolean truncated);
/* Whether S has what it needs, or else what kind of waiting it is. Then S will be woken. */
WaitKind messages_wait(Messages *m, Strand *s);
/* The call of S is given: its receives complete. */
void messages_end_needs(Messages *m, Strand *s);
void messages_drop_needs(Messages *m, Strand *s);

#endif
