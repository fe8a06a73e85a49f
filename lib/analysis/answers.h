/* SPDX-License-Identifier: BSD-3-Clause */
/* answers.h: what each request that a rank posts gets, known where it completes.
 *
 * A posting is a call that makes a request for a receive or a send, or the start of a persistent
 * one. What a receive from any source gets is recorded where it completes, and needed where it is
 * posted. So the answers go through the calls ahead of their user, as far as the next posting
 * needs, and keep only the postings in between.
 *
 * A request number of a thread is used again once the request before is complete. So if the thread
 * itself completes a request, it is the last one that it has posted under that number. If other
 * threads complete it, the postings under one number and the completions are paired in order. */
#ifndef WEND_ANSWERS_H
#define WEND_ANSWERS_H

#include <glib.h>

#include "base/allowance.h"
#include "read/program.h"
#include "call-plan.h"

typedef struct RankAnswers RankAnswers;

/* A receive is open if it leaves source or tag to the messages that come. */
typedef enum {
    ANSWER_AS_POSTED, /* source and tag are as posted */
    ANSWER_MATCHED,   /* the message from this source with this tag */
    ANSWER_CANCELLED, /* no message: cancelled in time */
    ANSWER_UNKNOWN,   /* an open one that got a message; which is not recorded */
    ANSWER_FREED,     /* an open one that was freed before it was known to be complete */
    ANSWER_NONE       /* an open one that never completed, as far as the recording says */
} AnswerKind;
typedef struct {
    AnswerKind kind;
    gboolean is_send;
    gint64 source, tag;   /* ranks in the communicator; 0 unless MATCHED */
    guint64 completed_by; /* the call that completed it or may have; ANSWER_NEVER: none of the
                             sequence that posted it */
} Answer;
#define ANSWER_NEVER G_MAXUINT64

/* Whether an answer on RANK can be another than ANSWER_AS_POSTED: it posts receives that are open,
 * or cancels. *CANCELS: it cancels. Takes the time of decoding each terminal of the rank once. */
gboolean answers_needed(const WendProgram *p, CallPlans *plans, guint rank, gboolean *cancels);

enum {
    ANSWERS_CANCELS = 1,    /* the rank cancels: requests of sends are postings, too */
    ANSWERS_COMPLETIONS = 2 /* COMPLETED_BY is wanted also for what is not open */
};
/* The answers of all sequences of RANK. A takes the memory of the postings that are ahead of the
 * user; it may be NULL. P and PLANS must outlive the result, which answers_free frees. KEEP: as
 * walk_keep, for each sequence. */
RankAnswers *answers_new(const WendProgram *p, CallPlans *plans, guint rank, guint flags,
                         guint keep, Allowance *a);
void answers_free(RankAnswers *a); /* A may be NULL */

/* Gives the answer of the next posting of SEQUENCE, in the order of posting. FALSE: SEQUENCE posts
 * no more, or memory is used up. Goes through calls until the answer is known. All calls of a
 * sequence are gone through once. */
gboolean answers_next(RankAnswers *a, guint sequence, Answer *answer);

/* -- messages that were too long -- */

/* Whether FAILED, a receive or a call that completes one request, has the status of a message that
 * was too long. */
gboolean answers_has_status(const WendCall *failed);
/* What RECEIVE got, whose message was too long. FAILED is the receive itself, or the call that
 * completes its request; the status there is relative to the receive (docs/recording.md, "Calls as
 * words"). FALSE: FAILED has none. *STATUS has source, tag, bytes (WEND_UNKNOWN) and flags as the
 * application saw them. */
gboolean answers_truncated(const WendCall *failed, const CallMaker *receive, gint64 status[4]);

#endif
