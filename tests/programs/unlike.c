/* SPDX-License-Identifier: BSD-3-Clause */
/* unlike [CYCLES]: an exchange over levels of a matrix without structure, as algebraic multigrid
 * has it: on each level other partners, sizes and numbers of them on each rank. Ranks also meet in
 * communicators: of odd and of even ranks, and of each rank with the one as far from the other end.
 * Rank 0 prints what came of it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 5, SIZE = 64, PARTNERS_MAX = 64 };

static unsigned next(unsigned *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 8;
}

static double in[PARTNERS_MAX][SIZE], out[SIZE];

/* All ranks draw the same pairs, and take part in those that they are in. */
static void exchange(int rank, int size, int level)
{
    MPI_Request requests[2 * PARTNERS_MAX];
    int n = 0, partners = 0;
    unsigned random = (unsigned)level + 1;
    for (int pair = 0; pair < 3 * size && partners < PARTNERS_MAX; pair++) {
        int a = (int)(next(&random) % (unsigned)size), b = (int)(next(&random) % (unsigned)size),
            count = 1 + (int)(next(&random) % SIZE), tag = 3 * size * level + pair;
        if (a == b || (rank != a && rank != b))
            continue;
        int other = rank == a ? b : a;
        MPI_Irecv(in[partners++], count, MPI_DOUBLE, level % 2 ? MPI_ANY_SOURCE : other, tag,
                  MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(out, count, MPI_DOUBLE, other, tag, MPI_COMM_WORLD, &requests[n++]);
        if (count % 3 == 0) {
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
            n = 0;
        }
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < partners; i++)
        out[0] += in[i][0] / 64;
}

int main(int argc, char **argv)
{
    int rank, size, cycles = argc > 1 ? atoi(argv[1]) : 3;
    MPI_Comm alike, ends;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &alike);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size - 1 - rank ? rank : size - 1 - rank, rank, &ends);
    out[0] = rank;
    for (int cycle = 0; cycle < cycles; cycle++) {
        double sum;
        for (int level = 0; level < LEVELS; level++)
            exchange(rank, size, level);
        MPI_Allreduce(out, &sum, 1, MPI_DOUBLE, MPI_SUM, alike);
        MPI_Allreduce(&sum, out, 1, MPI_DOUBLE, MPI_MAX, ends);
    }
    MPI_Comm_free(&alike);
    MPI_Comm_free(&ends);
    if (rank == 0)
        printf("%.10g\n", out[0]);
    MPI_Finalize();
    return 0;
}
