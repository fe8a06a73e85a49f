/* SPDX-License-Identifier: BSD-3-Clause */
/* exits: a program that ends in the way that its argument says: code N (after MPI_Finalize),
 * nofinalize, abort N, segv, term, _exit. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    const char *how = argc > 1 ? argv[1] : "";
    int code = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        printf("before the end\n");
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "abort") == 0 && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, code);
    if (strcmp(how, "segv") == 0 && rank == size - 1)
        raise(SIGSEGV);
    if (strcmp(how, "term") == 0 && rank == size - 1)
        raise(SIGTERM);
    if (strcmp(how, "nofinalize") == 0)
        exit(code);
    if (strcmp(how, "_exit") == 0)
        _exit(code);
    MPI_Finalize();
    return code;
}
