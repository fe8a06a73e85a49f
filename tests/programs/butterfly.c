/* SPDX-License-Identifier: BSD-3-Clause */
/* butterfly: all ranks sum up what they have with partners whose numbers differ in one bit; then a
 * binomial tree hands on what rank 0 has. Rank 0 prints it. For powers of two. */
#include <mpi.h>
#include <stdio.h>

enum { TURNS = 5 };

int main(int argc, char **argv)
{
    int rank, size, sum, other, seed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < TURNS; turn++) {
        sum = rank + seed;
        for (int bit = 1; bit < size; bit *= 2) {
            MPI_Sendrecv(&sum, 1, MPI_INT, rank ^ bit, bit, &other, 1, MPI_INT, rank ^ bit, bit,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += other;
        }
        seed = sum;
        for (int bit = 1; bit < size; bit *= 2) {
            if (rank >= bit && rank < 2 * bit)
                MPI_Recv(&seed, 1, MPI_INT, rank - bit, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else if (rank < bit)
                MPI_Send(&seed, 1, MPI_INT, rank + bit, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        printf("%d\n", seed);
    MPI_Finalize();
    return 0;
}
