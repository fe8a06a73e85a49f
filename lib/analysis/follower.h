/* SPDX-License-Identifier: BSD-3-Clause */
/* follower.h: who communicates with whom, call by call along a walk.
 *
 * A follower keeps what requests, messages, windows and files stand for, so that a completion, a
 * start, a matched receive or a one-sided operation has a communicator and a peer.
 *
 *     while ((call = wend_walk_next(walk)) != NULL) {
 *         follower_next(f, walk, call);
 *         follower_transfer(f, &t);
 *     }
 */
#ifndef WEND_FOLLOWER_H
#define WEND_FOLLOWER_H

#include <glib.h>

#include "members.h"
#include "read/program.h"
#include "transfer.h"

typedef struct Follower Follower;

typedef struct {
    guint comm;      /* WEND_COMM_UNKNOWN: none, or not known */
    gint64 peer;     /* rank in COMM, or in its remote group; WEND_ABSENT or WEND_UNKNOWN */
    gint64 process;  /* the same as a rank of the job; WEND_ABSENT or WEND_UNKNOWN */
    gboolean sized;  /* there is a buffer */
    guint64 bytes;   /* its size, or TRANSFER_UNSIZED */
    gboolean counts; /* it is a transfer of KIND */
    gboolean inward; /* from the peer to the caller: MPI_Get */
    TrafficKind kind;
} Transfer;

/* Of the calls of one sequence of RANK. P and M have to outlive it. */
Follower *follower_new(const WendProgram *p, const WendMembers *m, guint rank);
void follower_free(Follower *f); /* NULL: nothing happens */

/* WALK has just given CALL. */
void follower_next(Follower *f, const WendWalk *walk, const WendCall *call);

/* What the call given last says to whom. Of a call that starts several requests BYTES are of all,
 * and there is no peer; of one that completes several there is none either. */
void follower_transfer(Follower *f, Transfer *t);

/* What request number I of those that the call given last completed says to whom. It counts where
 * it was posted or started, and has no size here. FALSE: nothing is known of it, or there is
 * none. */
gboolean follower_completed(Follower *f, guint i, Transfer *t);

/* Calls VISIT for each transfer that counts (transfer_kind) of the call given last: none, one, or
 * as many as it starts. */
typedef void (*FollowerVisit)(gpointer data, const Transfer *t);
void follower_each(Follower *f, FollowerVisit visit, gpointer data);

/* The transfer of CALL, which is not of a walk: its handles mean what they always mean on RANK.
 * COMM: its communicator. */
void follower_place(const WendMembers *m, guint rank, const WendCall *call, guint comm,
                    Transfer *t);

#endif
