/* SPDX-License-Identifier: BSD-3-Clause */
/* conflicts.h: which completion handlers of a loop must stay in the recorded order.
 *
 * A handler is what a program does once some requests of an array (a set of its entries) have
 * completed: mostly one. Two handlers whose sets share an entry come one after the other in each
 * run, since a request completes again only after it was posted again. All others may come in any
 * order, so they must have nothing to do with each other. */
#ifndef PROXYGEN_CONFLICTS_H
#define PROXYGEN_CONFLICTS_H

#include "dependence.h"

typedef struct Conflicts Conflicts;

Conflicts *conflicts_new(RankDependence *effects); /* which must live as long */
void conflicts_free(Conflicts *c);

/* From here on, handlers are for an array of N entries. */
void conflicts_begin_array(Conflicts *c, guint n);
/* A loop begins. SHARE: its entries may post receives for the same messages (see conflicts.c). */
void conflicts_begin_loop(Conflicts *c, gboolean share);

/* The number of a set of entries, which are given in ascending order: that of one entry is the
 * entry itself. */
guint conflicts_set(Conflicts *c, const guint *entries, guint n);
/* The entries of a set, owned by C until its next array begins. */
const guint *conflicts_entries(const Conflicts *c, const guint *set, guint *n);

/* Does the completion of REQUEST conflict with what is in the loop already? Then it may not be
 * taken into it. */
gboolean conflicts_of_completion(Conflicts *c, gint64 request, guint entry);
void conflicts_take_completion(Conflicts *c, gint64 request, guint set);

/* A call of a handler. OWN: it posts the request of the set's only entry again; FRESH: it is the
 * first to use some memory. The same as for completions. */
typedef struct {
    const Dependence *effects;
    gboolean own, fresh;
} HandlerCall;
gboolean conflicts_of_call(Conflicts *c, const HandlerCall *call, guint set);
void conflicts_take_call(Conflicts *c, const HandlerCall *call, guint set);

/* Takes a call of the rank, in the recorded order: is it the first to use some memory? */
gboolean conflicts_first_use(Conflicts *c, const Dependence *effects);

/* Have several entries posted receives for the same messages in this loop? Of RECEIVE, a resource?
 * */
gboolean conflicts_any_shared(const Conflicts *c);
gboolean conflicts_is_shared(Conflicts *c, guint receive);

#endif
