/* SPDX-License-Identifier: BSD-3-Clause */
/* message_traffic.h: the messages that each rank sends and receives, by phases.
 *
 * A phase is what the ranks do from one collective call of all ranks to the next, on whatever
 * communicator. Messages of different phases cannot meet, if in each phase as many are received as
 * are sent, cancelled receives not counted. Where that is not so, all phases are one. Where it is
 * not clear which communicator a handle is (lib/analysis/members.h), or over the whole run one gets
 * more messages than it takes, all communicators that the program made count as one. */
#ifndef PROXYGEN_MESSAGE_TRAFFIC_H
#define PROXYGEN_MESSAGE_TRAFFIC_H

#include "lib/analysis/analysis.h"
#include "src/proxygen/model/model.h"

typedef struct {
    guint comm; /* its number: members.h */
    /* received: the word, a constant for a wildcard; sent: the sender's rank in the job */
    gint64 source;
    gint64 tag;          /* the word */
    gint64 bytes;        /* posted, or sent at most; -1 unknown */
    gboolean blocking;   /* received: it returns when it has the message */
    gboolean persistent; /* it is started who knows when */
    guint terminal;
    guint phase;
    guint64 first, last; /* when the rank makes the call, counted in its calls */
} Transfer;

typedef struct {
    Plan *plan;
    gint64 any_source, any_tag, proc_null;
    WendMembers *members;
    GPtrArray *received; /* by rank: GArray of Transfer, named and wildcard */
    /* by destination in the job: GArray of Transfer; the last one: sends of which it is not
     * known */
    GPtrArray *sent;
    GHashTable *matched; /* MatchedAt -> Matched; phase ANY_PHASE: of the whole run */
    guint8 *moves;       /* by terminal: Move */
    gint64 *comm_words;  /* by terminal: of those that transfer, the communicator's handle */
    gint8 *rule_moves;   /* by rule: has any terminal that moves; -1 not known yet */

    WendDecoder *decoder;
    /* it is told of the calls, and nothing else is noted; NULL: it is not asked for */
    WendPrecedence *precedence;
    GHashTable *asked; /* phases -> NULL: those about which it is asked */

    /* of the rank that is looked at */
    GHashTable *done;     /* When -> Occurrence */
    guint rank, sequence; /* one of the ranks that do the same */
    RankList ranks;       /* these */
    WendMembersPass *comms;
    guint phase;
    /* Mailbox -> messages sent minus received; receiver n_ranks: not known */
    GHashTable *balance;
    guint64 steps;      /* walked so far */
    gboolean cancels;   /* there are calls of MPI_Cancel */
    gboolean wildcards; /* there are any */
    gboolean one_made;  /* all communicators that the program made count as one */
    guint64 loop_start;
    guint64 loop_end; /* in a loop whose order is open: the step where it ends; else 0 */
    /* phases are those of MPI_COMM_WORLD: for some other communicator it is not clear which it
     * is */
    gboolean world_only;
    gboolean unclear;
    gboolean merged;    /* all phases have become one */
    gboolean one_phase; /* messages cross phases */
    gboolean no_order;  /* too long to walk, or threads, which have no common order */
} MessageTraffic;

/* Looks which calls move messages. If there are no wildcards, that is all. */
MessageTraffic *message_traffic_new(Plan *plan);
void message_traffic_free(MessageTraffic *t);

/* Fills in what is received and sent. */
void message_traffic_note(MessageTraffic *t);
/* Reports the calls of the phases that were asked about (t->asked) to P. */
void message_traffic_report(MessageTraffic *t, WendPrecedence *p);

/* Room for what a matched probe of the phase finds, in bytes. */
gint64 message_traffic_room(const MessageTraffic *t, guint rank, guint phase);

gboolean message_traffic_is_probe(const char *function);
gboolean message_traffic_is_matched_probe(const char *function);
/* Is it a communicator that the program made? */
gboolean message_traffic_is_made(guint comm);

#endif
