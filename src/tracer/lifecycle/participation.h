/* SPDX-License-Identifier: BSD-3-Clause */
/* participation.h: checks whether all ranks of the job run under Wend. If one did not, a collective
 * call of Wend would never return. */
#ifndef WEND_PARTICIPATION_H
#define WEND_PARTICIPATION_H

#include <stdbool.h>

#include "process/process.h"

typedef enum {
    /* every rank of MPI_COMM_WORLD has arrived. One that gave up at that moment does not take part
     * in participation_agree, which shows it */
    PARTICIPATION_ALL,
    PARTICIPATION_PARTIAL,     /* a rank of this node runs without Wend */
    PARTICIPATION_UNKNOWN,     /* some ranks did not arrive in the given time */
    PARTICIPATION_NO_PROGRESS, /* all ranks are at their ends, and MPI communicates no more */
} Participation;

/* Waits until all SIZE ranks of MPI_COMM_WORLD have arrived, or for SECONDS if some may be on other
 * nodes. Each rank under Wend
 * calls it, after the application has made its last MPI call and while MPI still runs. Error
 * handlers are suspended (errhandlers.h), as in participation_agree. */
Participation participation_wait(int size, double seconds);

/* Whether OWN is true on all ranks, at MPI_Init: all ranks under Wend call it, once. It waits for
 * ranks that do not come for SECONDS and a little more, and then returns false. If it returns true
 * on one rank, it does so on all. */
bool participation_prove(bool own, double seconds);

/* Whether OWN is true on all ranks. All ranks call it after PARTICIPATION_ALL, at most twice, and
 * before any collective call of Wend's that cannot be given up. The result is also false if a rank
 * cannot communicate. The other ranks wait for it for seconds. */
bool participation_agree(bool own);

/* node_ranks for this libwend.so. */
bool participation_of_node(NodeRanks *node);

#endif
