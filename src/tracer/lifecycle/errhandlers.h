/* SPDX-License-Identifier: BSD-3-Clause */
/* errhandlers.h: the application's error handlers while Wend itself calls MPI.
 *
 * An error in a call of Wend must not run the application's error handler, which may print, exit or
 * throw. MPI's default handler ends the job. So calls of Wend that may fail run with
 * MPI_ERRORS_RETURN, at the end of MPI, when no other thread is in MPI. Before the end, handlers
 * are not changed, because the application's other threads use them, too. Also, MPICH cannot tell a
 * handler that was set from the default one. Until then Wend only makes MPI calls that cannot
 * fail. */
#ifndef WEND_ERRHANDLERS_H
#define WEND_ERRHANDLERS_H

#include <mpi.h>
#include <stdbool.h>

typedef struct {
    struct {
        MPI_Comm comm;
        MPI_Errhandler before;
    } of[2];
    int n;
} Errhandlers;

/* Sets MPI_ERRORS_RETURN on MPI_COMM_WORLD and MPI_COMM_SELF. One of the two handles errors that
 * belong to no communicator (which one differs between MPI 3 and MPI 4). Call it between MPI_Init
 * and MPI_Finalize. */
void errhandlers_suspend(Errhandlers *e);
/* Restores the handlers of errhandlers_suspend. */
void errhandlers_restore(Errhandlers *e);

#endif
