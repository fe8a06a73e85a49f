/* SPDX-License-Identifier: BSD-3-Clause */
/* handlers.h: whose calls they are that follow several completions: which of them belong to which
 * completion handler. */
#ifndef PROXYGEN_HANDLERS_H
#define PROXYGEN_HANDLERS_H

#include "conflicts.h"

/* A call that may be in a handler. */
typedef struct {
    guint terminal;
    gboolean fresh; /* it is the first to use some memory, which gets its number then */
    gboolean tests; /* a completion itself, by MPI_Test or MPI_Testall */
} LoopItem;

/* Items FIRST … FIRST + N - 1, made once the entries of SET have completed. */
typedef struct {
    guint first, n, set;
} Handler;

/* What kind of calls. MPI_Test and MPI_Testall are completions, too, and what follows them counts
 * as theirs (docs/comparing.md, "Equality of two recordings"). */
typedef enum {
    HANDLER_EMPTY,
    HANDLER_PLAIN,  /* no tests */
    HANDLER_TESTED, /* it begins with a test, so all other calls are those of tests */
    HANDLER_MIXED
} HandlerKind;
HandlerKind handler_kind(const LoopItem *items, guint n);

/* What is known of one array of requests. */
typedef struct Handlers Handlers;
Handlers *handlers_new(const gint64 *requests, guint n);
void handlers_free(Handlers *h);

/* The entry of a request, + 1; 0: none. */
guint handlers_entry(const Handlers *h, gint64 request);
guint handlers_n_entries(const Handlers *h); /* different requests */

/* Does the call post or start the request of the set, of another entry (2), or of none (0)? */
int handlers_posts(const Handlers *h, const Dependence *effects, const guint *entries, guint n);

/* How long the calls of a completion are can be told where it came alone: ENTRY did, and these
 * followed. */
void handlers_learn(Handlers *h, RankDependence *effects, guint entry, const LoopItem *items,
                    guint n);

/* How many of the next N items are the handler of a set, as far as that can be guessed: any answer
 * is right. */
guint handlers_guess(const Handlers *h, RankDependence *effects, const guint *entries,
                     guint n_entries, const LoopItem *items, guint n);

/* What is to be told apart. */
typedef struct {
    RankDependence *effects;
    Conflicts *conflicts; /* for the numbers of sets */
    const LoopItem *items;
    guint first, n;       /* items that followed these completions */
    const guint *entries; /* that completed, in that order */
    guint n_entries;
    guint n_requests;     /* of the array */
    gboolean last;        /* nothing completes behind these: other parts of the program follow
                              * the last handler */
    const gboolean *idle; /* by entry: it completed before in this loop, and nothing has followed
                              * that yet */
    const gboolean *near; /* of these: nothing has followed any completion since */
} Completions;

/* Appends the handlers to HANDLERS, in the order of their items, each with one item at least; their
 * sets have no entry in common. Completions that are in none have no calls. */
void handlers_distinguish(Handlers *h, const Completions *c, GArray *handlers);

#endif
