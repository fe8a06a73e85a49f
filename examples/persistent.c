/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent: a ring exchange set up once and started many times, whole and in partitions.
 *
 *   persistent [-n NUMBERS] [-i ITERATIONS] [-p PARTITIONS]
 *
 * First part: persistent sends and receives to both neighbours, with MPI_Startall and MPI_Waitall,
 * and a synchronous one by itself. Second part: partitioned communication (MPI 4.0): the sender
 * marks its partitions ready one by one, last first, and in ranges; the receiver asks for each with
 * MPI_Parrived. */
#include "example.h"

static int rank, size, n = 24, iterations = 10, partitions = 4;

static void whole(int left, int right)
{
    int *to = allocate(sizeof *to * n), *from_left = allocate(sizeof *to * n),
        *from_right = allocate(sizeof *to * n), single = -1;
    MPI_Request requests[4], synchronous, receive;
    MPI_Send_init(to, n, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(to, n, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(from_right, n, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Recv_init(from_left, n, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Ssend_init(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &synchronous);
    MPI_Recv_init(&single, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &receive);
    for (int it = 0; it < iterations; it++) {
        for (int i = 0; i < n; i++)
            to[i] = rank * 1000 + it + i;
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) {
            CHECK(from_left[i] == left * 1000 + it + i);
            CHECK(from_right[i] == right * 1000 + it + i);
        }
        MPI_Start(&receive);
        MPI_Start(&synchronous);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(&synchronous, MPI_STATUS_IGNORE);
        CHECK(single == left);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
    MPI_Request_free(&synchronous);
    MPI_Request_free(&receive);
    free(to);
    free(from_left);
    free(from_right);
}

#if MPI_4
static void partitioned(int left, int right)
{
    int *to = allocate(sizeof *to * n * partitions), *from = allocate(sizeof *to * n * partitions);
    MPI_Request send, receive;
    MPI_Psend_init(to, partitions, n, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(from, partitions, n, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    for (int it = 0; it < iterations; it++) {
        MPI_Start(&receive);
        MPI_Start(&send);
        for (int p = partitions - 1; p >= 0; p--) {
            for (int i = 0; i < n; i++)
                to[p * n + i] = rank * 1000 + it + p * n + i;
            if (p >= 2) {
                MPI_Pready(p, send);
            } else if (p == 0) { /* those below 2 together, in the one form or the other */
                int below = partitions < 2 ? partitions : 2, both[2] = {1, 0};
                if (it % 2)
                    MPI_Pready_range(0, below - 1, send);
                else
                    MPI_Pready_list(below, below == 2 ? both : both + 1, send);
            }
        }
        for (int p = 0; p < partitions; p++)
            for (int there = 0; !there;)
                MPI_Parrived(receive, p, &there);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        for (int i = 0; i < n * partitions; i++)
            CHECK(from[i] == left * 1000 + it + i);
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    free(to);
    free(from);
}
#else
static void partitioned(int left, int right)
{
    (void)left, (void)right;
    if (rank == 0)
        printf("persistent: the library has no partitioned communication\n");
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "n:i:p:")) != -1;)
        switch (o) {
        case 'n':
            n = number(optarg, 1, 1000000);
            break;
        case 'i':
            iterations = number(optarg, 0, 1000000);
            break;
        case 'p':
            partitions = number(optarg, 1, 1000);
            break;
        default:
            return 2;
        }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    whole(left, right);
    partitioned(left, right);
    if (rank == 0)
        printf("persistent: %d ranks, %d numbers, %d partitions, %d iterations\n", size, n,
               partitions, iterations);
    MPI_Finalize();
    return 0;
}
