/* SPDX-License-Identifier: BSD-3-Clause */
/* request_slots.h: the request slots of each rank, if requests do not keep one slot on all ranks at
 * all times. */
#ifndef PROXYGEN_REQUEST_SLOTS_H
#define PROXYGEN_REQUEST_SLOTS_H

#include "request_layout.h"

typedef struct {
    RequestNumbers *numbers;
    GPtrArray *layouts;  /* of RequestLayout, all different */
    guint *layout_of;    /* by rank: index in LAYOUTS */
    GHashTable *lengths; /* thread -> number of slots in its array */
    gboolean vary;       /* some requests have their slot in "at" */
} RequestSlots;

/* Decides which of LISTS are consecutive, and sets their DIRECT. Returns NULL if there is too much
 * to follow; the lists are then unchanged. */
RequestSlots *request_slots_find(Plan *plan, RequestLists *lists);
void request_slots_free(RequestSlots *p);

/* The slot of REQUEST in the array of its thread, if it is the same on all of RANKS at all times.
 * -1 if "at" has the slot. */
gint64 request_slots_place(const RequestSlots *p, gint64 request, RankList ranks);
/* Whether the request has different slots over time on one of RANKS. Each call that makes it then
 * asks for the next slot. */
gboolean request_slots_move(const RequestSlots *p, gint64 request, RankList ranks);
/* The index of the request in the "at" of its thread. */
guint request_slots_index(const RequestSlots *p, gint64 request);
/* The number of requests of the thread, which is the length of its "at". */
guint request_slots_count(const RequestSlots *p, guint thread);
/* The thread whose array has the requests of THREAD. It is another thread if calls have arrays with
 * requests of both. */
guint request_slots_array(const RequestSlots *p, guint thread);
/* The number of slots in the array of the thread; 0 if its requests are in another thread's
 * array. */
guint request_slots_length(const RequestSlots *p, guint thread);

#endif
