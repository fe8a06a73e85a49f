/* SPDX-License-Identifier: BSD-3-Clause */
/* members.h: which communicator a handle is, and which processes are its members.
 *
 * Communicators have numbers that are the same on all of their members: those of
 * wend_program_comms(), and the ones below. Processes are ranks of the job (program.h).
 *
 *     WendMembers *m = wend_members_new(program);
 *     guint comm = wend_members_of_walk(m, walk, call->args[i].in[0]);
 *     gint world_rank = wend_members_process(m, comm, call->rank, dest);
 */
#ifndef WEND_MEMBERS_H
#define WEND_MEMBERS_H

#include "read/program.h"

typedef struct WendMembers WendMembers;

/* MPI_COMM_WORLD of the process that asks, MPI_COMM_SELF, and one that is not known. */
enum { WEND_COMM_WORLD = 0, WEND_COMM_SELF = G_MAXINT32 - 1, WEND_COMM_UNKNOWN = G_MAXINT32 };

/* Reads which communicators PROGRAM makes. The cost follows their number, over all ranks. PROGRAM
 * must live as long. Never fails. */
WendMembers *wend_members_new(const WendProgram *program);
void wend_members_free(WendMembers *m);

/* The communicator that HANDLE, a word, is at the call that WALK has just given. */
guint wend_members_of_walk(const WendMembers *m, const WendWalk *walk, guint rank, gint64 handle);

/* The process that RANK, a member, means when it names PARTNER, a rank in COMM: in the remote group
 * of an intercommunicator. -1: not known (of another job, say), or there is none. */
gint wend_members_process(const WendMembers *m, guint comm, guint rank, gint64 partner);
/* How many partners there are: the size of COMM's group, or of an intercommunicator's remote group.
 * -1: not known. */
gint64 wend_members_size(const WendMembers *m, guint comm, guint rank);

/* The same of the group that RANK is in itself. They differ for intercommunicators alone. */
gint wend_members_local_process(const WendMembers *m, guint comm, guint rank, gint64 member);
gint64 wend_members_local_size(const WendMembers *m, guint comm, guint rank);
/* The size of the remote group of an intercommunicator, recorded or not. -1: COMM is none. */
gint64 wend_members_remote_size(const WendMembers *m, guint comm, guint rank);
/* How many neighbours RANK sends to in neighbourhood collectives on COMM. -1: not known. */
gint64 wend_members_out_neighbours(const WendMembers *m, guint comm, guint rank);
gboolean wend_members_is_inter(const WendMembers *m, guint comm, guint rank);

/* Whether COMM is an intracommunicator of every rank of the job, as far as RANK, a member, knows;
 * TRUE for MPI_COMM_WORLD. */
gboolean wend_members_all(const WendMembers *m, guint comm, guint rank);

/* -- without a walk of each rank --
 *
 * Numbers of handles are used again. Ranks of a class make communicators by the same calls. So
 * "the third one that this sequence made" tells which communicator a handle is on each of them:
 * one pass over a sequence of the class does for all of its ranks. */

typedef struct WendMembersPass WendMembersPass;

/* A pass over a sequence of a class, from its first call. */
WendMembersPass *wend_members_pass_new(WendMembers *m, guint class_index, guint sequence);
void wend_members_pass_free(WendMembersPass *pass);

/* TERMINAL, a call that gives a communicator (wend_function_comm_made()) and has not failed, was
 * made TIMES times. ANY_ORDER: before or after other such calls of the pass. */
void wend_members_pass_made(WendMembersPass *pass, guint terminal, guint64 times,
                            gboolean any_order);

/* Whether the pass has seen as many communicators made as the recording has. */
gboolean wend_members_pass_complete(const WendMembersPass *pass);

/* Which of the sequence's communicators HANDLE is now, for wend_members_number(): the same on all
 * ranks of the class. */
guint wend_members_pass_now(const WendMembersPass *pass, gint64 handle);

/* The communicator that HANDLE is on RANK, in SEQUENCE of its class. NOW: of a pass over that; 0
 * tells nothing of the time. */
guint wend_members_number(const WendMembers *m, guint rank, guint sequence, gint64 handle,
                          guint now);

#endif
