/* SPDX-License-Identifier: BSD-3-Clause */
/* conflicts.h: finds completion handlers of a loop that must stay in the recorded order.
 *
 * A handler is the calls that a program makes once a set of entries of a request array, mostly one,
 * has completed. Two handlers whose sets share an entry keep their order in each run, since a
 * request completes again only after it was posted again. All other handlers may run in any order,
 * so their calls must be independent of each other. */
#ifndef PROXYGEN_CONFLICTS_H
#define PROXYGEN_CONFLICTS_H

#include "dependence.h"

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

#endif
