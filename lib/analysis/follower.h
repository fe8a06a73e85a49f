/* SPDX-License-Identifier: BSD-3-Clause */
/* follower.h: who communicates with whom, call by call along a walk.
 *
 * A follower keeps what requests, messages, windows and files stand for, so that a completion, a
 * start, a matched receive or a one-sided operation has a communicator and a peer.
 *
 *     while ((call = walk_next(walk)) != NULL) {
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
    guint comm;      /* WEND_COMM_UNKNOWN: none or unknown */
    gint64 peer;     /* rank in COMM, or in its remote group; WEND_ABSENT or WEND_UNKNOWN */
    gint64 process;  /* the peer as a rank of the job; WEND_ABSENT or WEND_UNKNOWN */
    gboolean sized;  /* there is a buffer */
    guint64 bytes;   /* its size, or TRANSFER_UNSIZED */
    gboolean counts; /* it is a transfer of KIND */
    gboolean inward; /* from the peer to the caller: MPI_Get */
    TrafficKind kind;
} Transfer;

/* A follower of one sequence of RANK. P and M must outlive it. */
Follower *follower_new(const WendProgram *p, const WendMembers *m, guint rank);
void follower_free(Follower *f); /* F may be NULL */

/* Tells the follower that WALK has just given CALL. */
void follower_next(Follower *f, const WendWalk *walk, const WendCall *call);

/* The transfer of the last call. A call that starts several requests has the sum of their bytes,
 * and no peer. A call that completes several requests has no peer either. */
void follower_transfer(Follower *f, Transfer *t);

/* The transfer of the I-th request that the last call completed. It has no size here, because it
 * counts where it was posted or started. FALSE: it is unknown, or there is no such request. */
gboolean follower_completed(Follower *f, guint i, Transfer *t);

/* Calls VISIT for each transfer of the last call that counts (transfer_kind): none, one, or one for
 * each request that the call starts. */
typedef void (*FollowerVisit)(gpointer data, const Transfer *t);
void follower_each(Follower *f, FollowerVisit visit, gpointer data);

/* Sets communicator, peer and kind of the transfer of CALL, which no walk has given: its handles
 * mean the same at all times on RANK. COMM: its communicator. */
void follower_place(const WendMembers *m, guint rank, const WendCall *call, guint comm,
                    Transfer *t);

#endif
