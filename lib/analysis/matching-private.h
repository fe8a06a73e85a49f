/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-private.h: the inside of a Matching, for matching.c and its neighbours alone. */
#ifndef WEND_MATCHING_PRIVATE_H
#define WEND_MATCHING_PRIVATE_H

#include "matching.h"
#include "operation.h"
#include "strands.h"

struct Matching {
    const WendProgram *program;
    const WendMembers *members;
    guint flags;
    MatchingStamp stamp; /* NULL: none */
    gpointer stamp_data;
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
    guint64 n_numbers; /* of messages that were numbered */
    GArray *receives;  /* guint64: numbers of the messages that the call given last receives */
    gboolean full;     /* memory is used up */
    gboolean finished;
};

/* -- matching-events.c: what is given to the user, and who is woken -- */

MessageEvent *matching_give_send(Matching *m, const ChannelKey *key, const Sent *sent);
void matching_give_receive(Matching *m, Receive *r);
void matching_give_call(Matching *m, const Strand *s);
/* The call of S is given, which needed NEED: of a collective operation, or a probe. */
void matching_give_wait(Matching *m, const Strand *s, const Need *need);
void matching_wake_all(Matching *m, GArray *waiters); /* and empties WAITERS, which may be NULL */
/* The message that SENT stands for is received. */
void matching_taken(Matching *m, const Sent *sent);
/* R has just met its send. */
void matching_met(Matching *m, Receive *r);
/* R will not complete, as far as the recording says. Takes the caller's reference. */
void matching_abandon(Matching *m, Receive *r);
/* Drops what an entry stands for, which will not complete. DATA: the Matching. */
void matching_drop_entry(gpointer data, RequestEntry *entry);

/* -- matching-begin.c -- */

/* Begins the call of S, which matters to messages: sends, posts, and adds its needs. FALSE: S must
 * wait, since another thread has the next turn. It will be woken, and goes on with this. */
gboolean matching_begin(Matching *m, Strand *s);
/* S takes the turn that it holds, if any. */
void matching_end_turn(Matching *m, Strand *s);
/* The thread of S has ended: others need not wait for its turns. */
void matching_end_turns(Matching *m, Strand *s);

/* -- matching-needs.c -- */

Need *matching_need(Strand *s, NeedKind kind);
/* What WORD, of a request or a probed message, stands for completes in the call of S. */
void matching_need_word(Matching *m, Strand *s, gboolean message, gint64 word, const gint64 *status,
                        gboolean truncated);
/* Whether S has what it needs, or else what kind of waiting it is. Then S will be woken. */
WaitKind matching_wait(Matching *m, Strand *s);
/* The call of S is given: its receives complete. */
void matching_end_needs(Matching *m, Strand *s);

#endif
