/* SPDX-License-Identifier: BSD-3-Clause */
/* members.h: which communicator a handle is, the same number on all its members, and which processes these are. */
#ifndef PROXYGEN_MEMBERS_H
#define PROXYGEN_MEMBERS_H

#include "plan.h"

typedef struct Members Members;
/* Numbers are those of wend_walk_comm, and these. */
enum { COMM_WORLD = 0, COMM_SELF = G_MAXINT32 - 1, COMM_UNKNOWN = G_MAXINT32 };

Members *members_new(const Plan *plan);
void members_free(Members *m);

/* What a sequence knows of communicators while it is walked; one for each sequence of a class. */
typedef struct MembersWalk MembersWalk;
MembersWalk *members_walk_new(Members *m, guint class_index, guint sequence);
void members_walk_free(MembersWalk *w);
/* A call of TERMINAL has given a communicator, TIMES times. ANY_ORDER: before or after others of the walk that give one. */
void members_walk_made(MembersWalk *w, guint terminal, guint64 times, gboolean any_order);
gboolean members_walk_complete(const MembersWalk *w); /* all that the recording has went by */
/* Which of the sequence's communicators the handle is now, in a form that is the same on all ranks of the class. */
guint members_walk_now(const MembersWalk *w, gint64 handle);
/* That as the number of a communicator, on one rank. */
guint members_number(const Members *m, guint rank, guint sequence, gint64 handle, guint now);

/* Is every rank of the run in it, as far as RANK, a member, knows? */
gboolean members_all(const Members *m, guint comm, guint rank);
/* The process that RANK means by PARTNER in the communicator; -1 unknown. */
gint members_process(const Members *m, guint comm, guint rank, gint64 partner);

#endif
