/* SPDX-License-Identifier: BSD-3-Clause */
/* malloc: nanoseconds for free+malloc, glibc alone and with the tracer's bitmap in front, and for
 * finding a buffer's segment.
 *
 * Both are in one process: the tracer's memory files are linked in, glibc's own functions have
 * names of their own (__libc_malloc). Rounds take turns, and medians over rounds are given, also of
 * difference and ratio, because other load changes from second to second. Process CPU time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/tracer/memory/address.h"

void *__libc_malloc(size_t);
void __libc_free(void *);

enum { ROUNDS = 15, MAX_BLOCKS = 100000 };

typedef struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
} Allocator;
static const Allocator plain = {__libc_malloc, __libc_free}, wend = {malloc, free};

static uint64_t seed = 88172645463325252u;
static inline uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Replaces random blocks of a set, as a program in its middle does. */
static double churn(const Allocator *a, size_t blocks, size_t times)
{
    void **block = __libc_malloc(blocks * sizeof *block);
    if (!block)
        exit(4);
    for (size_t i = 0; i < blocks; i++) {
        block[i] = a->malloc(16 + next() % 4081);
        *(char *)block[i] = 1;
    }
    double each = 0;
    for (int warm = 1; warm >= 0; warm--) {
        double start = now();
        for (size_t k = 0; k < times; k++) {
            uint64_t r = next();
            size_t i = (r >> 20) % blocks;
            a->free(block[i]);
            block[i] = a->malloc(16 + (r & 0xfffff) % 4081);
        }
        each = (now() - start) / (double)times;
    }
    for (size_t i = 0; i < blocks; i++)
        a->free(block[i]);
    __libc_free(block);
    return each;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return v[n / 2];
}

static void compare(const char *threads, size_t blocks, size_t times, size_t rounds)
{
    double p[ROUNDS], w[ROUNDS], more[ROUNDS], ratio[ROUNDS];
    /* memory that nobody has touched is slower, on a virtual machine even where it is touched
     * again */
    churn(&wend, blocks, 1);
    for (size_t i = 0; i < rounds; i++) {
        for (size_t k = 0; k < 2; k++) {
            if ((i + k) % 2)
                p[i] = churn(&plain, blocks, times);
            else
                w[i] = churn(&wend, blocks, times);
        }
        more[i] = w[i] - p[i];
        ratio[i] = w[i] / p[i];
    }
    printf(
        "free+malloc, %6zu live, %-8s  glibc %6.1f ns   with wend %6.1f ns   %+6.1f ns   x %.2f\n",
        blocks, threads, median(p, rounds), median(w, rounds), median(more, rounds),
        median(ratio, rounds));
}

static void lookups(void)
{
    enum { BUFFERS = 8, TIMES = 1000000, LARGE = 1 << 30 };
    static void *ballast[MAX_BLOCKS];
    char *buffer[BUFFERS], *large = malloc(LARGE);
    for (size_t i = 0; i < MAX_BLOCKS; i++)
        ballast[i] = malloc(16 + next() % 4081);
    for (size_t i = 0; i < BUFFERS; i++)
        buffer[i] = malloc(5000);
    volatile int64_t sink = 0;
    double start = now();
    for (size_t k = 0; k < TIMES; k++)
        sink += memory_where(buffer[k % BUFFERS] + 8).offset;
    printf("segment of one of %d buffers in turn                  %8.1f ns\n", BUFFERS,
           (now() - start) / TIMES);
    start = now();
    for (size_t k = 0; k < TIMES; k++)
        sink += memory_where(ballast[k * 7 % MAX_BLOCKS]).offset;
    printf("segment of one of %d blocks                      %8.1f ns\n", MAX_BLOCKS,
           (now() - start) / TIMES);
    start = now();
    for (size_t k = 0; k < TIMES; k++) {
        char *p = malloc(1000);
        sink += memory_where(p).offset;
        free(p);
    }
    printf("malloc, segment, free                                %8.1f ns\n",
           (now() - start) / TIMES);
    start = now();
    for (size_t k = 0; k < TIMES; k++)
        sink +=
            memory_where(k % 2 ? large + next() % LARGE : (char *)ballast[k % MAX_BLOCKS]).offset;
    printf("any place in 1 GiB, or one of %d blocks, in turn %8.1f ns\n", MAX_BLOCKS,
           (now() - start) / TIMES);
    for (size_t i = 0; i < MAX_BLOCKS; i++)
        free(ballast[i]);
    for (size_t i = 0; i < BUFFERS; i++)
        free(buffer[i]);
    free(large);
}

static void *nothing(void *arg)
{
    return arg;
}

int main(int argc, char **argv)
{
    size_t times = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000,
           blocks = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    size_t rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : ROUNDS;
    if (times == 0 || rounds == 0 || rounds > ROUNDS || (argc > 2 && blocks == 0)) {
        fprintf(stderr,
                "usage: %s [OPERATIONS [LIVE_BLOCKS [ROUNDS]]]: 2 KB of memory for each block\n",
                argv[0]);
        return 2;
    }
    if (blocks) {
        compare("1 thread", blocks, times, rounds);
        return 0;
    }
    compare("1 thread", 1000, times, rounds);
    compare("1 thread", MAX_BLOCKS, times, rounds);
    lookups();
    pthread_t t;
    if (pthread_create(&t, NULL, nothing, NULL) == 0)
        pthread_join(t, NULL);
    compare("threads", 1000, times, rounds);
    compare("threads", MAX_BLOCKS, times, rounds);
    lookups();
    return 0;
}
