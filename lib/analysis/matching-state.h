/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-state.h: what a Matching holds between two calls, for matching*.c alone: the strands,
 * the requests of each rank, the channels, the gatherings. */
#ifndef WEND_MATCHING_STATE_H
#define WEND_MATCHING_STATE_H

#include "answers.h"
#include "base/allowance.h"
#include "matching.h"
#include "thread-order.h"
#include "transfer.h"

/* -- operations -- */

/* What a collective call is on: operations on windows and files have an order of their own. */
typedef enum { GATHERING_COMM, GATHERING_WINDOW, GATHERING_FILE, GATHERING_OVERS } GatheringOver;

/* What a call sends and posts, with handles resolved. A persistent request is an operation that
 * starts carry out later. */
typedef struct {
    gboolean sends, receives;
    WendSync sync; /* WEND_SYNC_NONE: not collective */
    WendSync waits;
    gboolean root; /* of the collective */
    guint comm;
    gint64 comm_word;           /* WEND_ABSENT: it has none */
    gint64 dest, send_tag;      /* words; DEST is a rank in COMM */
    gint64 source, receive_tag; /* words */
    gint64 bytes;               /* of the send; WEND_UNKNOWN */
    guint send_subchannel, receive_subchannel;
    gboolean synchronous;
} Operation;

/* -- channels: the n-th send meets the n-th receive posted (MPI 4.0, 3.5, "Order") -- */

typedef struct Sent Sent;
struct Sent {
    Sent *next; /* on its channel */
    MessagePlace place;
    gint64 request;      /* its word; WEND_ABSENT: none */
    gint64 bytes;        /* WEND_UNKNOWN: unknown */
    guint strand;        /* of the sender */
    guint64 number;      /* of the message, from 1 */
    gboolean waits;      /* the sender waits for the receive */
    gboolean unfinished; /* the call had not returned */
    gboolean uncertain;  /* of several threads whose order is unknown */
};

/* A posted receive. */
typedef struct Receive Receive;
struct Receive {
    Receive *next; /* on its channel */
    MessagePlace posted, completed;
    ChannelKey channel;
    gint64 request;
    gint64 bytes;        /* received; WEND_UNKNOWN */
    guint refs;          /* in the channel, in the table of requests, in a call that completes it */
    guint waiter;        /* the strand that waits for it, + 1; 0: none */
    gboolean in_channel; /* it waits there for its send */
    gboolean resolved;   /* CHANNEL is known */
    gboolean outside;    /* the sender is not in the recording */
    gboolean paired;     /* SENT is known */
    gboolean given;      /* to the user */
    gboolean never;      /* it does not complete */
    guint64 number;      /* of the message, if the receive completed before its send; else 0 */
    gboolean cancelled, truncated, unfinished, uncertain;
    Sent sent;
};

/* A channel exists as long as it has a send without receive, a receive without send, or a probe
 * that waits. So memory follows the messages in flight. */
typedef struct {
    ChannelKey key;
    Sent *sends, *last_send; /* NULL: none. One of the two lists is empty */
    Receive *receives, *last_receive;
    GArray *probes; /* guint: strands that wait for a send; NULL: none so far */
} Channel;

/* -- gatherings: collective operations that not all members have come to -- */

/* All members of a communicator call its collectives in the same order. So the n-th call of each
 * member on a communicator is one operation. It exists until all recorded members have come. */
typedef struct {
    ChannelKey key; /* FROM: over what; TAG: its number there */
    guint refs;
    guint64 come, members;
    gboolean root;   /* the root has come */
    WendSync waits;  /* who waits for whom (call-plan.h) */
    GArray *waiters; /* guint: strands */
    /* The calls by which the member that came last, by their starts, and the root came.
     * MESSAGE_NO_PLACE: it is not known. */
    MessagePlace last, root_place;
} Gathering;

enum { COUNT_ARRIVALS, COUNT_RECEIVES, COUNT_SENDS };

/* -- strands: the sequences of all ranks, which run and wait -- */

typedef enum { WAIT_NONE, WAIT_LOOSE, WAIT_DATA } WaitKind;
typedef enum { STRAND_RUNNING, STRAND_READY, STRAND_LOOSE, STRAND_DATA, STRAND_ENDED } StrandState;

/* What a call needs before it can be given. */
typedef enum {
    NEED_RECEIVE,   /* a receive that completes here has its message */
    NEED_GATHERING, /* members have come to a collective */
    NEED_WORD,      /* another thread has posted the request, or probed the message */
    NEED_PROBE,     /* there is a message on the channel */
    NEED_SSENDS,    /* the strand's MPI_Ssend is received */
    NEED_JOIN       /* a thread has ended */
} NeedKind;
typedef struct {
    NeedKind kind;
    Receive *receive; /* a reference */
    gboolean truncated;
    const gint64 *status; /* of the call; NULL: none */
    Gathering *gathering; /* a reference */
    WendSync sync;
    gboolean root;
    gboolean probed;  /* of the receive: it is taken here and completes later */
    gboolean message; /* the word is that of a message */
    gint64 word;
    ChannelKey channel;
    guint strand; /* to be joined */
} Need;

typedef struct RankStrands RankStrands;

typedef struct {
    guint index, sequence;
    guint thread; /* number of its thread; G_MAXUINT: of a callback */
    RankStrands *rank;
    WendWalk *walk;
    gsize walk_bytes;      /* of it, taken from the allowance */
    const WendCall *call;  /* the call that is to be given; NULL: the next one is to be read */
    MessagePlace place;    /* of that call */
    const CallPlan *plan;  /* of that call; NULL: it does not matter */
    GArray *needs;         /* Need */
    GArray *sends;         /* guint64: numbers of the messages that the call sends */
    guint need;            /* the first that may not be met */
    gint64 status[4];      /* of a failed call */
    guint64 mpi_calls;     /* MPI calls before that call */
    gboolean begun;        /* it sends and posts no more */
    guint begun_parts;     /* requests that it has started, or halves of a send and receive */
    guint turn_held;       /* the order whose turn it takes when it is given, + 1; 0: none */
    guint64 outstanding;   /* its messages in flight */
    guint ssends;          /* those that it waits for */
    gboolean starts_later; /* wend_start has not come */
    gboolean pass_loose, pass_all; /* it no longer waits in this call */
    StrandState state;
    guint bucket;
    GList link;
} Strand;

/* A request, or a probed message, that has not completed. */
typedef enum { ENTRY_OTHER, ENTRY_RECEIVE, ENTRY_GATHERING } EntryKind;
typedef struct RequestEntry RequestEntry;
struct RequestEntry {
    RequestEntry *next; /* posted later under the same word; NULL: none */
    gint64 word;
    EntryKind kind;
    guint strand;         /* that posted it */
    Receive *receive;     /* a reference */
    Gathering *gathering; /* a reference */
    WendSync sync;
    gboolean root;
    RequestEntry *previous; /* posted before; of the first one, the last */
};

struct RankStrands {
    guint rank, first, n, live;
    GHashTable *requests, *messages; /* word -> RequestEntry: the oldest one; NULL until needed */
    GHashTable *notes;               /* persistent requests: word -> Operation */
    GHashTable *windows, *files;     /* handle -> number of the communicator */
    GHashTable *comms;               /* the same, for other threads than the one that made it */
    RankAnswers *answers;            /* NULL: not needed */
    gboolean begun, cancels;
    ThreadOrder *threads; /* NULL: one sequence */
    RecordedTurns *turns; /* NULL: none were recorded, or no strand has begun */
    GArray *word_waiters; /* guint: strands with NEED_WORD; NULL: none so far */
};

/* -- the whole -- */

/* Blocks of one size. Those that are not used are kept. */
typedef struct {
    gpointer spare; /* the first, which points to the next */
    gsize size;
} BlockPool;

enum { STRAND_BUCKETS = 65 };

struct Matching {
    const WendProgram *program;
    const WendMembers *members;
    guint flags;
    MatchingStamp stamp; /* NULL: none */
    gpointer stamp_data;
    MessageWords words;
    Allowance *allowance;
    CallPlans *plans;
    WendDecoder *decoder; /* for persistent requests of other threads; NULL until needed */
    guint n_ranks, n_strands;
    RankStrands *ranks;
    Strand *strands;
    /* A strand that runs is in none of the queues. Those that are ready are in queues by the
     * messages that they have in flight (by powers of two). */
    GQueue ready[STRAND_BUCKETS], loose, data;
    BlockPool channel_pool, sent_pool, receive_pool, entry_pool;
    GHashTable *channels; /* Channel, its own key */
    guint64 in_flight, most_in_flight;
    GHashTable *counts;     /* Count, its own key: matching_state_count */
    GHashTable *gatherings; /* Gathering, its own key */
    guint most_gatherings;
    GArray *events; /* MessageEvent: those before NEXT_EVENT have been given */
    guint next_event;
    guint64 broken;
    guint64 n_numbers; /* of messages that were numbered */
    GArray *receives;  /* guint64: numbers of the messages that the call given last receives */
    gboolean full;     /* memory is used up */
    gboolean finished;
};

/* -- matching-state.c -- */

/* Makes the strands of all ranks, ready or, if they start later, waiting; and empty tables. */
void matching_state_begin(Matching *m);
void matching_state_end(Matching *m);

/* Takes the next strand that is ready out of its queue: the one with the fewest messages in flight,
 * by powers of two. NULL: none is. */
Strand *strand_take(Matching *m);
void strand_ready(Matching *m, Strand *s);               /* one that runs */
void strand_wait(Matching *m, Strand *s, WaitKind kind); /* one that runs */
void strand_wake(Matching *m, guint index); /* ready, if it waits for more than its start; else
                                               nothing */
void strand_wake_all(Matching *m, GArray *waiters); /* and empties WAITERS, which may be NULL */
/* TRUE: it has to give way to others, as it has more messages in flight than when it was taken. */
gboolean strand_gives_way(const Strand *s);

/* Adds an entry for WORD to *TABLE (rank->requests or rank->messages). NULL: memory is used up. */
RequestEntry *request_entry_add(Matching *m, GHashTable **table, gint64 word, EntryKind kind,
                                guint strand);
/* Takes the entry of WORD that STRAND completes: the last, if STRAND posted it, else the first. The
 * caller frees it with request_entry_free. NULL: there is none. TABLE may be NULL. */
RequestEntry *request_entry_take(GHashTable *table, gint64 word, guint strand);
void request_entry_free(Matching *m, RequestEntry *entry);

/* NULL: it has nothing on it. */
Channel *channel_find(const Matching *m, const ChannelKey *key);
/* The channel, made if there is none. NULL: memory is used up. */
Channel *channel_at(Matching *m, const ChannelKey *key);
void channel_tidy(Matching *m, Channel *channel); /* frees CHANNEL if it is empty */
/* Adds a send, and wakes probes. Returns the receive that it meets, with the reference that the
 * channel had to it; NULL: none so far, or memory is used up. */
Receive *channel_send(Matching *m, const ChannelKey *key, const Sent *sent);
/* Adds a receive, whose channel is resolved. TRUE: it has met a send, which is in r->sent. Else the
 * channel takes a reference. */
gboolean channel_receive(Matching *m, Receive *r);
/* Takes R, which waits for a send, out of its channel. */
void channel_withdraw(Matching *m, Receive *r);

/* A new receive with one reference; NULL: memory is used up. */
Receive *receive_new(Matching *m);
void receive_unref(Matching *m, Receive *r);

/* The number, from 1, of what is counted under KEY: LANE is what, TO the rank, FROM what it is over
 * or its peer. 0: memory is used up. */
guint64 matching_state_count(Matching *m, const ChannelKey *key);
/* The rank of PLACE comes with that call to its next operation OVER the communicator COMM. The
 * caller has a reference to the result. NULL: nobody is waited for, since COMM is unknown, the rank
 * is alone in it, or there are too many gatherings that members do not come to. */
Gathering *gathering_come(Matching *m, const MessagePlace *place, guint comm, GatheringOver over,
                          gboolean root);
gboolean gathering_complete(const Gathering *gathering);
void gathering_unref(Gathering *gathering);

/* -- matching-calls.c -- */

/* Begins the call of S, which matters to messages: sends, posts, and adds its needs. FALSE: S must
 * wait, since another thread has the next turn. It will be woken, and goes on with this. */
gboolean matching_calls_begin(Matching *m, Strand *s);
/* S takes the turn that it holds, if any. */
void matching_calls_end_turn(Matching *m, Strand *s);
/* The thread of S has ended: others need not wait for its turns. */
void matching_calls_end_turns(Matching *m, Strand *s);

/* -- matching.c -- */

Need *matching_need(Strand *s, NeedKind kind);
/* What WORD, of a request or a probed message, stands for completes in the call of S. */
void matching_need_word(Matching *m, Strand *s, gboolean message, gint64 word, const gint64 *status,
                        gboolean truncated);
MessageEvent *matching_give_send(Matching *m, const ChannelKey *key, const Sent *sent);
/* The message that SENT stands for is received. */
void matching_taken(Matching *m, const Sent *sent);
/* R has just met its send. */
void matching_met(Matching *m, Receive *r);
/* R will not complete, as far as the recording says. Takes the caller's reference. */
void matching_abandon(Matching *m, Receive *r);
/* Drops what ENTRY stands for, which will not complete, and frees it. */
void matching_drop_entry(Matching *m, RequestEntry *entry);

#endif
