/* SPDX-License-Identifier: BSD-3-Clause */
/* trips: loops, one in another one, whose trip counts differ from rank to rank. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, in = 0, sum = 0, total;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2 + rank; i++) {
        for (int k = 0; k < 3 + rank / 2; k++)
            MPI_Sendrecv(&i, 1, MPI_INT, rank, 1, &in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        sum += in;
        MPI_Comm_size(MPI_COMM_SELF, &in);
    }
    MPI_Request requests[2];
    for (int i = 0; i < 4 + rank % 2; i++) {
        MPI_Irecv(&in, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&i, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        sum += in;
    }
    MPI_Reduce(&sum, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d\n", total);
    MPI_Finalize();
    return 0;
}
