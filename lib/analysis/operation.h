/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.h: what a call sends and posts, with handles resolved. A persistent request is an
 * operation that starts carry out later. */
#ifndef WEND_OPERATION_H
#define WEND_OPERATION_H

#include <glib.h>

#include "call-plan.h"
#include "matching-channels.h"
#include "members.h"
#include "transfer.h"

typedef struct {
    gboolean sends, receives;
    WendSync sync; /* WEND_SYNC_NONE: not collective */
    WendSync waits;
    gboolean root; /* of the collective */
    guint comm;
    gint64 comm_word;           /* WEND_ABSENT: it has none */
    gint64 dest, send_tag;      /* words; DEST is a rank in COMM */
    gint64 source, receive_tag; /* words */
    gint64 bytes;               /* of the send; WEND_UNKNOWN */
    guint send_lane, receive_lane;
    gboolean synchronous;
} Operation;

/* The operation of CALL, which WALK gave, or which made a request at some time before. COMM: the
 * number of its communicator. */
Operation operation_of(const MessageWords *words, const WendWalk *walk, const CallPlan *plan,
                       const WendCall *call, guint comm);

/* The process that RANK addresses as PEER in COMM. FALSE: it is unknown, or PEER is a constant. */
gboolean operation_process(const WendMembers *m, guint comm, guint rank, gint64 peer,
                           guint *process);

#endif
