/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c: what a value of a clock costs. Usage: values CALLS. Prints nanoseconds a call: of
 * MPI_Wtime and of clock_gettime in a loop, and of MPI_Wtime around barriers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double wtime(long calls)
{
    double start = MPI_Wtime(), sum = 0;
    for (long i = 0; i < calls; i++)
        sum += MPI_Wtime();
    return sum == 0 ? 0 : MPI_Wtime() - start;
}

static double gettime(long calls)
{
    struct timespec t;
    double start = MPI_Wtime();
    for (long i = 0; i < calls; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
    return MPI_Wtime() - start;
}

/* As miniAMR does: the time before and after each phase. */
static double around(long calls)
{
    double start = MPI_Wtime(), sum = 0;
    volatile double work = 1;
    for (long i = 0; i < calls / 2; i++) {
        double before = MPI_Wtime();
        for (long k = 0; k < i % 50; k++)
            work = work * 1.0001;
        MPI_Barrier(MPI_COMM_SELF);
        sum += MPI_Wtime() - before;
    }
    return sum < 0 ? 0 : MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 1000000;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double ns = 1e9 / (double)calls;
    double times[] = {wtime(calls) * ns, gettime(calls) * ns, around(calls) * ns};
    if (rank == 0)
        printf("%.1f %.1f %.1f\n", times[0], times[1], times[2]);
    MPI_Finalize();
    return 0;
}
