/* SPDX-License-Identifier: BSD-3-Clause */
/* teams CASE: threads that hand things to each other, come and go. MPI_THREAD_MULTIPLE.
 *
 *   requests   one thread makes requests, another completes them
 *   objects    the main thread makes communicators and datatypes while a thread runs, which uses
 *              them; the main thread frees them
 *   blocks     one thread allocates and sends, another completes and frees
 *   lent       one thread sends from memory that it frees when another has completed the send
 *   together   threads start sends into one array of requests, one of them completes all
 *   phases     threads are started and joined, again and again, and do collective calls on
 *              MPI_COMM_WORLD in between
 *   earlier    the main thread makes and frees objects before there are other threads, and again
 *              after, with numbers that threads use in between
 *   uneven     likewise, and the main thread uses some of the objects not at all, others often
 *   some       only even ranks have threads
 *   idle       some threads never call MPI
 *   detached   threads that nobody joins: they say themselves that they are done, as Python's do
 *   hammer     four threads, one communicator, as fast as they can */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 40, ROOM = 4 };
static int rank, size, right, left;

static void check(int good)
{
    if (!good)
        MPI_Abort(MPI_COMM_WORLD, 5);
}

/* -- a queue of at most ROOM pointers -- */

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *at[ROOM];
    int n, first;
} Queue;
#define QUEUE                                                             \
    {                                                                     \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}, 0, 0 \
    }
static Queue there = QUEUE, back = QUEUE;

static void put(Queue *q, void *p)
{
    pthread_mutex_lock(&q->lock);
    while (q->n == ROOM)
        pthread_cond_wait(&q->changed, &q->lock);
    q->at[(q->first + q->n++) % ROOM] = p;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void *get(Queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->n == 0)
        pthread_cond_wait(&q->changed, &q->lock);
    void *p = q->at[q->first];
    q->first = (q->first + 1) % ROOM;
    q->n--;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return p;
}

/* -- requests, blocks -- */

typedef struct {
    MPI_Request requests[2];
    int in, *out;
} Exchange;

static void *complete(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        Exchange *x = get(&there);
        MPI_Waitall(2, x->requests, MPI_STATUSES_IGNORE);
        check(x->in == left * 100 + i);
        put(&back, x);
    }
    return unused;
}

static void requests(void)
{
    Exchange all[ROOM];
    pthread_t thread;
    memset(all, 0, sizeof all);
    pthread_create(&thread, NULL, complete, NULL);
    for (int i = 0; i < ROOM; i++) {
        all[i].out = malloc(sizeof(int));
        put(&back, &all[i]);
    }
    for (int i = 0; i < TURNS; i++) {
        Exchange *x = get(&back);
        *x->out = rank * 100 + i;
        MPI_Irecv(&x->in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &x->requests[0]);
        MPI_Isend(x->out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &x->requests[1]);
        put(&there, x);
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < ROOM; i++)
        free(all[i].out);
}

static void *complete_and_free(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        Exchange *x = get(&there);
        MPI_Wait(&x->requests[0], MPI_STATUS_IGNORE);
        free(x->out);
        free(x);
    }
    return unused;
}

static void blocks(void)
{
    int in;
    pthread_t thread;
    pthread_create(&thread, NULL, complete_and_free, NULL);
    for (int i = 0; i < TURNS; i++) {
        Exchange *x = malloc(sizeof *x);
        x->out = malloc(sizeof(int));
        *x->out = i;
        MPI_Isend(x->out, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &x->requests[0]);
        put(&there, x);
        MPI_Recv(&in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in == i);
    }
    pthread_join(thread, NULL);
}

/* -- objects -- */

typedef struct {
    MPI_Comm comm;
    MPI_Datatype type;
} Objects;

static void *use(void *unused)
{
    int data[4] = {rank, 1, 2, 3};
    for (int i = 0; i < TURNS; i++) {
        Objects *o = get(&there);
        MPI_Bcast(data, 1, o->type, i % size, o->comm);
        MPI_Barrier(o->comm);
        put(&back, o);
    }
    return unused;
}

static void objects(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, use, NULL);
    for (int i = 0; i < TURNS; i++) {
        Objects o;
        MPI_Comm_dup(MPI_COMM_WORLD, &o.comm);
        MPI_Type_contiguous(4, MPI_INT, &o.type);
        MPI_Type_commit(&o.type);
        put(&there, &o);
        get(&back);
        MPI_Type_free(&o.type);
        MPI_Comm_free(&o.comm);
    }
    pthread_join(thread, NULL);
}

/* -- earlier -- */

static MPI_Comm lent;
static MPI_Datatype lent_type;

static void *use_lent(void *unused)
{
    int n;
    for (int i = 0; i < 6; i++) { /* as often as the numbers have lives, and more */
        MPI_Comm_size(lent, &n);
        MPI_Type_size(lent_type, &n);
    }
    return unused;
}

static void lend(int threads, int own_uses)
{
    pthread_t thread[2];
    int n;
    MPI_Comm_dup(MPI_COMM_WORLD, &lent);
    MPI_Type_contiguous(3, MPI_INT, &lent_type);
    MPI_Type_commit(&lent_type);
    for (int i = 0; i < own_uses; i++) {
        MPI_Comm_size(lent, &n);
        MPI_Type_size(lent_type, &n);
    }
    for (int t = 0; t < threads; t++)
        pthread_create(&thread[t], NULL, use_lent, NULL);
    for (int t = 0; t < threads; t++)
        pthread_join(thread[t], NULL);
    MPI_Type_free(&lent_type);
    MPI_Comm_free(&lent);
}

/* -- phases, some, idle, hammer, detached -- */

static void *sum(void *argument)
{
    int mine = rank, all;
    for (int i = 0; i < (int)(long)argument; i++) {
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check(all == size * (size - 1) / 2);
    }
    return NULL;
}

static void phases(void)
{
    for (long i = 1; i < 6; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, sum, (void *)i);
        pthread_join(thread, NULL);
        sum((void *)2);
    }
}

static void *send_and_receive(void *argument)
{
    int tag = (int)(long)argument, out = rank * 10 + tag, in;
    for (int i = 0; i < TURNS; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, right, tag, &in, 1, MPI_INT, left, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        check(in == left * 10 + tag);
    }
    return NULL;
}

static void *nothing(void *unused)
{
    return unused;
}

static void several(int n, int with_threads, int idle)
{
    pthread_t thread[4], other;
    for (long t = 0; t < n; t++) {
        if (idle) {
            pthread_create(&other, NULL, nothing, NULL);
            pthread_join(other, NULL);
        }
        if (with_threads)
            pthread_create(&thread[t], NULL, send_and_receive, (void *)t);
        else
            send_and_receive((void *)t);
    }
    for (int t = 0; t < n && with_threads; t++)
        pthread_join(thread[t], NULL);
}

static void *send_and_say(void *t)
{
    send_and_receive(t);
    put(&back, t);
    return NULL;
}

static void detached(int n)
{
    for (intptr_t t = 0; t < n; t++) {
        pthread_t thread;
        pthread_create(&thread, NULL, send_and_say, (void *)t);
        pthread_detach(thread);
    }
    for (int t = 0; t < n; t++)
        get(&back);
}

/* -- memory that is lent to a send -- */

enum { LENT = 1 << 20, LENT_TURNS = 5 };

static void *lender(void *argument)
{
    for (int turn = 0; turn < LENT_TURNS; turn++) {
        int *out = malloc(LENT * sizeof *out);
        MPI_Request send;
        for (int i = 0; i < LENT; i++)
            out[i] = rank + i;
        MPI_Isend(out, LENT, MPI_INT, right, turn, MPI_COMM_WORLD, &send);
        put(&there, &send);
        get(&back);
        memset(out, 0xff, LENT * sizeof *out);
        free(out);
    }
    return argument;
}

static void lend_memory(void)
{
    pthread_t thread;
    int *in = malloc(LENT * sizeof *in);
    pthread_create(&thread, NULL, lender, NULL);
    for (int turn = 0; turn < LENT_TURNS; turn++) {
        MPI_Request *send = get(&there);
        for (int i = 0; i < 20; i++)
            MPI_Barrier(MPI_COMM_WORLD); /* whoever does not wait has time to free it */
        MPI_Recv(in, LENT, MPI_INT, left, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in[0] == left && in[LENT - 1] == left + LENT - 1);
        MPI_Wait(send, MPI_STATUS_IGNORE);
        put(&back, send);
    }
    pthread_join(thread, NULL);
    free(in);
}

/* -- one array of requests -- */

enum { TOGETHER = 3, TOGETHER_TURNS = 5 };
static MPI_Request sends[TOGETHER];
static pthread_barrier_t together;

static void *send_together(void *argument)
{
    long me = (long)argument;
    for (int turn = 0; turn < TOGETHER_TURNS; turn++) {
        pthread_barrier_wait(&together);
        /* small: MPICH gives all that are done at once the same handle */
        MPI_Isend(&rank, 1, MPI_INT, right, (int)me, MPI_COMM_WORLD, &sends[me]);
        pthread_barrier_wait(&together);
        if (me == 1)
            MPI_Waitall(TOGETHER, sends, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

static void send_to_one_array(void)
{
    pthread_t thread[TOGETHER];
    pthread_barrier_init(&together, NULL, TOGETHER);
    for (long t = 0; t < TOGETHER; t++)
        pthread_create(&thread[t], NULL, send_together, (void *)t);
    for (int turn = 0; turn < TOGETHER_TURNS; turn++)
        for (int tag = 0; tag < TOGETHER; tag++) {
            int in;
            MPI_Recv(&in, 1, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(in == left);
        }
    for (int t = 0; t < TOGETHER; t++)
        pthread_join(thread[t], NULL);
    pthread_barrier_destroy(&together);
}

int main(int argc, char **argv)
{
    int provided;
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    check(provided == MPI_THREAD_MULTIPLE);
    if (strcmp(what, "requests") == 0)
        requests();
    else if (strcmp(what, "blocks") == 0)
        blocks();
    else if (strcmp(what, "objects") == 0)
        objects();
    else if (strcmp(what, "lent") == 0)
        lend_memory();
    else if (strcmp(what, "together") == 0)
        send_to_one_array();
    else if (strcmp(what, "earlier") == 0) {
        lend(0, 1);
        lend(2, 1);
        lend(0, 1);
    } else if (strcmp(what, "uneven") == 0) {
        lend(1, 0);
        lend(1, 3);
        lend(0, 0);
    } else if (strcmp(what, "phases") == 0)
        phases();
    else if (strcmp(what, "some") == 0)
        several(2, rank % 2 == 0, 0);
    else if (strcmp(what, "idle") == 0)
        several(2, 1, 1);
    else if (strcmp(what, "hammer") == 0)
        several(4, 1, 0);
    else if (strcmp(what, "detached") == 0)
        detached(3);
    else
        check(0);
    if (rank == 0)
        printf("teams: %s, %d ranks\n", what, size);
    MPI_Finalize();
    return 0;
}
