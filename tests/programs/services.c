/* SPDX-License-Identifier: BSD-3-Clause */
/* services.c: names published by one rank and looked up by the others; the port is a text of the
 * application's own. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char port[MPI_MAX_PORT_NAME + 1] = "";
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        MPI_Publish_name("kitchen", MPI_INFO_NULL, "somewhere:122");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Lookup_name("kitchen", MPI_INFO_NULL, port);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Unpublish_name("kitchen", MPI_INFO_NULL, "somewhere:122");
    if (rank == 1)
        puts(strcmp(port, "somewhere:122") == 0 ? "found" : "lost");
    MPI_Finalize();
    return 0;
}
