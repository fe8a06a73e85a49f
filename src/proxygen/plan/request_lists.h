/* SPDX-License-Identifier: BSD-3-Clause */
/* request_lists.h: the different arrays of requests that calls complete. */
#ifndef PROXYGEN_REQUEST_LISTS_H
#define PROXYGEN_REQUEST_LISTS_H

#include "src/proxygen/model/model.h"

typedef struct {
    gint64 n;
    gint64 *words;
    /* the requests are consecutive, in this order, in the proxy's array of requests */
    gboolean direct;
    guint number; /* else the name: gathered_NUMBER */
} RequestList;

typedef struct RequestLists RequestLists;

RequestLists *request_lists_new(void);
void request_lists_free(RequestLists *lists);

/* Adds a list of N words, unless it is there already, or has no request. */
void request_lists_add(RequestLists *lists, const Word *words, gint64 n);
/* The list with these words, or NULL. */
RequestList *request_lists_find(const RequestLists *lists, const Word *words, gint64 n);
/* All lists (RequestList), in the order in which they were added. LISTS owns the array; the caller
 * may sort it. */
GPtrArray *request_lists_in_order(const RequestLists *lists);

#endif
