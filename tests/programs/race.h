/* SPDX-License-Identifier: BSD-3-Clause */
/* race.h: what race, race_grid and race_requests share: programs whose outcomes the network and the
 * scheduler decide, for replay. Each part goes on as it was answered, and mixes what it got, in
 * order, into a hash. Rank 0 prints the hash of all ranks. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGES = 20, POOL = 4 };

static int rank, size;
static uint64_t hash = 1469598103934665603u;
static unsigned seed;

static void mix(long value)
{
    hash = (hash ^ (uint64_t)value) * 1099511628211u; /* FNV-1a, by words */
}

/* Short, and by the clock: unless NO_NAPS is set, runs differ without noise, too. */
static void nap(void)
{
    if (getenv("NO_NAPS"))
        return;
    if (rand_r(&seed) % 3 == 0)
        usleep((useconds_t)(rand_r(&seed) % 300));
}

/* Each rank but 0 sends to it. */
static inline void send_all(int tag, int tags)
{
    for (int i = 0; i < MESSAGES; i++) {
        int v = rank * 1000 + i;
        nap();
        MPI_Send(&v, 1, MPI_INT, 0, tag + i % tags, MPI_COMM_WORLD);
    }
}

typedef struct {
    const char *name;
    void (*run)(void); /* NULL if the MPI library lacks what the part needs */
} Part;

/* Exit statuses of a run that names a part that does not exist, or that the MPI library lacks. */
enum { NO_SUCH_PART = 2, LACKING_PART = 77 };

/* 0, or the exit status if one of the arguments names a part that cannot run. */
static int check_parts(int argc, char **argv, const Part *parts, size_t n)
{
    for (int i = 1; i < argc; i++) {
        size_t p = 0;
        while (p < n && strcmp(argv[i], parts[p].name) != 0)
            p++;
        if (p < n && parts[p].run)
            continue;
        fprintf(stderr, "%s: %s\n", argv[i],
                p < n ? "the MPI library lacks what this part needs" : "no such part");
        return p < n ? LACKING_PART : NO_SUCH_PART;
    }
    return 0;
}

/* Runs all N parts, or those that the arguments name. */
static int race(int argc, char **argv, const Part *parts, size_t n)
{
    struct timespec now;
    uint64_t all[64] = {0}, result = 0;
    int status = check_parts(argc, argv, parts, n);
    if (status != 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    clock_gettime(CLOCK_REALTIME, &now);
    seed = (unsigned)now.tv_nsec + (unsigned)rank;
    for (size_t p = 0; p < n; p++) {
        int wanted = argc == 1;
        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], parts[p].name) == 0;
        if (!wanted || !parts[p].run)
            continue;
        parts[p].run();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size && i < 64; i++)
        result = (result ^ all[i]) * 1099511628211u;
    if (rank == 0)
        printf("%016llx\n", (unsigned long long)result);
    MPI_Finalize();
    return 0;
}
