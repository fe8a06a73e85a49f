/* SPDX-License-Identifier: BSD-3-Clause */
/* strands.h: the sequences of all ranks as strands that run and wait, for matching.c alone.
 *
 * A strand that runs is in none of the queues. Of the strands that are ready, the one with the
 * fewest messages in flight goes on (by powers of two). */
#ifndef WEND_STRANDS_H
#define WEND_STRANDS_H

#include <glib.h>

#include "answers.h"
#include "call-plan.h"
#include "matching-channels.h"
#include "gatherings.h"
#include "thread-order.h"

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
    EntryKind kind;
    guint strand;         /* that posted it */
    Receive *receive;     /* a reference */
    Gathering *gathering; /* a reference */
    WendSync sync;
    gboolean root;
    RequestEntry *next;     /* posted later under the same word; NULL: none */
    RequestEntry *previous; /* posted before; of the first one, the last */
};

struct RankStrands {
    guint rank, first, n, live;
    GHashTable *requests, *messages; /* word -> RequestEntry: the oldest one; NULL until needed */
    GHashTable *notes;               /* persistent requests: word -> Operation (matching.c) */
    GHashTable *windows, *files;     /* handle -> number of the communicator */
    GHashTable *comms;               /* the same, for other threads than the one that made it */
    RankAnswers *answers;            /* NULL: not needed */
    gboolean begun, cancels;
    ThreadOrder *threads; /* NULL: one sequence */
    RecordedTurns *turns; /* NULL: none were recorded, or no strand has begun */
    GArray *word_waiters; /* guint: strands with NEED_WORD; NULL: none so far */
};

typedef struct Strands Strands;

/* The strands of all ranks, ready or, if they start later, waiting. NULL: memory is used up. */
Strands *strands_new(const WendProgram *p, Allowance *a);
void strands_free(Strands *s);

RankStrands *strands_rank(Strands *s, guint rank);
Strand *strands_at(Strands *s, guint index);
guint strands_n(const Strands *s);

/* Takes the next strand that is ready out of its queue. NULL: none is. */
Strand *strands_take(Strands *s);
void strands_ready(Strands *s, Strand *strand);               /* one that runs */
void strands_wait(Strands *s, Strand *strand, WaitKind kind); /* one that runs */
void strands_wake(Strands *s, guint index); /* ready, if it waits for more than its
                                               start; else nothing */
/* TRUE: it has to give way to others, as it has more messages in flight than when it was taken. */
gboolean strands_gives_way(const Strand *strand);
/* The oldest waiting strand of that kind; NULL: none. */
Strand *strands_waiting(const Strands *s, WaitKind kind);
/* The first of the waiting strands for which TEST is TRUE, of the oldest thousand; NULL: none. */
Strand *strands_find_waiting(const Strands *s,
                             gboolean (*test)(gpointer data, const Strand *strand), gpointer data);

/* -- requests and probed messages of a rank -- */

/* Adds an entry for WORD to *TABLE (rank->requests or rank->messages). NULL: memory is used up. */
RequestEntry *request_entry_add(Strands *s, GHashTable **table, gint64 word, EntryKind kind,
                                guint strand);
/* Takes the entry of WORD that STRAND completes: the last, if STRAND posted it, else the first. The
 * caller frees it with request_entry_free. NULL: there is none. */
RequestEntry *request_entry_take(GHashTable *table, gint64 word, guint strand);
void request_entry_free(Strands *s, RequestEntry *entry);
/* Calls VISIT for each entry that is left, in no order, and frees them. TABLE may be NULL. */
void request_entries_drain(Strands *s, GHashTable *table,
                           void (*visit)(gpointer data, RequestEntry *entry), gpointer data);

#endif
