/* SPDX-License-Identifier: BSD-3-Clause */
/* interleaved [THREADS [TURNS [alone]]]: MPI_THREAD_MULTIPLE; threads that are started at once and
 * make, use and free objects and memory of every kind without waiting for each other, each with the
 * thread of the same number on the other ranks. Which of them comes first is different in every
 * run. "alone": each is joined before the next is started. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8, N = 8 };
static int rank, size, threads = 4, turns = 10;
static MPI_Comm comms[MOST];
static int in_static[MOST][N];
static int (*in_heap)[N], (*on_stack)[N]; /* each thread's part of what the main thread has */

#define CHECK(good) check(good, __LINE__)
static void check(int good, int line)
{
    if (good)
        return;
    fprintf(stderr, "interleaved: line %d\n", line);
    MPI_Abort(MPI_COMM_WORLD, 5);
}

/* Now and then, differently in each run. */
static void stumble(unsigned *random)
{
    switch (rand_r(random) % 8) {
    case 0:
        sched_yield();
        break;
    case 1:
        usleep(rand_r(random) % 300);
        break;
    default:
        break;
    }
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void ring(MPI_Comm comm, int *out, int *in)
{
    MPI_Request requests[2];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Irecv(in, N, MPI_INT, left, 1, comm, &requests[0]);
    MPI_Isend(out, N, MPI_INT, right, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == left);
}

static void *run(void *argument)
{
    int me = (int)(long)argument, here[N] = {rank};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned random = (unsigned)now.tv_nsec * 31u + (unsigned)me;
    stumble(&random);
    for (int i = 0; i < turns + me; i++) {
        int *mine = malloc(sizeof(int[N])), *other = malloc(sizeof(int[N]) * (size_t)(1 + me)),
            *from_mpi, sum;
        MPI_Comm comm;
        MPI_Datatype row;
        MPI_Op op;
        MPI_Info info;
        MPI_Group group;
        mine[0] = rank;
        ring(comms[me], mine, other);
        stumble(&random);
        in_static[me][0] = in_heap[me][0] = on_stack[me][0] = rank;
        ring(comms[me], in_static[me], other);
        ring(comms[me], in_heap[me], here);
        here[0] = rank;
        stumble(&random);
        ring(comms[me], on_stack[me], in_heap[me]);
        free(mine);
        MPI_Comm_dup(comms[me], &comm);
        MPI_Comm_group(comm, &group);
        stumble(&random);
        MPI_Type_contiguous(N, MPI_INT, &row);
        MPI_Type_commit(&row);
        MPI_Op_create(add, 1, &op);
        MPI_Info_create(&info);
        other[0] = me;
        MPI_Allreduce(other, &sum, 1, MPI_INT, op, comm);
        CHECK(sum == me * size);
        stumble(&random);
        if (i % 4 == 0) {
            MPI_Alloc_mem(sizeof(int[N]), info, &from_mpi);
            from_mpi[0] = rank;
            ring(comm, from_mpi, here);
            MPI_Free_mem(from_mpi);
        }
        MPI_Bcast(other, 1, row, 0, comm);
        MPI_Type_free(&row);
        stumble(&random);
        MPI_Op_free(&op);
        MPI_Info_free(&info);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
        free(other);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, parts[MOST][N] = {{0}};
    pthread_t thread[MOST];
    if (argc > 1)
        threads = atoi(argv[1]);
    if (argc > 2)
        turns = atoi(argv[2]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE && threads >= 1 && threads <= MOST);
    in_heap = malloc(sizeof(int[MOST][N]));
    on_stack = parts;
    MPI_Bcast(in_heap, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int t = 0; t < threads; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (long t = 0; t < threads; t++) {
        pthread_create(&thread[t], NULL, run, (void *)t);
        if (argc > 3)
            pthread_join(thread[t], NULL);
    }
    for (int t = 0; t < threads && argc <= 3; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&comms[t]);
    free(in_heap);
    if (rank == 0)
        printf("interleaved: %d ranks, %d threads\n", size, threads);
    MPI_Finalize();
    return 0;
}
