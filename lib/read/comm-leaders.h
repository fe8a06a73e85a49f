/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-leaders.h: the leaders of groups that hold processes of several worlds.
 *
 * A process records the leader of a group (its rank 0) only if both are of one world. Members of
 * other worlds know it from what is recorded there, in two ways:
 * - All members of one communicator have the same leaders: comm_leaders_settle().
 * - If one call on a communicator makes several, each member has one of these. A member that does
 *   not know its leader has the one that fits alone: comm_leaders_find(). */
#ifndef WEND_COMM_LEADERS_H
#define WEND_COMM_LEADERS_H

#include "base/buf.h"
#include "program.h"

typedef struct CommLeaders CommLeaders;

CommLeaders *comm_leaders_new(const WendProgram *p);
void comm_leaders_free(CommLeaders *l);

/* A communicator that a rank got: the one at this place among all that it got, from 0. */
typedef struct {
    guint rank, place;
} CommPlace;
guint comm_place_hash(gconstpointer key); /* for a GHashTable */
gboolean comm_place_equal(gconstpointer a, gconstpointer b);

/* Sets those leaders of MADE that are unknown (-1) and have been found. */
void comm_leaders_set_found(const CommLeaders *l, CommPlace at, WendCommMade *made);

/* MADE comes from a call, or a set of calls, that EVENT names: the same bytes on all ranks that may
 * have got the same communicator or another one. */
void comm_leaders_note(CommLeaders *l, const WendBuf *event, CommPlace at,
                       const WendCommMade *made);

/* Whether a leader is not known that MADE should have. */
gboolean comm_leaders_missing(const WendCommMade *made);

/* Finds leaders from all that has been noted, and forgets what has been noted. Returns whether it
 * found any: then numbers are to be given anew, and more may be found. */
gboolean comm_leaders_find(CommLeaders *l);

/* What one rank knows of a communicator. */
typedef struct {
    guint rank;
    WendCommMade *made;
} CommMember;

/* Sets unknown leaders of the N MEMBERS of one communicator. */
void comm_leaders_settle(const CommMember *members, guint n);

#endif
