/* SPDX-License-Identifier: BSD-3-Clause */
/* cancelled: receives from any source that are posted again after each message, so that the last
 * one is cancelled; then others that name their source. */
#include <mpi.h>
#include <stdio.h>

enum { MESSAGES = 3 };

int main(int argc, char **argv)
{
    int rank, size, out[16] = {0}, in[16], index, cancelled, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) {
        MPI_Request receive, send;
        MPI_Status status;
        MPI_Irecv(in, 16, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive);
        for (int i = 0; i < MESSAGES; i++)
            for (int to = 0; to < size; to++)
                if (to != rank) {
                    MPI_Isend(out, 1 + rank, MPI_INT, to, i, MPI_COMM_WORLD, &send);
                    MPI_Wait(&send, MPI_STATUS_IGNORE);
                }
        for (int left = MESSAGES * (size - 1); left > 0; left--) {
            MPI_Waitany(1, &receive, &index, &status);
            sum += status.MPI_SOURCE;
            MPI_Irecv(in, 16, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive);
        }
        MPI_Cancel(&receive);
        MPI_Wait(&receive, &status);
        MPI_Test_cancelled(&status, &cancelled);
        if (!cancelled)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(out, 2, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &send);
        MPI_Recv(in, 16, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
