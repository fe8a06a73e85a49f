/* overhead: process CPU time of MPI calls in tight loops on one rank. Prints a line "LOOP NANOSECONDS" for each, per call.
 *
 *   overhead [-n THOUSANDS]        calls of the cheapest loop, in thousands (default 1000); the others make fewer
 *
 * bench/overhead.py runs it with and without Wend and compares. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const char *name, double began, long calls)
{
    printf("%s %.2f\n", name, (cpu_seconds() - began) / (double)calls * 1e9);
}

int main(int argc, char **argv)
{
    long n = 1000;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "n:")) != -1;) {
        if (o != 'n' || (n = atol(optarg)) < 1)
            return 2;
    }
    n *= 1000;
    int rank, flag, in = 0, out = 1;
    double began, x = 1, y;
    MPI_Request requests[2];

    began = cpu_seconds();
    for (long i = 0; i < n; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    report("comm_rank", began, n);

    MPI_Irecv(&in, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, &requests[0]);
    began = cpu_seconds();
    for (long i = 0; i < n; i++)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    report("test_pending", began, n);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    began = cpu_seconds();
    for (long i = 0; i < n / 4; i++) {
        MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    report("irecv_isend_waitall", began, n / 4 * 3);

    began = cpu_seconds();
    for (long i = 0; i < n / 2; i++)
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    report("allreduce", began, n / 2);

    /* what no loop has: 16 tags in an order without a pattern */
    unsigned random = 1;
    began = cpu_seconds();
    for (long i = 0; i < n / 4; i++) {
        random = random * 1664525u + 1013904223u;
        int tag = (int)(random >> 28);
        MPI_Sendrecv(&out, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    report("sendrecv_random_tags", began, n / 4);
    MPI_Finalize();
    return 0;
}
