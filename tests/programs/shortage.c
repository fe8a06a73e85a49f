/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage [CALLS]: calls of several kinds on each rank, some of which are others on each, for a
 * merge that has something of everything to do. Says before MPI_Finalize that memory may be
 * short from there on
 * (tests/support/shortage.c), and prints afterwards what came of all. The exit status is 3. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) void shortage_begins(void);

static int rank, size;

static long ring(int calls, int step)
{
    long sum = 0;
    for (int i = 0; i < calls; i++) {
        int out[16] = {rank * step + i}, in[16] = {0}, count = 1 + i * step % 16;
        MPI_Sendrecv(out, count, MPI_INT, (rank + 1) % size, i % 7, in, 16, MPI_INT,
                     (rank + size - 1) % size, i % 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in[0];
    }
    return sum;
}

/* Everybody else sends to rank 0, which asks each. */
static long collect(int calls)
{
    long sum = 0;
    for (int i = 0; i < calls; i++) {
        int n = rank * calls + i, flag = 0;
        MPI_Status status;
        if (rank > 0) {
            MPI_Send(&n, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
            continue;
        }
        for (int from = 1; from < size; from++) {
            while (!flag)
                MPI_Iprobe(from, i, MPI_COMM_WORLD, &flag, &status);
            flag = 0;
            MPI_Recv(&n, 1, MPI_INT, status.MPI_SOURCE, i, MPI_COMM_WORLD, &status);
            sum += n;
        }
    }
    return sum;
}

/* Sizes that no other rank has, and never again: values that are streams. */
static long alone(int calls)
{
    static char data[4096];
    unsigned random = (unsigned)rank + 1;
    long sum = 0;
    for (int i = 0; i < calls; i++) {
        random = random * 1664525u + 1013904223u;
        int n = (int)(random >> 8) % (int)sizeof data;
        MPI_Sendrecv(data, n, MPI_CHAR, rank, n, data, (int)sizeof data, MPI_CHAR, rank, n,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += MPI_Wtime() < 0 ? 0 : n; /* a value that wend trace --values records */
    }
    return sum;
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 200;
    long sums[3], all[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sums[0] = ring(calls, rank % 2 ? 3 : 5);
    sums[1] = collect(calls / 10);
    sums[2] = alone(calls);
    MPI_Reduce(sums, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (shortage_begins)
        shortage_begins();
    MPI_Finalize();
    if (rank == 0)
        printf("%ld %ld %ld\n", all[0], all[1], all[2]);
    return 3;
}
