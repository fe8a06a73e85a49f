/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse: a halo exchange over levels, each of half as many ranks as the one before, as multigrid
 * has it: on coarse levels ranks make calls that others leave out. Rank 0 reads for all, and says
 * how far it is. */
#include <mpi.h>
#include <stdio.h>

enum { CYCLES = 12, SIZE = 64 };

int main(int argc, char **argv)
{
    int rank, size, input = 0;
    double in[2 * SIZE], out[SIZE] = {0}, norm = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        for (int other = 1; other < size; other++)
            MPI_Send(&other, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&input, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    out[0] = input + rank;
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        for (int step = 1, count = SIZE; step < size; step *= 2, count /= 2) {
            if (rank % step)
                break;
            MPI_Request requests[2];
            int right = (rank + step) % size / step * step,
                left = (rank - step + size) % size / step * step;
            MPI_Irecv(in, count, MPI_DOUBLE, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &requests[0]);
            MPI_Irecv(in + SIZE, count, MPI_DOUBLE, MPI_ANY_SOURCE, step, MPI_COMM_WORLD,
                      &requests[1]);
            MPI_Send(out, count, MPI_DOUBLE, right, step, MPI_COMM_WORLD);
            MPI_Send(out, count, MPI_DOUBLE, left, step, MPI_COMM_WORLD);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            out[0] += in[0] + in[SIZE];
        }
        MPI_Allreduce(out, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0 && cycle % 4 == 3)
            MPI_Send(&norm, 1, MPI_DOUBLE, size - 1, 2, MPI_COMM_WORLD);
        if (rank == size - 1 && cycle % 4 == 3)
            MPI_Recv(&norm, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == size - 1)
        printf("%g\n", norm);
    MPI_Finalize();
    return 0;
}
