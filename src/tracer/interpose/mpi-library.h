/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi-library.h: the MPI library of this process, wherever it is. */
#ifndef WEND_MPI_LIBRARY_H
#define WEND_MPI_LIBRARY_H

#include <stdbool.h>

#define MPI_LIBRARY_MARK "PMPI_Initialized" /* each one has it */

/* Looks for a library that is not in the global scope, which came after the start (late-mpi.h). */
void mpi_library_find(void);
/* A symbol of the library; NULL: it has none, or there is no MPI library. */
void *mpi_library_symbol(const char *name);
/* Does MPI run although Wend has seen no call? */
bool mpi_library_passed_by(void);

#endif
