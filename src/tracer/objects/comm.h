/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h: communicators, for the start of MPI and for requests that make communicators. */
#ifndef WEND_COMM_H
#define WEND_COMM_H

#include "objects.h"

/* after MPI_Init: adds MPI_COMM_WORLD, MPI_COMM_SELF and predefined datatypes */
void comm_open_world(void);
/* reads the facts of the predefined datatypes, once MPI runs */
void datatypes_open(void);
/* for comm_made_later: the variable has its handle now */
void comm_arrived(struct CommEntry *e);

#endif
