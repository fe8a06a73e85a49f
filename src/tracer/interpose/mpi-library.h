/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi-library.h: finds the MPI library of this process. */
#ifndef WEND_MPI_LIBRARY_H
#define WEND_MPI_LIBRARY_H

#include <stdbool.h>

#define MPI_LIBRARY_MARK "PMPI_Initialized" /* each library defines it */

/* Looks for a library outside of the global scope, which was loaded late (late-mpi.h). */
void mpi_library_find(void);
/* A symbol of the library. NULL if it is not defined, or there is no MPI library. */
void *mpi_library_symbol(const char *name);
/* Whether MPI runs although Wend has seen no call. */
bool mpi_library_passed_by(void);

#endif
