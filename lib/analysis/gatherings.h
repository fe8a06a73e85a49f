/* SPDX-License-Identifier: BSD-3-Clause */
/* gatherings.h: collective operations that not all members have come to.
 *
 * All members of a communicator call its collectives in the same order. So the n-th call of each
 * member on a communicator is one operation, a gathering. A gathering exists until all recorded
 * members have come. */
#ifndef WEND_GATHERINGS_H
#define WEND_GATHERINGS_H

#include <glib.h>

#include "base/allowance.h"
#include "call-plan.h"
#include "matching-channels.h"
#include "members.h"

typedef struct {
    guint comm, over;
    guint64 number;
} GatheringKey;

typedef struct {
    GatheringKey key;
    guint refs;
    guint64 come, members;
    gboolean root;   /* the root has come */
    WendSync waits;  /* who waits for whom (call-plan.h) */
    GArray *waiters; /* guint: strands */
    /* The calls by which the member that came last, by their starts, and the root came.
     * MESSAGE_NO_PLACE: it is not known. */
    MessagePlace last, root_place;
} Gathering;

/* What a collective call is on: operations on windows and files have an order of their own. */
typedef enum { GATHERING_COMM, GATHERING_WINDOW, GATHERING_FILE, GATHERING_OVERS } GatheringOver;

typedef struct Gatherings Gatherings;

Gatherings *gatherings_new(const WendMembers *m, Allowance *a);
void gatherings_free(Gatherings *g);

/* The rank of PLACE comes with that call to its next operation OVER the communicator COMM. The
 * caller has a reference to the result. NULL: nobody is waited for, since COMM is unknown, the rank
 * is alone in it, or there are too many gatherings that members do not come to. */
Gathering *gatherings_come(Gatherings *g, const MessagePlace *place, guint comm, GatheringOver over,
                           gboolean root);
gboolean gathering_complete(const Gathering *gathering);
void gathering_unref(Gathering *gathering);

#endif
