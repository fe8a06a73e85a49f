/* SPDX-License-Identifier: BSD-3-Clause */
/* request_layout.h: the slots of the requests of one rank.
 *
 * Slots are assigned to the lifetimes of requests (request_lifetimes.h). A group of lifetimes gets
 * slots that no other group has at that time; if possible, the slots that its numbers had before
 * (their *homes*).
 *
 * A lifetime that ends has its slots for its thread alone, because the order of two threads is
 * unknown. */
#ifndef PROXYGEN_REQUEST_LAYOUT_H
#define PROXYGEN_REQUEST_LAYOUT_H

#include "request_lifetimes.h"

/* A request is made TIMES times in the slot PLACE. */
typedef struct {
    guint64 times;
    gint64 place;
} RequestMove;

/* The request slots of a rank. */
typedef struct {
    gint64 *place;  /* by number: the first slot; -1: it has none */
    GArray **moves; /* by number: of RequestMove; NULL: it keeps its slot */
    guint *again;   /* by number: how many of its last moves repeat */
} RequestLayout;

/* Lays out the requests of RANK, which is of the class of USE. Lists that must be gathered lose
 * DIRECT. LENGTHS (thread -> number of slots in its array) goes up to what the rank needs. Returns
 * NULL if the rank has too many lifetimes. */
RequestLayout *request_layout_find(const RequestEffects *effects, const RequestUse *use, guint rank,
                                   GHashTable *lengths);
/* N: how many requests have numbers (request_numbers_count) */
void request_layout_free(RequestLayout *layout, guint n);
guint64 request_layout_moves(const RequestLayout *layout, guint n); /* of all requests */

#endif
