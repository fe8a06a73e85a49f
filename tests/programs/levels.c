/* SPDX-License-Identifier: BSD-3-Clause */
/* levels LEVEL: MPI_Init_thread with level 0 to 3, single to multiple, or -1: MPI_Init. Prints what
 * the library says of it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                          MPI_THREAD_MULTIPLE};
    int asked = argc > 1 ? atoi(argv[1]) : -1, provided = -1, queried = -1, is_main = -1, rank, rc;
    if (asked > 3)
        return 2;
    rc = asked < 0 ? MPI_Init(&argc, &argv)
                   : MPI_Init_thread(&argc, &argv, levels[asked], &provided);
    MPI_Query_thread(&queried);
    MPI_Is_thread_main(&is_main);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("asked %d: returned %d, provided %d, query says %d, main %d\n", asked, rc, provided,
               queried, is_main);
    MPI_Finalize();
    return 0;
}
