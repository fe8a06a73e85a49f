/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-meetings.h: intercommunicators whose two groups made them by calls of their own.
 *
 * The groups have no communicator in common on which both could count their calls. They are joined
 * by other arguments:
 * - MPI_Comm_accept and MPI_Comm_connect: by the name of the port. If one thread of one rank
 *   accepts at a port, and one other thread connects equally often, the i-th calls belong together.
 *   If several threads connect, the recording does not say in which order they did.
 * - MPI_Intercomm_create: each leader names the other one, as a rank of the peer communicator.
 *
 * Numbers are given in rounds. The notes of one round join communicators in the next round. */
#ifndef WEND_COMM_MEETINGS_H
#define WEND_COMM_MEETINGS_H

#include "base/buf.h"

#include <glib.h>
#include "comm-leaders.h"

typedef struct CommMeetings CommMeetings;

CommMeetings *comm_meetings_new(void);
void comm_meetings_free(CommMeetings *m);

/* Notes that the root of a group made communicator NUMBER at the port PORT, in THREAD of its rank.
 * ACCEPTS: by MPI_Comm_accept. */
void comm_meetings_at_port(CommMeetings *m, const WendBuf *port, gboolean accepts, gint64 thread,
                           CommPlace at, guint number);
/* Notes that the leader of a group made communicator NUMBER with PEER_RANK of communicator
 * PEER_COMM (0: unknown; then nothing is noted). */
void comm_meetings_of_pair(CommMeetings *m, const WendBuf *tag, guint peer_comm, gint64 peer_rank,
                           CommPlace at, guint number);

/* At the end of a round in which N_NUMBERS were given:
 * - comm_meetings_prepare() returns whether anything was noted. If not, the others are not needed.
 * - comm_meetings_member() is called for each communicator that each rank got, in their order.
 * - comm_meetings_join() returns whether another round would join more communicators. */
gboolean comm_meetings_prepare(CommMeetings *m, guint n_numbers);
void comm_meetings_member(CommMeetings *m, CommPlace at, const WendCommMade *made);
gboolean comm_meetings_join(CommMeetings *m);

/* In the next round: the number of the communicator that the communicator at AT is joined to. 0 if
 * it is not joined. */
guint comm_meetings_number(const CommMeetings *m, CommPlace at);
/* Notes that the communicator at AT has got NUMBER. Returns whether it is joined to another one, or
 * another one to it. */
gboolean comm_meetings_note_number(CommMeetings *m, CommPlace at, guint number);

#endif
