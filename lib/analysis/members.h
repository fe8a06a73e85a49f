/* SPDX-License-Identifier: BSD-3-Clause */
/* members.h: the communicator of a handle, and the processes that are its members.
 *
 * Communicators have numbers that are the same on all of their members: those of
 * program_comms(), and the ones below. Processes are ranks of the job (program.h).
 *
 *     WendMembers *m = members_new(program);
 *     guint comm = members_of_walk(m, walk, call->args[i].in[0]);
 *     gint world_rank = members_process(m, comm, call->rank, dest);
 */
#ifndef WEND_MEMBERS_H
#define WEND_MEMBERS_H

#include "read/program.h"

#include <glib.h>

typedef struct WendMembers WendMembers;

/* MPI_COMM_WORLD of a process, MPI_COMM_SELF, and an unknown communicator. */
enum { WEND_COMM_WORLD = 0, WEND_COMM_SELF = G_MAXINT32 - 1, WEND_COMM_UNKNOWN = G_MAXINT32 };

/* Reads the communicators that PROGRAM makes. The cost follows their number, over all ranks.
 * PROGRAM must outlive the result. Never fails. */
WendMembers *members_new(const WendProgram *program);
void members_free(WendMembers *m);

/* The communicator of the word HANDLE at the last call that WALK gave. */
guint members_of_walk(const WendMembers *m, const WendWalk *walk, guint rank, gint64 handle);

/* The process that RANK, a member of COMM, addresses as rank PARTNER of COMM; in an
 * intercommunicator, of the remote group. -1: unknown (of another job, for example), or there is
 * none. */
gint members_process(const WendMembers *m, guint comm, guint rank, gint64 partner);
/* The number of partners: the size of COMM or, if it is an intercommunicator, of the remote group.
 * -1: unknown. */
gint64 members_size(const WendMembers *m, guint comm, guint rank);

/* The same for the group of RANK itself, which is another one only in intercommunicators. */
gint members_local_process(const WendMembers *m, guint comm, guint rank, gint64 member);
gint64 members_local_size(const WendMembers *m, guint comm, guint rank);
/* The size of the remote group of an intercommunicator, recorded or not. -1: COMM is an
 * intracommunicator. */
gint64 members_remote_size(const WendMembers *m, guint comm, guint rank);
/* The number of neighbours to which RANK sends in neighbourhood collectives on COMM. -1:
 * unknown. */
gint64 members_out_neighbours(const WendMembers *m, guint comm, guint rank);
gboolean members_is_inter(const WendMembers *m, guint comm, guint rank);

/* The number of members of COMM, in both groups, that recorded calls: those that made it or, for
 * MPI_COMM_WORLD, the ranks of the world of RANK. */
guint members_recorded(const WendMembers *m, guint comm, guint rank);
/* The world of RANK if COMM is MPI_COMM_WORLD, of which each world has its own; else 0. */
guint members_home(const WendMembers *m, guint comm, guint rank);

/* Whether COMM is an intracommunicator of all ranks of the job, as far as RANK, a member, knows.
 * TRUE for MPI_COMM_WORLD. */
gboolean members_all(const WendMembers *m, guint comm, guint rank);

/* -- passes, without a walk of each rank --
 *
 * Numbers of handles are used again. But the ranks of a class make communicators by the same calls.
 * So one pass over a sequence of the class determines for all its ranks that a handle is, for
 * example, the third communicator that the sequence made. */

typedef struct WendMembersPass WendMembersPass;

/* Begins a pass over a sequence of a class, from its first call. The caller frees it. */
WendMembersPass *members_pass_new(WendMembers *m, guint class_index, guint sequence);
void members_pass_free(WendMembersPass *pass);

/* Tells the pass that TERMINAL was called TIMES times. It gives a communicator
 * (comm_made_parameter()) and has not failed. ANY_ORDER: its order among other such calls of
 * the pass is unknown. */
void members_pass_made(WendMembersPass *pass, guint terminal, guint64 times, gboolean any_order);

/* Whether the pass has seen as many creations as the recording has. */
gboolean members_pass_complete(const WendMembersPass *pass);

/* Identifies HANDLE among the communicators of the sequence at this time, for
 * members_number(). The result is the same on all ranks of the class. */
guint members_pass_now(const WendMembersPass *pass, gint64 handle);

/* The communicator of HANDLE on RANK, in SEQUENCE of its class. NOW: from a pass over the sequence,
 * or 0 if the time is unknown. */
guint members_number(const WendMembers *m, guint rank, guint sequence, gint64 handle, guint now);

#endif
