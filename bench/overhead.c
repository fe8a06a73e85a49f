/* SPDX-License-Identifier: BSD-3-Clause */
/* overhead: process CPU time of MPI calls in tight loops on one rank. Prints a line "LOOP
 * NANOSECONDS" for each, per call.
 *
 *   overhead [-c] [-n THOUSANDS] [-p PROCESSOR] [-t THREADS]
 *
 * -c: CPU time of the calling thread alone, without that of Wend's thread. Between two loops this
 * gets 100 ms to catch up. A loop that is not printed comes first, so that its buffers are there.
 * -n: calls of the cheapest loop, in thousands (default 1000); the others make fewer. -p: from
 * MPI_Init on the calling thread stays on this processor; Wend's threads do not. -t: the loops
 * are made by so many threads at once, under MPI_THREAD_MULTIPLE, each on a communicator of its
 * own, or in the loops "shared" all on one with one tag; CPU time is of all together, calls too.
 * With -t 1 the process creates no thread.
 *
 * bench/overhead.py runs it with and without Wend and compares. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static clockid_t cpu_clock = CLOCK_PROCESS_CPUTIME_ID;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(cpu_clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Gives Wend's thread the time to catch up, if it is not measured. */
static void rest(void)
{
    if (cpu_clock == CLOCK_THREAD_CPUTIME_ID)
        usleep(100000);
}

static void report(const char *name, double began, long calls)
{
    printf("%s %.2f\n", name, (cpu_seconds() - began) / (double)calls * 1e9);
    rest();
}

/* -- several threads at once -- */

enum { MOST_THREADS = 16 };
typedef struct {
    MPI_Comm comm;
    long n;
} Work;

static void *ask_rank(void *argument)
{
    const Work *w = argument;
    for (int rank, i = 0; i < w->n; i++)
        MPI_Comm_rank(w->comm, &rank);
    return NULL;
}

static void *exchange(void *argument)
{
    const Work *w = argument;
    int in, out = 1;
    for (long i = 0; i < w->n / 4; i++) {
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, 0, 1, w->comm, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, 0, 1, w->comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

static void *receive_blocking(void *argument)
{
    const Work *w = argument;
    int in, out = 1;
    for (long i = 0; i < w->n / 4; i++) {
        MPI_Request request;
        MPI_Isend(&out, 1, MPI_INT, 0, 1, w->comm, &request);
        MPI_Recv(&in, 1, MPI_INT, 0, 1, w->comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void at_once(const char *name, void *(*loop)(void *), Work *work, int threads, long calls)
{
    pthread_t thread[MOST_THREADS];
    double began = cpu_seconds();
    for (int t = 0; t < threads && threads > 1; t++)
        pthread_create(&thread[t], NULL, loop, &work[t]);
    for (int t = 0; t < threads && threads > 1; t++)
        pthread_join(thread[t], NULL);
    if (threads == 1)
        loop(&work[0]);
    report(name, began, calls * threads);
}

static int with_threads(int threads, long n)
{
    Work work[MOST_THREADS];
    for (int t = 0; t < threads; t++) {
        MPI_Comm_dup(MPI_COMM_SELF, &work[t].comm);
        work[t].n = n;
    }
    at_once("comm_rank", ask_rank, work, threads, n);
    at_once("irecv_isend_waitall", exchange, work, threads, n / 4 * 3);
    at_once("isend_recv_wait", receive_blocking, work, threads, n / 4 * 3);
    for (int t = 1; t < threads; t++)
        work[t].comm = work[0].comm;
    at_once("isend_recv_wait_shared", receive_blocking, work, threads, n / 4 * 3);
    MPI_Finalize();
    return 0;
}

/* One after the other, no MPI: how fast the processor goes just now, which on a machine that others
 * use is anything. */
static void additions(long n)
{
    unsigned long sum = 0;
    for (long i = 0; i < n; i++) {
        sum++;
        __asm__ volatile("" : "+r"(sum)); /* not all at once */
    }
}

int main(int argc, char **argv)
{
    long n = 1000;
    int threads = 0, processor = -1, provided;
    for (int o; (o = getopt(argc, argv, "cn:p:t:")) != -1;) {
        if (o == 'c')
            cpu_clock = CLOCK_THREAD_CPUTIME_ID;
        else if (o == 'n')
            n = atol(optarg);
        else if (o == 'p')
            processor = atoi(optarg);
        else if (o == 't')
            threads = atoi(optarg);
        if (o == '?' || n < 1 || threads < 0 || threads > MOST_THREADS)
            return 2;
    }
    n *= 1000;
    if (threads > 0) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        return with_threads(threads, n);
    }
    MPI_Init(&argc, &argv);
    if (processor >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    int rank, flag, in = 0, out = 1;
    double began, x = 1, y;
    MPI_Request requests[2];

    for (long i = 0; i < n && cpu_clock == CLOCK_THREAD_CPUTIME_ID; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rest();

    began = cpu_seconds();
    additions(n * 10);
    report("ten_additions", began, n);

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
        MPI_Sendrecv(&out, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    report("sendrecv_random_tags", began, n / 4);

    /* sizes that hardly come again: every call is new */
    began = cpu_seconds();
    for (long i = 0; i < n / 4; i++) {
        random = random * 1664525u + 1013904223u;
        MPI_Send(&out, (int)(random >> 1), MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    }
    report("send_new", began, n / 4);
    MPI_Finalize();
    return 0;
}
