/* SPDX-License-Identifier: BSD-3-Clause */
/* tsan: the recorder under ThreadSanitizer, with four threads calling at once ("make check-tsan").
 * MPI is not instrumented, so a few functions of the tests' own stand for it: they hand out handle
 * values that come again at once, and check that no thread holds a mutex of the recorder's while it
 * is in MPI. (A turn's lock is none: turns.h.) The rest of the library is linked and never called,
 * MPI_Init neither. */
#include <dlfcn.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/tracer/memory/heap-blocks.h"
#include "src/tracer/objects/objects.h"
#include "src/tracer/process/process.h"

enum { THREADS = 4, TURNS = 2000, VALUES = 64 };

/* -- locks: a thread that is in MPI holds none -- */

static __thread int held;
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    held++;
    return __real_pthread_mutex_lock(m);
}
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    held--;
    return __real_pthread_mutex_unlock(m);
}

static void in_mpi(void)
{
    if (held == 0)
        return;
    fprintf(stderr, "tsan: MPI is called with a lock held\n");
    abort();
}

/* -- the library -- */

static _Atomic bool taken[VALUES];
static int value_take(void)
{
    for (int i = 0;; i = (i + 1) % VALUES)
        if (!atomic_exchange(&taken[i], true))
            return i;
}
static int value_give(int handle)
{
    in_mpi();
    atomic_store(&taken[handle & 0xffff], false);
    return MPI_SUCCESS;
}
#define NEW(kind, result) (in_mpi(), *(result) = (kind) + value_take(), MPI_SUCCESS)
#define SET(p, x) (in_mpi(), *(p) = (x), MPI_SUCCESS)

int PMPI_Error_class(int code, int *class)
{
    return SET(class, code);
}
int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    return SET(size, 4);
}
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    return SET(rank, 1);
}
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    (void)comm;
    return SET(group, MPI_GROUP_NULL);
}
int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    (void)comm;
    return SET(flag, 0);
}
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *new)
{
    (void)comm;
    return NEW(0x44010000, new);
}
int PMPI_Comm_free(MPI_Comm *comm)
{
    int was = *comm;
    *comm = MPI_COMM_NULL;
    return value_give(was);
}
int PMPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    (void)type;
    return SET(size, 4);
}
int PMPI_Type_get_extent_x(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    (void)type;
    *lb = 0;
    return SET(extent, 4);
}
int PMPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    (void)type;
    *lb = 0;
    return SET(extent, 4);
}
int PMPI_Type_contiguous(int n, MPI_Datatype old, MPI_Datatype *new)
{
    (void)n, (void)old;
    return NEW((MPI_Datatype)0x4d010000, new);
}
int PMPI_Type_commit(MPI_Datatype *type)
{
    (void)type;
    in_mpi();
    return MPI_SUCCESS;
}
int PMPI_Type_free(MPI_Datatype *type)
{
    int was = (int)*type;
    *type = MPI_DATATYPE_NULL;
    return value_give(was);
}
int PMPI_Op_create(MPI_User_function *f, int commute, MPI_Op *op)
{
    (void)f, (void)commute;
    return NEW(0x19010000, op);
}
int PMPI_Op_free(MPI_Op *op)
{
    int was = *op;
    *op = MPI_OP_NULL;
    return value_give(was);
}
int PMPI_Isend(const void *buf, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c,
               MPI_Request *r)
{
    (void)buf, (void)n, (void)t, (void)dest, (void)tag, (void)c;
    return NEW((MPI_Request)0x2c010000, r);
}
int PMPI_Irecv(void *buf, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request *r)
{
    (void)buf, (void)n, (void)t, (void)source, (void)tag, (void)c;
    return NEW((MPI_Request)0x2c010000, r);
}
int PMPI_Send(const void *buf, int n, MPI_Datatype t, int dest, int tag, MPI_Comm c)
{
    (void)buf, (void)n, (void)t, (void)dest, (void)tag, (void)c;
    in_mpi();
    return MPI_SUCCESS;
}

static int complete(MPI_Request *r, MPI_Status *s)
{
    if (*r != MPI_REQUEST_NULL)
        value_give((int)*r);
    *r = MPI_REQUEST_NULL;
    if (s)
        *s = (MPI_Status){.MPI_SOURCE = 0};
    return MPI_SUCCESS;
}
int PMPI_Wait(MPI_Request *r, MPI_Status *s)
{
    return complete(r, s == MPI_STATUS_IGNORE ? NULL : s);
}
int PMPI_Waitall(int n, MPI_Request *r, MPI_Status *s)
{
    in_mpi();
    for (int i = 0; i < n; i++)
        complete(&r[i], s == MPI_STATUSES_IGNORE ? NULL : &s[i]);
    return MPI_SUCCESS;
}
int PMPI_Test(MPI_Request *r, int *flag, MPI_Status *s)
{
    static __thread unsigned random = 1;
    in_mpi();
    *flag = rand_r(&random) % 2;
    return *flag ? complete(r, s == MPI_STATUS_IGNORE ? NULL : s) : MPI_SUCCESS;
}

/* -- memory: malloc is ThreadSanitizer's, so the test says what malloc.c would -- */

static void *block(size_t n)
{
    void *p = malloc(n);
    heap_blocks_mark((uintptr_t)p);
    return p;
}

static void block_free(void *p)
{
    if (heap_blocks_unmark((uintptr_t)p))
        segment_end(segment_detach((uintptr_t)p));
    free(p);
}

/* -- the application -- */

static int in_common[THREADS];
static _Atomic(void *) handed[THREADS];
typedef struct {
    MPI_Request request;
    int *data;
} Handed;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

static void *run(void *argument)
{
    int me = (int)(long)argument, here = 0;
    for (int i = 0; i < TURNS; i++) {
        MPI_Request r[2];
        MPI_Comm comm;
        MPI_Datatype type;
        MPI_Op op;
        int rank, flag, *data = block(100);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Send(&in_common[me], 1, MPI_INT, i % 3, me, MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Type_contiguous(1 + i % 5, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Op_create(add, 1, &op);
        MPI_Irecv(data, 1, type, MPI_ANY_SOURCE, 3, comm, &r[0]);
        MPI_Isend(&here, 1, type, 0, 3, comm, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Irecv(data, 1, type, 2, 3, comm, &r[0]);
        do
            MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
        while (!flag);
        block_free(data);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
        MPI_Comm_free(&comm);
        /* Another thread completes it and frees its memory. */
        Handed *h = malloc(sizeof *h);
        h->data = block(64);
        MPI_Isend(h->data, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &h->request);
        if ((h = atomic_exchange(&handed[(me + i) % THREADS], h))) {
            MPI_Wait(&h->request, MPI_STATUS_IGNORE);
            block_free(h->data);
            free(h);
        }
    }
    return NULL;
}

int main(void)
{
    heap_blocks_sizes(malloc_usable_size);
    pthread_t threads[THREADS];
    int rank;
    atomic_store(&state()->active, true);
    atomic_store(&state()->recording, true);
    state()->thread_level = MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    comm_open_world();
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, run, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    unsigned n = 0, orders = 0;
    for (const CallSequence *q = state()->sequences; q; q = q->next)
        orders += q->order == WEND_SEQUENCE_SENDS; /* tag 4 of all threads */
    for (const CallSequence *q = state()->sequences; q; q = q->next)
        /* and polls, frees and what was handed to it */
        n += !q->callback && q->calls >= 15 * TURNS;
    if (n != THREADS || orders != 1 || atomic_load(&state()->broken)) {
        fprintf(stderr, "tsan: %u threads recorded all, and %u orders\n", n, orders);
        return 1;
    }
    atomic_store(&state()->active, false); /* nothing is written at the end */
    state()->finished = true;
    printf("tsan: %d threads\n", THREADS);
    return 0;
}
