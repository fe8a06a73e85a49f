/* SPDX-License-Identifier: BSD-3-Clause */
/* handlers.h: assigns the calls that follow several completions to the completion handlers. */
#ifndef PROXYGEN_HANDLERS_H
#define PROXYGEN_HANDLERS_H

#include "conflicts.h"

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
HandlerKind handler_kind(const LoopItem *items, guint n);

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
