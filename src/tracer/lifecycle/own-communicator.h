/* SPDX-License-Identifier: BSD-3-Clause */
/* own-communicator.h: a communicator of Wend's own while MPI_Init runs. */
#ifndef WEND_OWN_COMMUNICATOR_H
#define WEND_OWN_COMMUNICATOR_H

#include <mpi.h>

/* Makes a communicator of all ranks of MPI_COMM_WORLD, in which errors are returned. All ranks
 * under Wend call it, right after MPI_Init. Returns MPI_COMM_NULL, on all ranks alike, if the
 * launcher does not say that there are several hosts, or if not all ranks come here within 20
 * seconds. The caller frees the result before the application goes on, so that the application gets
 * the same communicators as without it. */
MPI_Comm own_communicator_open(void);

#endif
