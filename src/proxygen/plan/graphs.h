/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs.h: graphs whose neighbours are to stand in the recorded order.
 *
 * MPI_Dist_graph_create leaves the order of the neighbours to the library, and the blocks of a
 * neighbourhood collective go by it. Where blocks differ, a proxy in which the order is another one
 * would send what its neighbour does not expect. So the proxy makes such graphs with the recorded
 * order, by MPI_Dist_graph_create_adjacent. */
#ifndef PROXYGEN_GRAPHS_H
#define PROXYGEN_GRAPHS_H

#include "src/proxygen/model/model.h"

/* Fills in plan->graphs. Nothing is in it where the order makes no difference to the calls. */
void plan_graphs(Plan *plan);

/* Is the call to make its graph with the recorded order? */
gboolean graphs_is_pinned(const Plan *plan, guint terminal);

#endif
