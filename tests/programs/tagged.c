/* SPDX-License-Identifier: BSD-3-Clause */
/* tagged [ITERATIONS [rolling]]: each message has a tag of its own, so that hardly a call comes
 * again. One receive of each iteration is completed in the next one; rolling: some receives of each
 * of two neighbours are pending, and whichever completes is followed by another, a few times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100, PENDING = 3, STEPS = 5 };
static int rank, size, iterations = 2000;

static long by_iteration(int left, int right)
{
    static int out[2][MOST], in[3][MOST];
    MPI_Request early = MPI_REQUEST_NULL;
    long sum = 0;
    for (int i = 0; i < iterations; i++) {
        int count = 1 + i * 37 % MOST;
        MPI_Request requests[3] = {early};
        out[0][0] = out[1][0] = rank + i;
        /* sent in the next one */
        MPI_Irecv(in[1 + i % 2], MOST, MPI_INT, left, iterations + i, MPI_COMM_WORLD, &early);
        MPI_Irecv(in[0], count, MPI_INT, right, i, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out[0], count, MPI_INT, left, i, MPI_COMM_WORLD, &requests[2]);
        if (i > 0)
            MPI_Send(out[1], 1 + i % 7, MPI_INT, right, iterations + i - 1, MPI_COMM_WORLD);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        sum += in[0][0] + in[2 - i % 2][0];
    }
    MPI_Send(out[1], 1, MPI_INT, right, 2 * iterations - 1, MPI_COMM_WORLD);
    MPI_Wait(&early, MPI_STATUS_IGNORE);
    return sum;
}

/* Message number N of an entry: to the neighbour whose it is, and from there. */
static void exchange(int entry, const int neighbours[2], int n, int *in, int *out,
                     MPI_Request *request, MPI_Request *sent)
{
    *out = n;
    MPI_Irecv(in, 1, MPI_INT, neighbours[entry % 2], 2 * PENDING * n + entry, MPI_COMM_WORLD,
              request);
    MPI_Isend(out, 1, MPI_INT, neighbours[entry % 2], 2 * PENDING * n + (entry ^ 1), MPI_COMM_WORLD,
              sent);
}

static long rolling(int left, int right)
{
    static int in[2 * PENDING], out[2 * PENDING];
    const int neighbours[2] = {left, right};
    MPI_Request requests[2 * PENDING], sent[2 * PENDING];
    long sum = 0;
    for (int first = 0; first < iterations; first += STEPS) {
        int done[2 * PENDING] = {0}, entry;
        for (int i = 0; i < 2 * PENDING; i++)
            exchange(i, neighbours, first, &in[i], &out[i], &requests[i], &sent[i]);
        for (int i = 0; i < 2 * PENDING * STEPS; i++) {
            MPI_Waitany(2 * PENDING, requests, &entry, MPI_STATUS_IGNORE);
            MPI_Wait(&sent[entry], MPI_STATUS_IGNORE);
            sum += in[entry];
            if (++done[entry] < STEPS)
                exchange(entry, neighbours, first + done[entry], &in[entry], &out[entry],
                         &requests[entry], &sent[entry]);
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    iterations = argc > 1 ? atoi(argv[1]) : iterations;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    long sum = argc > 2 && strcmp(argv[2], "rolling") == 0 ? rolling(left, right)
                                                           : by_iteration(left, right);
    long all = 0;
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("tagged: %ld\n", all);
    MPI_Finalize();
    return 0;
}
