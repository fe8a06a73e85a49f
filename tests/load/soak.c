/* SPDX-License-Identifier: BSD-3-Clause */
/* soak: soak CALLS [THREADS]: makes so many calls on each rank, of all kinds that make something
 * and let it go again, in an order without a pattern that comes again after some thousand calls. So
 * what there is to record does not grow, nor may the memory that it takes: rank 0 prints "CALLS
 * KILOBYTES" of its own 40 times (soak.py). With threads each does it, on a communicator of its
 * own. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 500, LINES = 40, MOST_THREADS = 16 };

typedef struct {
    MPI_Comm comm;
    int rank, size, thread;
    long calls, limit;
    MPI_Request never; /* a receive that nobody sends to */
    double never_data;
} Soak;

static long kilobytes(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %ld", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static void exchange(Soak *s, unsigned random)
{
    MPI_Request r[4];
    int in[2], out[2] = {1, 2}, next = (s->rank + 1) % s->size,
               before = (s->rank + s->size - 1) % s->size, tag = (int)(random % 5);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, before, tag + i, s->comm, &r[i]);
    for (int i = 0; i < 2; i++)
        MPI_Isend(&out[i], 1, MPI_INT, next, tag + i, s->comm, &r[2 + i]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    s->calls += 5;
}

/* To itself, with as many polls each time and statuses in an order that comes again with the
 * others': what the run decides takes memory where it comes in no order. */
static void alone(Soak *s, unsigned random)
{
    int in[3], out[3] = {1, 2, 3}, flag, index;
    MPI_Request r[2];
    MPI_Status status;
    for (int i = 0; i < 16; i++)
        MPI_Test(&s->never, &flag, MPI_STATUS_IGNORE);
    MPI_Isend(out, 1 + (int)(random % 3), MPI_INT, s->rank, 50, s->comm, &r[0]);
    MPI_Probe(MPI_ANY_SOURCE, 50, s->comm, &status);
    MPI_Irecv(in, 3, MPI_INT, MPI_ANY_SOURCE, status.MPI_TAG, s->comm, &r[1]);
    MPI_Waitany(1, &r[1], &index, &status);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    s->calls += 21;
}

static void memory(Soak *s, unsigned random)
{
    size_t n = 16 << random % 10;
    double *blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = calloc(n, sizeof(double));
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv_replace(blocks[i], (int)n / 16, MPI_DOUBLE, s->rank, 60, s->rank, 60, s->comm,
                             MPI_STATUS_IGNORE);
    blocks[1] = realloc(blocks[1], 4 * n * sizeof(double));
    MPI_Sendrecv_replace(blocks[1], 2, MPI_DOUBLE, s->rank, 60, s->rank, 60, s->comm,
                         MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++)
        free(blocks[i]);
    s->calls += 4;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

/* No datatype with gaps: with these MPICH 4.0 takes memory without end, in every other run. */
static void objects(Soak *s, unsigned random)
{
    MPI_Datatype row, other;
    MPI_Info info;
    MPI_Request r[2];
    char in[256], out[256] = {0};
    int n = 1 + (int)(random % 4);
    MPI_Type_contiguous(n, MPI_INT, &row);
    MPI_Type_commit(&row);
    MPI_Type_dup(row, &other);
    MPI_Type_commit(&other);
    MPI_Info_create(&info);
    MPI_Info_set(info, "kind", random % 2 ? "odd" : "even");
    MPI_Info_free(&info);
    MPI_Send_init(out, 1, row, s->rank, 70, s->comm, &r[0]);
    MPI_Recv_init(in, n, MPI_INT, s->rank, 70, s->comm, &r[1]);
    for (int i = 0; i < n; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Sendrecv(out, 1, other, s->rank, 71, in, 1, other, s->rank, 71, s->comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&row);
    MPI_Type_free(&other);
    s->calls += 14 + 2 * n;
}

static void together(Soak *s, unsigned random)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Op op;
    int key, one = 1, sum;
    if (random % 2)
        MPI_Comm_dup(s->comm, &comm);
    else
        MPI_Comm_split(s->comm, s->rank % 2, -s->rank, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
    MPI_Comm_set_attr(comm, key, malloc(8));
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, comm);
    MPI_Op_free(&op);
    MPI_Comm_group(comm, &group);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
    s->calls += 9;
}

static void round_of(Soak *s)
{
    unsigned random = 1;
    for (int i = 0; i < STEPS; i++) {
        random = random * 1664525u + 1013904223u;
        unsigned kind = random >> 28, more = random >> 8;
        if (i % 250 == 7)
            together(s, more);
        else if (kind < 4)
            exchange(s, more);
        else if (kind < 11)
            alone(s, more);
        else if (kind < 14)
            memory(s, more);
        else
            objects(s, more);
    }
}

static void *run(void *argument)
{
    Soak *s = argument;
    MPI_Irecv(&s->never_data, 1, MPI_DOUBLE, s->rank, 99, s->comm, &s->never);
    for (long line = 0; line <= LINES; line++) {
        while (s->calls < s->limit * line / LINES)
            round_of(s);
        if (s->rank == 0 && s->thread == 0)
            printf("%ld %ld\n", s->calls, kilobytes()), fflush(stdout);
    }
    MPI_Cancel(&s->never);
    MPI_Wait(&s->never, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 0;
    int threads = argc > 2 ? atoi(argv[2]) : 1, provided;
    static Soak work[MOST_THREADS];
    pthread_t others[MOST_THREADS];
    if (calls < 1 || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: soak CALLS [THREADS]\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    for (int t = 0; t < threads; t++) {
        Soak *s = &work[t];
        *s = (Soak){.thread = t, .limit = calls / threads};
        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
        MPI_Comm_rank(s->comm, &s->rank);
        MPI_Comm_size(s->comm, &s->size);
    }
    for (int t = 1; t < threads; t++)
        pthread_create(&others[t], NULL, run, &work[t]);
    run(&work[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], NULL);
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&work[t].comm);
    MPI_Finalize();
    return 0;
}
