/* SPDX-License-Identifier: BSD-3-Clause */
/* message-traffic.h: the messages that each rank sends and receives, by phases.
 *
 * A phase is the calls from one collective call of all ranks, on any communicator, to the next.
 * Messages of different phases cannot meet if in each phase as many messages are received as sent,
 * not counting cancelled receives. If that does not hold, all phases count as one.
 *
 * All communicators that the program made count as one in two cases: a handle cannot be resolved
 * (lib/analysis/members.h), or over the whole run more messages are sent on one communicator than
 * are received. */
#ifndef PROXYGEN_MESSAGE_TRAFFIC_H
#define PROXYGEN_MESSAGE_TRAFFIC_H

#include "lib/analysis/analysis.h"
#include "lib/base/containers.h"
#include "src/proxygen/model/model.h"

/* A message as its sender or its receiver posts it. */
typedef struct {
    guint comm; /* number of the communicator (members.h) */
    /* of a receive: the word, a constant for a wildcard; of a send: the sender's rank in the job */
    gint64 source;
    gint64 tag;          /* word */
    gint64 bytes;        /* bytes posted, or the most that are sent; -1: unknown */
    gboolean blocking;   /* of a receive: it returns when it has the message */
    gboolean waits;      /* of a send: something returns when it is received, whatever its size */
    gboolean persistent; /* its starts are at unknown times */
    guint terminal;
    guint phase;
    guint64 first, last; /* the calls of the rank between which it is made */
} PostedMessage;

typedef struct {
    Plan *plan;
    gint64 any_source, any_tag, proc_null;
    WendMembers *members;
    GPtrArray *received; /* by rank: GArray of PostedMessage, with and without wildcard */
    /* by destination in the job: GArray of PostedMessage; the last array has sends to unknown
     * destinations */
    GPtrArray *sent;
    Map *matched;       /* rank and phase -> Matched; with phase ANY_PHASE, of the whole run */
    guint8 *moves;      /* by terminal */
    gint64 *comm_words; /* by terminal that transfers: the communicator's handle */
    /* by rule: whether it has a terminal that moves messages; -1: unknown so far */
    gint8 *rule_moves;

    WendDecoder *decoder;
    /* the precedence to report calls to. While it is set, nothing else is noted. NULL otherwise */
    WendPrecedence *precedence;
    GHashTable *asked; /* phases -> NULL: the phases to report */

    /* for the rank that is walked */
    Map *done;            /* When -> CallOccurrence */
    guint rank, sequence; /* one of the ranks with equal calls */
    RankList ranks;       /* all of these ranks */
    WendMembersPass *comms;
    guint phase;
    /* ChannelKey -> messages sent minus received: LANE is the phase, TO n_ranks if unknown */
    Map *balance;
    guint64 steps;      /* number of steps so far */
    gboolean cancels;   /* some call is MPI_Cancel */
    gboolean wildcards; /* some receive has a wildcard */
    gboolean one_made;  /* all communicators that the program made count as one */
    guint64 loop_start;
    /* the step at which a loop with an open order ends; 0 outside of such a loop */
    guint64 loop_end;
    /* phases follow MPI_COMM_WORLD alone, because another communicator cannot be resolved */
    gboolean world_only;
    gboolean unclear;
    gboolean merged;    /* all phases have become one */
    gboolean one_phase; /* all phases have become one */
    gboolean no_order;  /* messages cross phases */
} MessageTraffic;

/* there is no common order: the run is too long to walk, or has several threads */
/* Finds the calls that move messages. If there are no wildcards, it does nothing else. The caller
 * frees it with message_traffic_free. */
MessageTraffic *message_traffic_new(Plan *plan);
void message_traffic_free(MessageTraffic *t);

/* Notes all sent and received messages. */
void message_traffic_note(MessageTraffic *t);
/* Reports the calls of the phases in t->asked to P. */
void message_traffic_report(MessageTraffic *t, WendPrecedence *p);

/* The bytes that a matched probe of the phase may find, at most. */
gint64 message_traffic_room(const MessageTraffic *t, guint rank, guint phase);

gboolean message_traffic_is_probe(const WendFunction *f);
gboolean message_traffic_is_matched_probe(const WendFunction *f);
/* Whether the program made the communicator. */
gboolean message_traffic_is_made(guint comm);

#endif
