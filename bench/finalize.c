/* SPDX-License-Identifier: BSD-3-Clause */
/* finalize PATTERN [N]: what bench/finalize.py starts on many ranks: some communication, and then
 * the time that MPI_Finalize takes, by rank.
 *
 *   stencil   N iterations of a 2D stencil: few classes of ranks (default: 100)
 *   own       each rank's calls differ from the others' by more than ranks and sizes: as many
 *             classes as ranks (100)
 *   new       N calls that never repeat, the same on each rank (2,000)
 *
 * Prints for each rank: rank, nanoseconds of MPI_Finalize in all, then of that until the merge
 * begins (who runs under Wend, a communicator), from there until rank 0 has what the last rank
 * sent, from there until the archive is written. Where the merge begins and ends is told by Wend's
 * own calls of PMPI_Bcast, which come by this program; they are 0 without Wend. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, finalizing, broadcasts;
static long long began, merging, received, written;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Wend's references lead here: the program comes first. The first broadcast says that there will be
 * a recording, the second that it is written. */
int PMPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    static int (*real)(void *, int, MPI_Datatype, int, MPI_Comm);
    if (!real)
        real = (int (*)(void *, int, MPI_Datatype, int, MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Bcast");
    if (finalizing && broadcasts == 1)
        written = now();
    int rc = real(data, n, type, root, comm);
    if (finalizing && broadcasts++ == 0)
        merging = received = now();
    return rc;
}

int PMPI_Recv(void *data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    static int (*real)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    if (!real)
        real = (int (*)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *))dlsym(
            RTLD_NEXT, "PMPI_Recv");
    int rc = real(data, n, type, source, tag, comm, status);
    if (finalizing)
        received = now();
    return rc;
}

static void stencil(int iterations)
{
    enum { CELLS = 64 };
    static double out[4][CELLS], in[4][CELLS];
    MPI_Comm grid;
    MPI_Request requests[8];
    int dims[2] = {0, 0}, periods[2] = {0, 0}, neighbours[4];
    double residual = 0, sum;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
    MPI_Cart_shift(grid, 1, 1, &neighbours[2], &neighbours[3]);
    for (int i = 0; i < iterations; i++) {
        for (int k = 0; k < 4; k++) {
            MPI_Irecv(in[k], CELLS, MPI_DOUBLE, neighbours[k], 0, grid, &requests[k]);
            MPI_Isend(out[k], CELLS, MPI_DOUBLE, neighbours[k], 0, grid, &requests[4 + k]);
        }
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        if (i % 10 == 9)
            MPI_Allreduce(&residual, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    MPI_Comm_free(&grid);
}

static void own(int iterations)
{
    int value = 0;
    for (int i = 0; i < iterations; i++)
        for (int k = 0; k <= rank; k++) /* another program on each rank: another grammar */
            MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, k, 0, k, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void new (int calls)
{
    unsigned random = 1;
    int value = 0;
    for (int i = 0; i < calls; i++) {
        random = random * 1664525u + 1013904223u;
        int tag = (int)(random >> 18);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, tag, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *pattern = argc > 1 ? argv[1] : "stencil";
    int n = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(pattern, "stencil") == 0)
        stencil(n > 0 ? n : 100);
    else if (strcmp(pattern, "own") == 0)
        own(n > 0 ? n : 100);
    else
        new (n > 0 ? n : 2000);
    MPI_Barrier(MPI_COMM_WORLD);
    finalizing = 1;
    began = now();
    MPI_Finalize();
    long long end = now();
    printf("%d %lld %lld %lld %lld\n", rank, end - began, merging ? merging - began : 0,
           received - merging, written ? written - received : 0);
    return 0;
}
