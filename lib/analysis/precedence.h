/* SPDX-License-Identifier: BSD-3-Clause */
/* precedence.h: which calls cannot begin before another call has returned, in every run.
 *
 * The order follows from three rules:
 * - The calls of a process follow each other.
 * - A receive that names its source returns after its message was sent, and the k-th receive of a
 *   channel gets the k-th message.
 * - If two processes ask for a lock and one of the two locks is exclusive, the second process gets
 *   it after the first has unlocked (MPI 4.0, 12.5.3).
 *
 * Their closure is Lamport's "happened before" (Time, clocks, and the ordering of events in a
 * distributed system, 1978), but only with orders that hold in every run.
 *
 * The user reports the calls, those of a process in their order, and then asks. Steps number the
 * calls of a process from 1. Processes are ranks of the job. A phase is a part of the run whose
 * messages do not meet those of other phases. It is always 0 if the user has no phases. */
#ifndef WEND_PRECEDENCE_H
#define WEND_PRECEDENCE_H

#include "matching.h"

#include <glib.h>

typedef struct WendPrecedence WendPrecedence;

/* The channels here have the phase for their subchannel. */
enum { WEND_CHANNEL_ANY = G_MAXUINT }; /* for phase, from and to: precedence_unsure() */

/* MEMBERS and its program must live as long as the result. */
WendPrecedence *precedence_new(const WendProgram *program, const WendMembers *members);
void precedence_free(WendPrecedence *p);

/* Reports that the call at STEP of process CHANNEL->from sends TIMES messages. */
void precedence_sent(WendPrecedence *p, const ChannelKey *channel, guint64 step, guint64 times);
/* Reports that the call at STEP of process CHANNEL->to receives TIMES messages. RETURNS: it returns
 * when it has them; otherwise it only posts the receives. */
void precedence_received(WendPrecedence *p, const ChannelKey *channel, guint64 step, guint64 times,
                         gboolean returns);
/* Reports that messages of these channels may be sent or received at other times than those
 * reported, so no order follows from them. TAG MPI_ANY_TAG, COMM WEND_COMM_UNKNOWN (any
 * communicator that the program made) and WEND_CHANNEL_ANY stand for all. */
void precedence_unsure(WendPrecedence *p, const ChannelKey *channels);

/* Does the function make, lock or unlock windows? Its calls must be reported with
 * precedence_window. */
gboolean precedence_is_of_window(const WendFunction *f);
/* Reports CALL of process CALL->rank at STEP. COMM: the communicator on which it makes a window, if
 * it does. ONCE: it is made once, and STEP is certain. */
void precedence_window(WendPrecedence *p, const WendCall *call, guint phase, guint comm,
                       guint64 step, gboolean once);

/* By process: the first step that certainly begins after STEP of RANK has returned, or G_MAXUINT64
 * if there is none in the phase. Valid until the next call. NULL: it would take too long. Time is
 * linear in the messages of the phase after STEP. */
const guint64 *precedence_after(WendPrecedence *p, guint phase, guint rank, guint64 step);

#endif
