/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped: memory that the program maps by itself. In between it makes mappings that differ in each
 * run, and that the kernel joins with others or not. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { N = 12, PAGE = 4096, BYTES = 64 << 10, FIBERS = 5 };

static int rank, partner;
static unsigned random_state;

static unsigned draw(unsigned n)
{
    random_state = random_state * 1103515245u + 12345u;
    return (random_state >> 16) % n;
}

static char *map_at(void *where, size_t bytes, int protection, int flags)
{
    char *p = mmap(where, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (p == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

static char *map(size_t bytes)
{
    for (unsigned i = draw(4); i > 0; i--) /* neither used nor freed */
        map_at(NULL, PAGE * (1 + draw(3)), PROT_READ | PROT_WRITE, 0);
    return map_at(NULL, bytes, PROT_READ | PROT_WRITE, 0);
}

static void pass(char *p, int n)
{
    MPI_Sendrecv_replace(p, n, MPI_CHAR, partner, 1, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Side by side; then every second one is replaced. */
static void side_by_side(void)
{
    char *p[N];
    for (int i = 0; i < N; i++)
        p[i] = map(BYTES);
    for (int i = 0; i < N; i++)
        pass(p[i], 1000 + i);
    for (int i = 0; i < N; i += 2)
        munmap(p[i], BYTES);
    for (int i = 0; i < N; i += 2)
        p[i] = map(2 * BYTES);
    for (int i = N - 1; i >= 0; i--)
        pass(p[i], 2000 + i);
    for (int i = 0; i < N; i++)
        munmap(p[i], BYTES * (i % 2 ? 1 : 2));
}

/* Memory for one message at a time. */
static void again_and_again(void)
{
    for (int i = 0; i < 50; i++) {
        char *p = map(BYTES);
        pass(p + PAGE, 500);
        munmap(p, BYTES);
    }
}

/* As allocators do: ends are cut off, a piece is filled bit by bit, another one grows. */
static void allocators(void)
{
    char *p = map(4 * BYTES);
    uintptr_t aligned = ((uintptr_t)p + BYTES - 1) / BYTES * BYTES;
    char *piece = p + (aligned - (uintptr_t)p), *end = piece + 2 * BYTES;
    if (piece > p)
        munmap(p, (size_t)(piece - p));
    munmap(end, (size_t)(p + 4 * BYTES - end));
    pass(piece + 100, 100);
    char *large = map_at(NULL, 4 * BYTES, PROT_NONE, MAP_NORESERVE);
    for (int i = 0; i < 4; i++) {
        map_at(large + (size_t)i * BYTES, BYTES, PROT_READ | PROT_WRITE, MAP_FIXED);
        pass(large + (size_t)i * BYTES, 200);
    }
    char *grown = map(BYTES);
    pass(grown, 300);
    grown = mremap(grown, BYTES, 16 * BYTES, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    pass(grown + 15 * BYTES, 300);
    munmap(piece, 2 * BYTES);
    munmap(large, 4 * BYTES);
    munmap(grown, 16 * BYTES);
}

static ucontext_t home, fibers[FIBERS];

static void fiber(void)
{
    char array[3000];
    memset(array, rank, sizeof array);
    pass(array, (int)sizeof array);
}

static void stacks(void)
{
    char *p[FIBERS];
    for (int i = 0; i < FIBERS; i++) {
        p[i] = map(BYTES);
        mprotect(p[i], PAGE, PROT_NONE);
        getcontext(&fibers[i]);
        fibers[i].uc_stack.ss_sp = p[i];
        fibers[i].uc_stack.ss_size = BYTES;
        fibers[i].uc_link = &home;
        makecontext(&fibers[i], fiber, 0);
    }
    for (int i = 0; i < FIBERS; i++)
        swapcontext(&home, &fibers[i]);
    for (int i = 0; i < FIBERS; i++)
        munmap(p[i], BYTES);
}

static void *unmap(void *p)
{
    munmap(p, BYTES);
    return NULL;
}

/* Another thread than the one that used it ends each mapping, up to LATE mappings later. */
static void threads(void)
{
    enum { LATE = 8 };
    pthread_t ending[2 * N];
    for (int i = 0; i < 2 * N + LATE; i++) {
        if (i >= LATE)
            pthread_join(ending[i - LATE], NULL);
        if (i >= 2 * N)
            continue;
        char *p = map(BYTES);
        pass(p, 10);
        if (pthread_create(&ending[i], NULL, unmap, p) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = rank ^ 1;
    random_state = (unsigned)getpid();
    side_by_side();
    again_and_again();
    allocators();
    stacks();
    threads();
    MPI_Finalize();
    return 0;
}
