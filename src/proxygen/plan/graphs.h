/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs.h: graphs whose neighbours must be in the recorded order.
 *
 * MPI_Dist_graph_create leaves the order of neighbours to the library, and the blocks of a
 * neighbourhood collective follow that order. If blocks differ in size, a proxy with another order
 * would send blocks that its neighbour does not expect. So the proxy makes such graphs with
 * MPI_Dist_graph_create_adjacent, in the recorded order. */
#ifndef PROXYGEN_GRAPHS_H
#define PROXYGEN_GRAPHS_H

#include "src/proxygen/model/model.h"

/* Fills in plan->graphs. It stays empty if the order makes no difference to the calls. */
void plan_graphs(Plan *plan);

/* Whether the call makes its graph with the recorded order. */
gboolean graphs_is_pinned(const Plan *plan, guint terminal);

#endif
