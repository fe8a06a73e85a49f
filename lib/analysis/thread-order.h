/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-order.h: the order in which the threads of a rank use a channel.
 *
 * The recording has the order of each thread's calls, and where threads start and are joined, but
 * not how their calls interleave. Where threads use a communicator with overlapping sources and
 * tags, it has the order of their turns there (docs/recording.md, "The order of threads"). Vector
 * clocks over the threads of a rank (Fidge, Mattern) tell which operations are ordered. */
#ifndef WEND_THREAD_ORDER_H
#define WEND_THREAD_ORDER_H

#include <glib.h>

#include "matching.h"
#include "read/program.h"

typedef struct ThreadOrder ThreadOrder;

enum { SEQUENCE_NONE = G_MAXUINT };

/* The sequence of the calls of THREAD in CLASS. SEQUENCE_NONE: there is none. */
guint thread_order_sequence(const WendClass *class, gint64 thread);

/* Of a rank with N sequences. It remembers at most MOST channels. */
ThreadOrder *thread_order_new(guint n, guint most);
guint64 thread_order_memory(guint n, guint most); /* that it may take, in bytes */
void thread_order_free(ThreadOrder *t);           /* T may be NULL */

/* Sequence LATER goes on after what sequence EARLIER has done so far. */
void thread_order_after(ThreadOrder *t, guint later, guint earlier);
/* SEQUENCE sends or, if SENDS is FALSE, receives on the channel KEY. FALSE: another thread used the
 * channel before, and it is not known that it was before. Also FALSE if there are too many channels
 * to remember. */
gboolean thread_order_use(ThreadOrder *t, guint sequence, const ChannelKey *key, gboolean sends);

/* -- turns -- */

/* An entry of an order of turns (pseudo-call wend_turn): SEQUENCE takes N turns. If CALLS is not 0,
 * it took none before, and had made CALLS - 1 MPI calls. Without turns (N 0) it ends those from
 * before the order was recorded. */
typedef struct {
    guint sequence; /* SEQUENCE_NONE: the thread has none */
    gint64 calls;
    guint64 n;
} TurnEntry;

/* The entries of order number ORDER of RANK, for turn_entries_next. The caller frees them with
 * outcomes_free. NULL: there are none. */
WendOutcomes *turn_entries_open(const WendProgram *p, guint rank, guint order);
/* The next entry, or several equal ones in one. CLASS: that of the rank. FALSE: there are no more,
 * or the next one is none. ENTRIES may be NULL. */
gboolean turn_entries_next(WendOutcomes *entries, const WendClass *class, TurnEntry *e);

/* The recorded orders of turns of one rank. They are gone through once. */
typedef struct RecordedTurns RecordedTurns;

/* NULL: nothing was recorded. P must outlive the result. THREADS may be NULL: it is told which turn
 * came after which. Time O(entries of the orders). */
RecordedTurns *recorded_turns_new(const WendProgram *p, guint rank, ThreadOrder *threads);
guint64 recorded_turns_memory(const WendProgram *p, guint rank); /* that it takes, in bytes */
void recorded_turns_free(RecordedTurns *t);                      /* T may be NULL */
guint recorded_turns_orders(const RecordedTurns *t);             /* T may be NULL */

/* The number of the order of KIND (receives, sends) on the communicator whose word is COMM.
 * SEQUENCE_NONE: none was recorded. T may be NULL. */
guint recorded_turns_find(const RecordedTurns *t, WendSequenceKind kind, gint64 comm);
/* Whether all turns have been taken that came before the next one of SEQUENCE. CALLS: the MPI calls
 * of the sequence before the present one. TRUE also if that takes no turn. */
gboolean recorded_turns_may(const RecordedTurns *t, guint order, guint sequence, guint64 calls);
/* SEQUENCE takes its next turn. If it may not yet, that turn is skipped when it comes. TRUE:
 * another sequence may go on. */
gboolean recorded_turns_take(RecordedTurns *t, guint order, guint sequence, guint64 calls);
/* SEQUENCE takes no more turns: those that are left are skipped. */
void recorded_turns_end(RecordedTurns *t, guint sequence);
/* The sequence that has the next turn. SEQUENCE_NONE: any may go on, or several have turns from
 * before the order was recorded. */
guint recorded_turns_next(const RecordedTurns *t, guint order);

#endif
