/* SPDX-License-Identifier: BSD-3-Clause */
/* graph-order.h: which calls depend on the order that MPI_Dist_graph_create gave the neighbours.
 *
 * The order is the library's choice and may be another one in each run. Calls on a communicator
 * that MPI_Dist_graph_create made, or that was copied from such a one, go by it: those that list
 * the neighbours, and the neighbourhood collectives. A communicator is told by the number of its
 * handle alone, on whatever rank: where numbers come again, a call may be taken for one that
 * depends on the order, never the other way about. */
#ifndef WEND_GRAPH_ORDER_H
#define WEND_GRAPH_ORDER_H

#include <glib.h>

#include "program.h"

typedef enum {
    GRAPH_ORDER_NONE,    /* the call has nothing to do with it */
    GRAPH_ORDER_LISTS,   /* MPI_Dist_graph_neighbors */
    GRAPH_ORDER_COLLECTS /* a neighbourhood collective */
} GraphOrder;

typedef struct WendGraphOrders WendGraphOrders;

/* Looks through the terminals of P, which has to outlive it: O(terminals). NULL if P has no call of
 * MPI_Dist_graph_create. */
WendGraphOrders *wend_program_graph_orders(const WendProgram *p);
void wend_program_graph_orders_free(WendGraphOrders *orders);

/* What the calls of TERMINAL have to do with the order. */
GraphOrder wend_program_graph_order(const WendGraphOrders *orders, guint32 terminal);

#endif
