/* SPDX-License-Identifier: BSD-3-Clause */
/* call-plan.h: which arguments of a call matter to messages, by function, found once. */
#ifndef WEND_CALL_PLAN_H
#define WEND_CALL_PLAN_H

#include <glib.h>

#include "read/program.h"
#include "transfer.h"

typedef enum {
    ROLE_NONE,
    ROLE_THREAD_START,
    ROLE_THREAD_JOIN,
    ROLE_REQUEST_FREE,
    ROLE_REQUEST_LOOK /* MPI_Request_get_status */
} CallRole;

/* Arguments are indices into call->args; -1: there is none. */
typedef struct {
    gint16 comm, window, file;                /* inputs */
    gint16 window_made, file_made, comm_made; /* outputs */
    gint16 dest, send_tag;
    gint16 source, receive_tag;
    gint16 request_made, requests, status;
    gint16 message, message_made;
    gint16 root, self, thread;
    /* of the buffers of a collective operation that have one count: counts and datatypes */
    gint16 counts[2], types[2];
    gboolean sends;           /* hands over a message, or makes a persistent request for it */
    gboolean receives;        /* likewise; not a probe, and not a receive of a probed message */
    gboolean probes;          /* looks for a message; with message_made it takes it */
    gboolean receives_probed; /* MPI_Mrecv, MPI_Imrecv */
    gboolean of_object; /* any of these or collective, or it makes a request, window or file */
    gboolean starts, completes, any, persistent, partitioned;
    gboolean synchronous; /* MPI_Ssend returns when the receive is posted */
    WendSync sync;
    WendSync waits; /* who waits in time for whom, as a rule: tighter than SYNC, which must hold */
    CallRole role;
} CallPlan;

/* The words of MPI_ANY_SOURCE and so on. */
typedef struct {
    gint64 any_source, any_tag, proc_null, root;
} MessageWords;
MessageWords call_plan_message_words(void);

typedef struct CallPlans CallPlans;

CallPlans *call_plans_new(const WendProgram *p); /* P must outlive it */
void call_plans_free(CallPlans *plans);
/* The plan of CALL. NULL: the call does not matter to messages. It belongs to PLANS. */
const CallPlan *call_plans_of(CallPlans *plans, const WendCall *call);

/* CALL makes a request for a receive, for a send: at once, or, if it is persistent, at each start.
 * A call that does both is a receive. */
gboolean call_plan_posts_receive(const CallPlan *plan);
gboolean call_plan_posts_send(const CallPlan *plan);
/* The receive of CALL leaves source or tag to the messages that come. */
gboolean call_plan_leaves_open(const CallPlan *plan, const WendCall *call,
                               const MessageWords *words);

/* Does CALL, a collective operation, move no data, so that no member has to wait for another? Of
 * SIZES it asks sizes of datatypes. All members agree on it, because the amounts of data that they
 * name must match. FALSE if each member has a count of its own. */
gboolean call_plan_is_empty(const CallPlan *plan, const TransferSizes *sizes, const WendCall *call);
/* Who must wait for whom in CALL, which WALK gave or which made a request: as PLAN says, but nobody
 * if it moves no data. */
WendSync call_plan_sync(const CallPlan *plan, const WendWalk *walk, const WendCall *call);

/* The call that made a request, with its plan. NULL: it is unknown, or does not matter. */
typedef struct {
    const WendCall *call;
    const CallPlan *plan;
} CallMaker;
/* The maker of REQUEST, which the last call of WALK names. It belongs to DECODER, until its next
 * use. */
CallMaker call_maker(CallPlans *plans, const WendWalk *walk, WendDecoder *decoder, guint rank,
                     gint64 request);

/* The first input word of argument ARG, or WEND_ABSENT. */
gint64 call_plan_word(const WendCall *call, gint16 arg);
/* The word of the request that CALL makes, or WEND_ABSENT. */
gint64 call_plan_request(const CallPlan *plan, const WendCall *call);
/* The four words of the status of a call that has one status, or NULL. */
const gint64 *call_plan_status(const CallPlan *plan, const WendCall *call);

#endif
