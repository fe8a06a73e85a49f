/* SPDX-License-Identifier: BSD-3-Clause */
/* control: recording is switched off and on by the program: "pcontrol" or "info". While it is off,
 * a communicator, a type and a request are made that are used later. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void tracing(int with_info, int on)
{
    if (with_info) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "WEND_TRACING", on ? "ON" : "OFF");
        MPI_Info_free(&info);
    } else {
        MPI_Pcontrol(on);
    }
}

int main(int argc, char **argv)
{
    int rank, size, in = -1, sum, values[2] = {1, 2}, got[2];
    MPI_Init(&argc, &argv);
    int with_info = argc > 1 && strcmp(argv[1], "info") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    tracing(with_info, 0);
    MPI_Comm half;
    MPI_Datatype pair;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    tracing(with_info, 1);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Sendrecv(values, 1, pair, rank, 3, got, 1, pair, rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&pair);
    MPI_Comm_free(&half);
    if (rank == 0)
        printf("sum %d, pair %d %d\n", sum, got[0], got[1]);
    MPI_Finalize();
    return 0;
}
