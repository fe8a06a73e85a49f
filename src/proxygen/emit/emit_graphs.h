/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_graphs.h: C code of graphs that are made with the recorded order of neighbours. */
#ifndef PROXYGEN_EMIT_GRAPHS_H
#define PROXYGEN_EMIT_GRAPHS_H

#include "emitter.h"

/* The call as a call of MPI_Dist_graph_create_adjacent, newly allocated. NULL if the call stays as
 * it is. */
char *emit_graph_expression(Emitter *e, const CallPattern *c);
/* Appends functions that return the recorded neighbours of the next call. */
void emit_graphs(Emitter *e, GString *declarations, GString *definitions);

#endif
