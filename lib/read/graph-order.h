/* SPDX-License-Identifier: BSD-3-Clause */
/* graph-order.h: calls that depend on the order that MPI_Dist_graph_create gave the neighbours.
 *
 * The library chooses this order, which may be different in each run. The order applies to a
 * communicator that MPI_Dist_graph_create made, and to its copies. Calls that list the neighbours
 * of such a communicator depend on the order, and so do its neighbourhood collectives.
 *
 * A communicator is identified by the number of its handle alone, on all ranks. If numbers are used
 * again, a call that does not depend on the order may be taken for one that does, but never the
 * reverse. */
#ifndef WEND_GRAPH_ORDER_H
#define WEND_GRAPH_ORDER_H

#include <glib.h>

#include "program.h"

typedef enum {
    GRAPH_ORDER_NONE,    /* the call does not depend on the order */
    GRAPH_ORDER_LISTS,   /* MPI_Dist_graph_neighbors */
    GRAPH_ORDER_COLLECTS /* a neighbourhood collective */
} GraphOrder;

typedef struct WendGraphOrders WendGraphOrders;

/* Examines the terminals of P, which must outlive the result. Takes O(terminals). Returns NULL if P
 * has no call of MPI_Dist_graph_create. */
WendGraphOrders *graph_orders_new(const WendProgram *p);
/* ORDERS may be NULL. */
void graph_orders_free(WendGraphOrders *orders);

/* How the calls of TERMINAL depend on the order. ORDERS may be NULL. */
GraphOrder graph_order(const WendGraphOrders *orders, guint32 terminal);

#endif
