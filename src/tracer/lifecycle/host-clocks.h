/* SPDX-License-Identifier: BSD-3-Clause */
/* host-clocks.h: compares the clocks of the hosts of a world, by round trips. */
#ifndef WEND_HOST_CLOCKS_H
#define WEND_HOST_CLOCKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Compares the clocks of all hosts with that of rank 0, and notes the result for the times of calls
 * (side/call-times.h). All ranks of COMM call it, which is a communicator of Wend's own and has all
 * ranks of the world. LAST: it is the last time. If a rank does not answer within seconds, the
 * clocks behind it are not compared. */
void host_clocks_compare(MPI_Comm comm, bool last);

/* The number of hosts that were compared; 0: none. *KNOWN: whether the clock of this rank was. Then
 * *ERROR is the number of nanoseconds by which it may differ from rank 0's. */
uint32_t host_clocks_result(bool *known, uint64_t *error);

#endif
