/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators.h: for who begins MPI, and for requests that make communicators. */
#ifndef WEND_COMMUNICATORS_H
#define WEND_COMMUNICATORS_H

#include "objects.h"

/* after MPI_Init: MPI_COMM_WORLD, MPI_COMM_SELF, predefined datatypes */
void comm_world_open(void);
/* facts of the predefined datatypes, once MPI runs */
void datatypes_open(void);
/* of comm_made_later: its variable has the handle now */
void comm_arrived(struct CommEntry *e);

#endif
