/* SPDX-License-Identifier: BSD-3-Clause */
/* errhandlers.h: the application's error handlers while Wend itself calls MPI.
 *
 * An error of a call of Wend's is Wend's affair. A handler of the application's may print, exit
 * or throw, and MPI's own ends the job. So Wend's calls that may fail run with
 * MPI_ERRORS_RETURN: at the end of MPI, when no other thread is in MPI. Before that handlers are
 * left alone: they are the application's other threads' too, and MPICH takes one that was set
 * for another than the one that is there from the start. There Wend asks MPI only what cannot
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

/* Sets MPI_ERRORS_RETURN on MPI_COMM_WORLD and MPI_COMM_SELF: one of the two has the errors that
 * belong to no communicator (which one differs between MPI 3 and MPI 4). MPI_Init has succeeded,
 * MPI_Finalize has not. */
void errhandlers_suspend(Errhandlers *e);
void errhandlers_restore(Errhandlers *e);

#endif
