/* SPDX-License-Identifier: BSD-3-Clause */
/* handlers.h: which calls may be made in another order than the recorded one, and which completion
 * each call of a loop belongs to. */
#ifndef PROXYGEN_HANDLERS_H
#define PROXYGEN_HANDLERS_H

#include "lib/base/containers.h"
#include "src/proxygen/model/model.h"

/* -- dependence.c -- */

/* The dependences between the calls of a rank. They decide which calls may be made in
 * another order than the recorded one.
 *
 * A call uses resources: handles, memory, the numbers of memory and requests, messages on a
 * channel, collective calls on a communicator. */

typedef struct {
    gboolean is_receive; /* messages that receives are posted for, with these parameters: */
    gint64 comm, source, tag;
} Resource;

typedef enum {
    USE_READ,
    USE_WRITE,
    USE_SEND, /* of a message: commutes with sends of equally many bytes */
    USE_POST  /* of a receive */
} UseKind;
typedef struct {
    guint resource;
    UseKind kind;
    gint64 bytes;
} ResourceUse;
/* The change of a request: a receive is posted, or a send started. */
typedef struct {
    gint64 request;
    gboolean active;
} RequestChange;
typedef struct {
    gboolean waits;         /* it waits, or is not known to be safe */
    gboolean noticed;       /* other ranks notice it: it sends, or is collective */
    guint function;         /* a number for its function */
    GArray *uses, *changes; /* of ResourceUse, of RequestChange */
    GArray *memory;         /* of guint: the segments that it uses */
    gboolean frees;         /* it frees them */
} Dependence;

/* The calls of one rank. */
typedef struct {
    const Plan *plan;
    guint rank;
    GArray *resources;  /* of Resource; grows with the calls that are analysed */
    GArray *receives;   /* of guint: resources that are receives */
    Dependence **calls; /* by terminal; NULL if not analysed yet */
    GHashTable *makers; /* request -> GArray of the terminals that make it */
    /* request -> GArray of guint and of Resource: the results of dependence_request_memory and
     * dependence_request_meets */
    GHashTable *memories, *channels;
    Map *numbers; /* numbers of resources, by bytes */
    gint64 any_source, any_tag, proc_null;
} RankDependence;

RankDependence *rank_dependence_new(const Plan *plan, guint rank);
void rank_dependence_free(RankDependence *e);

/* The dependences of a call of that rank. E owns them. */
const Dependence *rank_dependence_of(RankDependence *e, const WendCall *call);

guint dependence_request_resource(RankDependence *e, gint64 request);
/* The segments that the request uses. E owns the array. NULL if no recorded call makes the
 * request. */
const GArray *dependence_request_memory(RankDependence *e, gint64 request);
/* The resource of the numbers of memory. Memory is numbered in the order of its first use, so a
 * call that uses some for the first time, or frees some, writes this resource. */
guint dependence_memory_numbers(RankDependence *e);
/* Whether one message could be received by both. */
gboolean dependence_receives_meet(const RankDependence *e, const Resource *a, const Resource *b);
/* Whether the request is a receive that could get a message that RECEIVE could get. */
gboolean dependence_request_meets(RankDependence *e, WendDecoder *decoder, gint64 request,
                                  const Resource *receive);

/* -- conflicts.c -- */

/* Finds completion handlers of a loop that must stay in the recorded order.
 *
 * A handler is the calls that a program makes once a set of entries of a request array, mostly one,
 * has completed. Two handlers whose sets share an entry keep their order in each run, since a
 * request completes again only after it was posted again. All other handlers may run in any order,
 * so their calls must be independent of each other. */

typedef struct Conflicts Conflicts;

Conflicts *conflicts_new(RankDependence *dependence); /* DEPENDENCE must outlive it */
void conflicts_free(Conflicts *c);

/* Begins an array of N entries. The handlers that follow are for it. */
void conflicts_begin_array(Conflicts *c, guint n);
/* Begins a loop. SHARE: its entries may post receives for the same messages (see conflicts.c). */
void conflicts_begin_loop(Conflicts *c, gboolean share);

/* The number of a set of N entries in ascending order. The number of a set of one entry is that
 * entry. */
guint conflicts_set(Conflicts *c, const guint *entries, guint n);
/* The N entries of a set. The array is valid until the next array begins. */
const guint *conflicts_entries(const Conflicts *c, const guint *set, guint *n);

/* Whether the completion of REQUEST conflicts with a handler that is already in the loop. Then the
 * loop must not contain it. */
gboolean conflicts_of_completion(Conflicts *c, gint64 request, guint entry);
void conflicts_take_completion(Conflicts *c, gint64 request, guint set);

/* A call of a handler. OWN: it posts the request of the set's only entry again. FRESH: it is the
 * first call that uses some memory. The functions correspond to those for completions. */
typedef struct {
    const Dependence *dependence;
    gboolean own, fresh;
} HandlerCall;
gboolean conflicts_of_call(Conflicts *c, const HandlerCall *call, guint set);
void conflicts_take_call(Conflicts *c, const HandlerCall *call, guint set);

/* Takes the next call of the rank in the recorded order. Returns whether it is the first to use
 * some memory. */
gboolean conflicts_first_use(Conflicts *c, const Dependence *dependence);

/* Whether several entries of this loop have posted receives for the same messages, in general or of
 * the resource RECEIVE. */
gboolean conflicts_any_shared(const Conflicts *c);
gboolean conflicts_is_shared(Conflicts *c, guint receive);

/* -- handlers.c: assigns the calls that follow several completions to the completion handlers -- */

/* A call that may be in a handler. */
typedef struct {
    guint terminal;
    gboolean fresh; /* it is the first call to use some memory, which gets its number then */
    gboolean tests; /* it is itself a completion, by MPI_Test or MPI_Testall */
} LoopItem;

/* Items FIRST … FIRST + N - 1. They are made once the entries of SET have completed. */
typedef struct {
    guint first, n, set;
} Handler;

/* The kind of calls of a handler. MPI_Test and MPI_Testall are completions, too, and the calls
 * after them count as theirs (docs/comparing.md, "Equality of two recordings"). */
typedef enum {
    HANDLER_EMPTY,
    HANDLER_PLAIN,  /* no tests */
    HANDLER_TESTED, /* it begins with a test, so all other calls are those of tests */
    HANDLER_MIXED
} HandlerKind;

/* The handlers that are known of one array of requests. */
typedef struct Handlers Handlers;
Handlers *handlers_new(const gint64 *requests, guint n);
void handlers_free(Handlers *h);

/* The entry of a request, plus 1; 0 if the array does not have it. */
guint handlers_entry(const Handlers *h, gint64 request);
guint handlers_n_entries(const Handlers *h); /* number of different requests */

/* Whether the call posts or starts the request of the set (1), of another entry (2), or of none
 * (0). */
int handlers_posts(const Handlers *h, const Dependence *dependence, const guint *entries, guint n);

/* Learns the length of a handler from a completion that came alone: ENTRY completed, and these N
 * items followed. */
void handlers_learn(Handlers *h, RankDependence *dependence, guint entry, const LoopItem *items,
                    guint n);

/* How many of the next N items are probably the handler of a set. It is a guess: any answer is
 * correct, and a good one gives a smaller program. */
guint handlers_guess(const Handlers *h, RankDependence *dependence, const guint *entries,
                     guint n_entries, const LoopItem *items, guint n);

/* Several completions, and the items to be assigned to them. */
typedef struct {
    RankDependence *dependence;
    Conflicts *conflicts; /* provides the numbers of sets */
    const LoopItem *items;
    guint first, n;       /* the items that followed these completions */
    const guint *entries; /* the entries that completed, in this order */
    guint n_entries;
    guint n_requests;     /* of the array */
    gboolean last;        /* no completion follows, so other parts of the program come after the
                           * last handler */
    const gboolean *idle; /* ^by entry: it completed before in this loop, and has no calls so far */
    const gboolean *near; /* ^of these: no calls have followed any completion since */
} Completions;

/* Appends the handlers to HANDLERS, in the order of their items. Each has at least one item, and no
 * two sets share an entry. A completion without a handler has no calls. */
void handlers_distinguish(Handlers *h, const Completions *c, GArray *handlers);

#endif
