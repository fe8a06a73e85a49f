/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.h: waits for MPI that leave the processor to others. MPI's own waits spin. With more
 * ranks than processors they take the time of the rank that is waited for. */
#ifndef WEND_WAITING_H
#define WEND_WAITING_H

#include <mpi.h>
#include <stdbool.h>

/* Once all ranks have come to their end, a rank that has to do nothing before it answers does so
 * within this number of seconds, or MPI cannot communicate any more. */
enum { WAITING_PROMPT = 20 };

/* Waits until REQUEST, which is one of Wend's own, is complete. SECONDS: the longest wait, INFINITY
 * for one without end. FALSE: MPI reports an error, or the time is over. Then REQUEST is still
 * pending, and its buffers stay in use. */
bool waiting_for_request(MPI_Request *request, double seconds);

/* The longest wait of each function below, in SECONDS, for a rank that merges before it answers. It
 * is WAITING_PROMPT at first, and again once one of them has waited in vain. */
void waiting_be_patient(double seconds);

/* As PMPI_Send, PMPI_Recv and PMPI_Bcast, of N elements of TYPE. FALSE: MPI reports an error, or
 * the time is over. Then the library may still read and write DATA. */
bool waiting_send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm);
bool waiting_recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm);
bool waiting_bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm);
/* As PMPI_Allreduce in place, of at most WAITING_REDUCED bytes. False: as above. Then DATA is
 * unchanged, and nothing uses it. */
enum { WAITING_REDUCED = 8 << 10 };
bool waiting_reduce(void *data, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/* *ALL: whether OWN holds on all ranks. False: as above. */
bool waiting_all(bool own, bool *all, MPI_Comm comm);
/* Whether one of these functions has waited in vain since waiting_be_patient. */
bool waiting_failed(void);

#endif
