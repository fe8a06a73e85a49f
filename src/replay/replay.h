/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.h: makes the calls of a recording again: what a call must be, and what comes out of it. */
#ifndef WEND_REPLAY_H
#define WEND_REPLAY_H

#include <mpi.h>

/* Begins a replay if the environment asks for one (settings.h). When the library is loaded. STOP
 * ends the job with an exit status. */
void replay_open(void (*stop)(int status));
/* When MPI has started: checks that the rank is that of the order file. */
void replay_world(void);
/* When the application has made its last call, and MPI still runs. */
void replay_close(void);
/* The communicator where nobody sends. MPI_COMM_NULL: there is none. */
MPI_Comm replay_nowhere(void);
/* Lets MPI make progress, as a test that finds nothing does. */
void replay_progress(void);

#endif
