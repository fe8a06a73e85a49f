/* SPDX-License-Identifier: BSD-3-Clause */
/* participation.h: do all ranks of the job run under Wend? A collective call of Wend's own would
 * wait for ever for one that does not. */
#ifndef WEND_PARTICIPATION_H
#define WEND_PARTICIPATION_H

#include <stdbool.h>

#include "process/process.h"

typedef enum {
    /* every rank of MPI_COMM_WORLD is here: collective calls come back */
    PARTICIPATION_ALL,
    PARTICIPATION_PARTIAL, /* a rank of this node runs without Wend */
    PARTICIPATION_UNKNOWN, /* some did not come within the time given */
} Participation;

/* Called when the application has made its last MPI call and MPI still runs, by each rank of
 * MPI_COMM_WORLD that has Wend; SIZE ranks it has. Error handlers are suspended (errhandlers.h),
 * here and in participation_agree. */
Participation participation_wait(int size, double seconds);

/* After PARTICIPATION_ALL, by all ranks, twice at most: is OWN true on all of them? False also on a
 * rank that cannot communicate, and, after the time that was given, on those that wait for it. */
bool participation_agree(bool own);

/* node_ranks, with the library that this is. */
bool participation_of_node(NodeRanks *node);

#endif
