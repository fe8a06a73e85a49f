/* SPDX-License-Identifier: BSD-3-Clause */
/* precedence.h: which calls of a phase cannot begin before another one has returned, whatever messages wildcards take.
 *
 * The calls of a rank follow each other; a receive that names its source returns after its message was sent, and which one that is follows from the order of the sends and of
 * the receives; and where a process asks for a lock that another one has, and one of the two is exclusive, it gets it after the other one has unlocked (MPI 4.0, 12.5.3). The closure of
 * these is Lamport's "happened before", over what holds in every run of the proxy and not in the recorded one alone.
 *
 * Steps count the calls of a rank, from 1. Processes are ranks of the job. */
#ifndef PROXYGEN_PRECEDENCE_H
#define PROXYGEN_PRECEDENCE_H

#include "members.h"

typedef struct Precedence Precedence;

/* Messages that do not overtake each other: of one tag on one communicator, in one phase. */
typedef struct { gint64 tag; guint phase, comm, from, to; } Channel;
enum { CHANNEL_ANY = G_MAXUINT };     /* phase, from, to */

Precedence *precedence_new(const Plan *plan, const Members *members);
void precedence_free(Precedence *p);

/* What is told of one rank comes in the order of its calls.
 * TIMES messages that the call sends; */
void precedence_sent(Precedence *p, const Channel *channel, guint64 step, guint64 times);
/* TIMES receives; RETURNS: the call returns when it has the messages. */
void precedence_received(Precedence *p, const Channel *channel, guint64 step, guint64 times, gboolean returns);
/* Messages of such channels (tag MPI_ANY_TAG, comm COMM_UNKNOWN: any that the program made) may be sent or taken at other times than those told. */
void precedence_unsure(Precedence *p, const Channel *channels);

/* Does the function make windows, lock or unlock them? */
gboolean precedence_is_of_window(const WendFunction *f);
/* Such a call. COMM: of one that makes a window, the number of its communicator. ONCE: it is made once, and its place among the rank's calls is known. */
void precedence_window(Precedence *p, const Call *c, guint rank, guint phase, guint comm, guint64 step, gboolean once);

/* By rank: the first step that begins after STEP of RANK has returned, for certain; G_MAXUINT64: none in the phase. Valid until the next call. NULL: that would take too long to find out. */
const guint64 *precedence_after(Precedence *p, guint phase, guint rank, guint64 step);

#endif
