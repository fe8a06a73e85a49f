/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.h: waits for MPI that leave the processor to others. MPI's own waits spin. With more
 * ranks than processors they take the time of the rank that is waited for. */
#ifndef WEND_WAITING_H
#define WEND_WAITING_H

#include <mpi.h>
#include <stdbool.h>

/* Waits until REQUEST, which is one of Wend's own, is complete. SECONDS: the longest wait, INFINITY
 * for one without end. FALSE: MPI reports an error, or the time is over. Then REQUEST is still
 * pending. */
bool waiting_for_request(MPI_Request *request, double seconds);

/* As PMPI_Send, PMPI_Recv and PMPI_Bcast, of N elements of TYPE. FALSE: MPI reports an error. */
bool waiting_send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm);
bool waiting_recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm);
bool waiting_bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm);
/* As PMPI_Allreduce in place. False: MPI reports an error. */
bool waiting_reduce(void *data, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/* *ALL: whether OWN holds on all ranks. False: MPI reports an error. */
bool waiting_all(bool own, bool *all, MPI_Comm comm);

#endif
