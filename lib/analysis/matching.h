/* SPDX-License-Identifier: BSD-3-Clause */
/* matching.h: which send met which receive. The walks of all ranks are advanced together in causal
 * order.
 *
 *     Matching *m = matching_new(program, members, 0, 0);
 *     MessageEvent e;
 *     while (matching_next(m, &e))
 *         if (e.kind == MESSAGE_MATCHED)
 *             printf("%u -> %u\n", e.sent.rank, e.posted.rank);
 *     matching_free(m);
 *
 * **Rule.** The n-th send of a channel (communicator, sender, receiver, tag) meets the n-th receive
 * posted for it. A receive with a wildcard counts as posted for the source and tag of its status
 * (docs/replay.md, "Why this is exact").
 *
 * **Order.** A call is given after all calls that it depends on: those before it in its sequence,
 * the sends of the messages that it completes, the receive that an MPI_Ssend waits for, the calls
 * of the members that a collective needs, wend_start for the first call of a thread, turns of other
 * threads on the same communicator where their order was recorded. A rank that is ahead waits.
 * Members wait in collectives for all others. Of the sequences that can go on, the one with the
 * fewest messages in flight does.
 *
 * **Uses.** Tables of messages take the events of messages. Event graphs, exports and simulators'
 * traces take MESSAGE_CALL, too: each call, with the numbers of the messages that it sends and
 * receives. A logical clock is a stamp. It sets the start of a call to one more than the clock of
 * its sequence. That clock then becomes at least the start of SENT in each MESSAGE_MATCHED and
 * MESSAGE_WAIT of the call. All these events come before another call is stamped.
 *
 * Not followed: one-sided synchronisation except fences, and that a world starts after the
 * MPI_Comm_spawn that started it.
 *
 * **When the order cannot go on**, first the waits end that no data need (a root in MPI_Bcast, the
 * other ranks in MPI_Reduce). If all wait for data, the recording has gaps: a rank died, or is
 * missing, or threads took messages in an order that is not recorded. Then one call is given before
 * what it waits for, and matching_broken counts it. A receive that completed so meets its send when
 * that comes.
 *
 * **Cost.** Time O(calls), besides sorting what is left in the end. Memory O(messages in flight +
 * signatures of each sequence), for receives with wildcards also what is posted until they complete
 * (answers.h). */
#ifndef WEND_MATCHING_H
#define WEND_MATCHING_H

#include <glib.h>
#include <math.h>

#include "base/error.h"
#include "call-plan.h"
#include "members.h"
#include "read/program.h"

typedef struct Matching Matching;

/* Messages of one channel keep their order. Also a key of a table of what is counted or kept by
 * communicator and rank. */
typedef struct {
    guint comm, from, to; /* ranks of the job */
    guint subchannel;     /* 0, or the number of a partitioned operation on this channel, from 1 */
    gint64 tag;
} ChannelKey;
guint channel_key_hash(gconstpointer key);
gboolean channel_key_equal(gconstpointer a, gconstpointer b);

/* A call. */
typedef struct {
    guint rank, sequence;
    guint32 terminal;
    guint64 call; /* its number in the sequence; MESSAGE_NO_CALL: none */
    /* What a stamp says: */
    guint site;         /* from where it came; G_MAXUINT: not known */
    gdouble start, end; /* seconds; NaN: not known */
} MessagePlace;
#define MESSAGE_NO_CALL G_MAXUINT64
#define MESSAGE_NO_PLACE ((MessagePlace){0, 0, G_MAXUINT32, MESSAGE_NO_CALL, G_MAXUINT, NAN, NAN})

typedef enum {
    MESSAGE_MATCHED,     /* a message */
    MESSAGE_NOT_TAKEN,   /* a send that met no receive */
    MESSAGE_NOT_ARRIVED, /* a receive that met no send */
    MESSAGE_CALL,        /* a call, in causal order (MATCHING_WITH_CALLS) */
    /* A call of a collective operation, or a probe, or a call that completes such an operation
     * (MATCHING_WITH_WAITS). It could not return before another call began. */
    MESSAGE_WAIT
} MessageEventKind;

typedef struct {
    MessageEventKind kind;
    guint comm;  /* WEND_COMM_UNKNOWN: unknown */
    gint64 tag;  /* MPI_ANY_TAG: a receive that met nothing */
    gint64 from; /* ranks of the job; WEND_UNKNOWN: not in the recording, or any source */
    gint64 to;
    /* The send or MPI_Start. For an MPI_Isend that was cancelled, with MESSAGE_NOT_TAKEN. */
    MessagePlace sent;
    /* Where the receive was posted: MPI_Irecv, MPI_Start, MPI_Recv. For MPI_Mrecv and MPI_Imrecv
     * the MPI_Mprobe or MPI_Improbe, which takes the message. */
    MessagePlace posted;
    /* Where the receive completed: MPI_Wait, MPI_Recv, MPI_Mrecv. posted.rank is its rank, too.
     * MESSAGE_NO_CALL: it did not, or not as far as the recording says. */
    MessagePlace completed;
    gint64 send_request, receive_request; /* words; WEND_ABSENT: none */
    gint64 bytes_sent, bytes_received;    /* WEND_UNKNOWN: unknown */
    gboolean cancelled;                   /* not taken, not arrived: it was cancelled */
    gboolean truncated;                   /* the message was longer than the receive */
    gboolean unfinished;                  /* the send or receive had not returned */
    gboolean outside;                     /* the partner is not in the recording */
    /* Several threads use the channel, and the recording does not have their order. */
    gboolean uncertain;
    /* Only MESSAGE_WAIT: COMPLETED is the call, SENT the other one: that of the member that came
     * last, or of the root, or the send that a probe found (WEND_SYNC_NONE). */
    WendSync waits;
    /* Only MESSAGE_CALL: as walk_next gave it, valid until the next event. */
    guint sequence;
    const WendWalk *walk;
    const WendCall *call;
    /* Numbers, from 1, of the messages that the call sends, and of those whose receives complete in
     * it. A message has the same number in both calls. If only one call has a number, that message
     * met nothing. */
    const guint64 *sends, *receives;
    guint n_sends, n_receives;
} MessageEvent;

enum { MATCHING_WITH_CALLS = 1, MATCHING_WITH_WAITS = 2 };

/* P and MEMBERS must outlive the result, which matching_free frees. FLAGS: these, or 0. MAX_SIZE:
 * the limit of memory, as in program_open_within. */
Matching *matching_new(const WendProgram *p, const WendMembers *members, guint flags,
                       guint64 max_size);
void matching_free(Matching *m); /* M may be NULL */

/* Says when CALL was made and from where: sets these members of PLACE, which are not known so far.
 * It is called for every call of a sequence, in their order, when the matching comes to it. All
 * places that events have are then stamped. */
typedef void (*MatchingStamp)(gpointer data, const WendCall *call, MessagePlace *place);
/* Call it before the first event is taken. */
void matching_stamp(Matching *m, MatchingStamp stamp, gpointer data);

/* Gives the next event. Matched messages are given when their receives complete, after the event of
 * the completing call. What is left in channels is given in the end, by rank, sequence and call.
 * What cannot meet anything any more is given before: if it is cancelled, sent to a rank that has
 * ended, or of a wildcard that never completed. FALSE: there are no more, or memory is used up
 * (matching_error). */
gboolean matching_next(Matching *m, MessageEvent *event);

/* TRUE, and *ERROR is set (WEND_ERROR_INPUT): what is in flight takes more memory than allowed.
 * NAME: of the recording. */
gboolean matching_error(const Matching *m, const char *name, Error **error);

/* How many calls were given before what they wait for. */
guint64 matching_broken(const Matching *m);
guint64 matching_in_flight(const Matching *m);      /* messages sent and not received, at present */
guint64 matching_most_in_flight(const Matching *m); /* and the most at a time */

#endif
