/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators.h: communicators, for the start of MPI and for requests that make communicators. */
#ifndef WEND_COMMUNICATORS_H
#define WEND_COMMUNICATORS_H

#include "objects.h"

/* after MPI_Init: adds MPI_COMM_WORLD, MPI_COMM_SELF and predefined datatypes */
void comm_world_open(void);
/* reads the facts of the predefined datatypes, once MPI runs */
void datatypes_open(void);
/* for comm_made_later: the variable has its handle now */
void comm_arrived(struct CommEntry *e);

#endif
