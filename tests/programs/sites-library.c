/* SPDX-License-Identifier: BSD-3-Clause */
/* sites-library.c: a library that sites.c opens and calls. */
#include <mpi.h>

void sites_call(void);
void sites_call(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_SELF);
}
