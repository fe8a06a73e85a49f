/* SPDX-License-Identifier: BSD-3-Clause */
/* request_slots.h: where in its array each rank keeps a request, when one place for each number
 * does not do for all ranks and all times. */
#ifndef PROXYGEN_REQUEST_SLOTS_H
#define PROXYGEN_REQUEST_SLOTS_H

#include "request_lists.h"

/* A request is made TIMES times at PLACE. */
typedef struct {
    guint64 times;
    gint64 place;
} RequestMove;

/* Of a rank. */
typedef struct {
    gint64 *place;  /* by number: the first; -1: it has none */
    GArray **moves; /* by number: of Move; NULL: it stays there */
    guint *again;   /* by number: so many of its moves, the last, come again and again */
} RequestLayout;

typedef struct {
    GHashTable *numbers; /* request -> number + 1 */
    GArray *requests;    /* of gint64, by number */
    GPtrArray *layouts;  /* of Layout, each another */
    guint *layout_of;    /* by rank */
    /* by number: so many requests of its thread have a smaller handle: where it is in the thread's
     * "at" */
    guint *index;
    GHashTable *counts; /* thread -> requests */
    /* thread -> another whose array has its requests too, + 1; see request_slots_array */
    GHashTable *arrays;
    GHashTable *lengths; /* thread -> places in its array */
    gboolean vary;       /* there are requests of which "at" says where they are */
} RequestSlots;

/* Decides which of LISTS stand in order, and sets their "direct". NULL: there is too much to
 * follow, and they are as they were. */
RequestSlots *request_slots_find(Plan *plan, RequestLists *lists);
void request_slots_free(RequestSlots *p);

/* The place of REQUEST in the array of its thread, if it is one place on all of RANKS and at all
 * times; -1: "at" says it. */
gint64 request_slots_place(const RequestSlots *p, gint64 request, RankList ranks);
/* Is it at different places in turn, on one of RANKS? Then each call that makes it asks for the
 * next. */
gboolean request_slots_move(const RequestSlots *p, gint64 request, RankList ranks);
/* Where "at" of the request's thread has its place. */
guint request_slots_index(const RequestSlots *p, gint64 request);
/* Requests of the thread: the length of its "at". */
guint request_slots_count(const RequestSlots *p, guint thread);
/* The thread whose array has the requests of THREAD: its own, or another's where calls get arrays
 * with requests of both. */
guint request_slots_array(const RequestSlots *p, guint thread);
/* Places in the array of the thread; 0: its requests are in another's. */
guint request_slots_length(const RequestSlots *p, guint thread);

#endif
