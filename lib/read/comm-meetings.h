/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-meetings.h: intercommunicators whose two sides made them by calls of their own.
 *
 * The sides have no communicator in common from which both could count. What joins them:
 * - MPI_Comm_accept and MPI_Comm_connect: the name of the port. If one thread of one rank accepts
 *   at a port, and one other connects, as often, their calls belong together one by one. If several
 *   connect, the recording does not tell in which order they came.
 * - MPI_Intercomm_create: each leader names the other one, as a rank of the peer communicator.
 *
 * Numbers are given in rounds. What is noted in one round joins communicators in the next. */
#ifndef WEND_COMM_MEETINGS_H
#define WEND_COMM_MEETINGS_H

#include "base/buf.h"
#include "comm-leaders.h"

typedef struct CommMeetings CommMeetings;

CommMeetings *comm_meetings_new(void);
void comm_meetings_free(CommMeetings *m);

/* The root of a side made communicator NUMBER at a port, in THREAD of its rank. */
void comm_meetings_at_port(CommMeetings *m, const WendBuf *port, gboolean accepts, gint64 thread,
                           CommPlace at, guint number);
/* The leader of a side made it with PEER_RANK of communicator PEER_COMM (0: not known). */
void comm_meetings_of_pair(CommMeetings *m, const WendBuf *tag, guint peer_comm, gint64 peer_rank,
                           CommPlace at, guint number);

/* Ends a round in which N_NUMBERS were given. First comm_meetings_prepare(): whether anything was
 * noted. If so, comm_meetings_member() for each communicator that each rank got, in their order.
 * comm_meetings_join() then says whether there is anything new to be joined in another round. */
gboolean comm_meetings_prepare(CommMeetings *m, guint n_numbers);
void comm_meetings_member(CommMeetings *m, CommPlace at, const WendCommMade *made);
gboolean comm_meetings_join(CommMeetings *m);

/* In the next round: the number of the communicator that the one at AT is joined to. 0: none. */
guint comm_meetings_number(const CommMeetings *m, CommPlace at);
/* The communicator at AT has been given NUMBER. Returns whether it is joined to another one, or
 * another one to it. */
gboolean comm_meetings_note_number(CommMeetings *m, CommPlace at, guint number);

#endif
