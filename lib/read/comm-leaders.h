/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-leaders.h: the leaders of groups that hold processes of several worlds.
 *
 * A process records the leader of a group (its rank 0) only if both are of one world. Members of
 * other worlds know the leader from the records of that world, in two ways:
 * - All members of one communicator have the same leaders: comm_leaders_settle().
 * - A call may make several communicators, of which each member gets one. If a member does not know
 *   its leader, and only one of these communicators fits, it is that one: comm_leaders_find(). */
#ifndef WEND_COMM_LEADERS_H
#define WEND_COMM_LEADERS_H

#include "base/buf.h"

#include <glib.h>
#include "program.h"

typedef struct CommLeaders CommLeaders;

/* No leaders yet. P must outlive the result. */
CommLeaders *comm_leaders_new(const WendProgram *p);
void comm_leaders_free(CommLeaders *l);

/* A communicator that a rank got. PLACE is its number among all that the rank got, from 0. */
typedef struct {
    guint rank, place;
} CommPlace;

/* Sets the leaders of MADE that are unknown (-1) and that comm_leaders_find() has found. */
void comm_leaders_set_found(const CommLeaders *l, CommPlace at, WendCommMade *made);

/* Notes a communicator for comm_leaders_find(). EVENT names the call, or the calls, that made it.
 * It has the same bytes on all ranks that may have got the same communicator, or another one of the
 * same calls. */
void comm_leaders_note(CommLeaders *l, const WendBuf *event, CommPlace at,
                       const WendCommMade *made);

/* Whether MADE has a group whose leader is unknown. */
gboolean comm_leaders_missing(const WendCommMade *made);

/* Finds leaders from all that was noted, and forgets the notes. If it returns TRUE it found some.
 * All communicators must then be numbered again, and more leaders may be found. */
gboolean comm_leaders_find(CommLeaders *l);

/* A communicator as one of its members recorded it. */
typedef struct {
    guint rank;
    WendCommMade *made;
} CommMember;

/* Sets unknown leaders in the records of the N MEMBERS of one communicator. */
void comm_leaders_settle(const CommMember *members, guint n);

#endif
