/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_graphs.h: graphs that are made with the recorded order of neighbours, as C. */
#ifndef PROXYGEN_EMIT_GRAPHS_H
#define PROXYGEN_EMIT_GRAPHS_H

#include "emitter.h"

/* The call as a call of MPI_Dist_graph_create_adjacent, or NULL: it stays as it is. */
char *emit_graph_expression(Emitter *e, const CallPattern *c);
/* The recorded neighbours, as functions that give those of the next call. */
void emit_graphs(Emitter *e, GString *declarations, GString *definitions);

#endif
