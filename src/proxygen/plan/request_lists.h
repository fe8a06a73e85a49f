/* SPDX-License-Identifier: BSD-3-Clause */
/* request_lists.h: the arrays of requests that calls complete, each once. */
#ifndef PROXYGEN_REQUEST_LISTS_H
#define PROXYGEN_REQUEST_LISTS_H

#include "src/proxygen/model/model.h"

typedef struct {
    gint64 n;
    gint64 *words;
    gboolean direct; /* they stand in this order in the proxy's array of requests */
    guint number;    /* else: gathered_NUMBER */
} RequestList;

typedef struct RequestLists RequestLists;

RequestLists *request_lists_new(void);
void request_lists_free(RequestLists *lists);

/* Takes N words of an array. Nothing if the list is there, or none of them is a request. */
void request_lists_add(RequestLists *lists, const Word *words, gint64 n);
/* The list that has these words, or NULL. */
RequestList *request_lists_find(const RequestLists *lists, const Word *words, gint64 n);
/* All of them (RequestList), in the order in which they were added. The array is the lists' own;
 * its user may sort it. */
GPtrArray *request_lists_in_order(const RequestLists *lists);

#endif
