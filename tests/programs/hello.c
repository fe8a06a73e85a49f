/* SPDX-License-Identifier: BSD-3-Clause */
/* hello: the smallest program with a collective. "late": the last rank comes to MPI_Finalize after
 * the others. "late hidden": and no process shows its rank any more, as with programs that write
 * over their environment. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void hide_rank(void)
{
    for (char **variable = environ; *variable; variable++)
        if (strstr(*variable, "_RANK="))
            **variable = '#';
}

int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("hello from %d ranks: %d\n", size, sum);
    if (argc > 2 && strcmp(argv[2], "hidden") == 0)
        hide_rank();
    if (argc > 1 && strcmp(argv[1], "late") == 0 && rank == size - 1)
        sleep(3);
    MPI_Finalize();
    return 0;
}
