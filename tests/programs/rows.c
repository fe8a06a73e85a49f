/* SPDX-License-Identifier: BSD-3-Clause */
/* rows: rank 0 hands each other rank so many pieces, each longer than the one before, and gets each
 * back, a few times; then all ranks send so many to themselves. Rank 0 prints what it has got. So
 * many different calls of one kind leave the recorder's tables (cst.h), and are rows whose
 * arguments go up in equal steps. Argument: "own": only what they send to themselves, in steps of
 * each rank's own. */
#include <mpi.h>
#include <stdio.h>

enum { TURNS = 3, PIECES = 3000 };

int main(int argc, char **argv)
{
    static int data[PIECES];
    int own = argc > 1, rank, size;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < TURNS && !own; turn++) {
        for (int other = 1; other < size; other++)
            for (int i = 0; i < PIECES; i++) {
                if (rank == 0) {
                    data[i] = turn + other + i;
                    MPI_Send(data, i + 1, MPI_INT, other, i, MPI_COMM_WORLD);
                    MPI_Recv(data + i, 1, MPI_INT, other, PIECES, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
                    sum += data[i];
                } else if (rank == other) {
                    MPI_Recv(data, PIECES, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
                    MPI_Send(data + i, 1, MPI_INT, 0, PIECES, MPI_COMM_WORLD);
                }
            }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < PIECES; i++) /* steps of its own on each rank */
        MPI_Sendrecv(data, 1, MPI_INT, rank, i * (own ? rank + 1 : 1), data, PIECES, MPI_INT, rank,
                     i * (own ? rank + 1 : 1), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
