/* SPDX-License-Identifier: BSD-3-Clause */
/* strays: rank 0 ends with wildcard probes and a wildcard receive while all others are in
 * MPI_Finalize already. Messages of a tool must not match them. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        int strays = 0, flag, value, sum = 0;
        MPI_Status status;
        for (int i = 1; i < size; i++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            sum += value;
        }
        usleep(200000); /* the others finalize */
        for (int i = 0; i < 1000; i++) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
            strays += flag;
        }
        printf("sum %d, %d strays\n", sum, strays);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
