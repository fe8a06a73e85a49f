/* SPDX-License-Identifier: BSD-3-Clause */
/* finalize PATTERN [N]: what bench/finalize.py starts on many ranks: some communication, and then
 * the time that MPI_Finalize takes, by rank.
 *
 *   stencil   N iterations of a 2D stencil: few classes of ranks (default: 100)
 *   own       each rank's calls differ from the others' by more than ranks and sizes: as many
 *             classes as ranks (100)
 *   new       N calls that never repeat, the same on each rank (2,000)
 *   chance    N random calls of 1,500, which differ on each rank (6,000)
 *
 * Prints for each rank: rank, nanoseconds of MPI_Finalize in all, then of that until the merge
 * begins (who runs under Wend, a communicator), from there until the archive is there, then the
 * rank's own CPU time in MPI_Finalize. The tracer opens the library that merges, which gives the
 * archive its name by renameat2. Both calls come by this program. Without Wend these times are 0,
 * as is the second one on all ranks but 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, finalizing;
static long long began, merging, written;

static long long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Wend's references lead here: the program comes first. */
void *dlopen(const char *path, int flags)
{
    static void *(*real)(const char *, int);
    if (!real)
        real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    if (finalizing && !merging && path && strstr(path, "libwendmerge"))
        merging = now(CLOCK_MONOTONIC);
    return real(path, flags);
}

static void note_renamed(int rc)
{
    if (finalizing && rc == 0)
        written = now(CLOCK_MONOTONIC);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    static int (*real)(int, const char *, int, const char *);
    if (!real)
        real = (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
    int rc = real(from_dir, from, to_dir, to);
    note_renamed(rc);
    return rc;
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    static int (*real)(int, const char *, int, const char *, unsigned);
    if (!real)
        real =
            (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2");
    int rc = real(from_dir, from, to_dir, to, flags);
    note_renamed(rc);
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

static unsigned draw(unsigned *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 16;
}

/* What a rank calls comes again, as where a solver has its own neighbours on each level. */
static void chance(int calls)
{
    enum { KINDS = 1500, MOST = 64 };
    unsigned random = 2654435761u * (unsigned)(rank + 1), kinds[KINDS];
    int value[MOST] = {0}, got[MOST];
    for (int k = 0; k < KINDS; k++)
        kinds[k] = draw(&random);
    for (int i = 0; i < calls; i++) {
        unsigned kind = kinds[draw(&random) % KINDS];
        int n = (int)kind % MOST, tag = (int)kind / MOST;
        if (kind % 4 > 1)
            MPI_Sendrecv(value, n, MPI_INT, 0, tag, got, n, MPI_INT, 0, tag, MPI_COMM_SELF,
                         MPI_STATUS_IGNORE);
        else if (kind % 4)
            MPI_Sendrecv_replace(value, n, MPI_INT, 0, tag, 0, tag, MPI_COMM_SELF,
                                 MPI_STATUS_IGNORE);
        else
            MPI_Allreduce(value, got, n, MPI_INT, MPI_SUM, MPI_COMM_SELF);
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
    else if (strcmp(pattern, "chance") == 0)
        chance(n > 0 ? n : 6000);
    else
        new (n > 0 ? n : 2000);
    MPI_Barrier(MPI_COMM_WORLD);
    finalizing = 1;
    began = now(CLOCK_MONOTONIC);
    long long used = now(CLOCK_PROCESS_CPUTIME_ID);
    MPI_Finalize();
    long long end = now(CLOCK_MONOTONIC);
    used = now(CLOCK_PROCESS_CPUTIME_ID) - used;
    printf("%d %lld %lld %lld %lld\n", rank, end - began, merging ? merging - began : 0,
           written ? written - merging : 0, used);
    return 0;
}
