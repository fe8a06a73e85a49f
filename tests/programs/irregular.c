/* SPDX-License-Identifier: BSD-3-Clause */
/* irregular HOW [CALLS [END]]: calls that never repeat, so that what is recorded of them grows: on
 * all ranks, on all and others on each (apart), on rank 1 alone, in several threads, in a callback,
 * requests of which many are pending, what one rank receives from another, values of which some
 * come again, or objects that live long. Prints what came of it, which depends on every message;
 * END "peak": and the memory that rank 0 took until MPI_Finalize, and in all, in KB. "abort": it
 * ends by MPI_Abort. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { THREADS = 3, PENDING = 500, TAGS = 30000 };
static int rank, size, calls = 20000;

static unsigned next(unsigned *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 8;
}

/* Around a ring, or to oneself. */
static long ring(MPI_Comm comm, int n, unsigned seed)
{
    static __thread int out[64], in[64];
    int me, all;
    unsigned random = seed; /* the same on all ranks */
    long sum = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    for (int i = 0; i < n; i++) {
        int count = 1 + (int)(next(&random) % 64), tag = (int)(next(&random) % TAGS);
        out[0] = me + i;
        out[count - 1] += tag;
        MPI_Sendrecv(out, count, MPI_INT, (me + 1) % all, tag, in, count, MPI_INT,
                     (me + all - 1) % all, tag, comm, MPI_STATUS_IGNORE);
        sum += in[0] + in[count - 1];
    }
    return sum;
}

static void sum_in_callback(void *in, void *inout, int *n, MPI_Datatype *type)
{
    static unsigned random = 7;
    (void)type;
    for (int i = 0; i < *n; i++)
        ((long *)inout)[i] += ((long *)in)[i] + ring(MPI_COMM_SELF, 5, random += 3);
}

static long callbacks(int n)
{
    MPI_Op op;
    long value[2] = {rank, 1}, sum[2] = {0, 0}, all = 0;
    MPI_Op_create(sum_in_callback, 1, &op);
    for (int i = 0; i < n / 10; i++) {
        memcpy(sum, value, sizeof sum);
        MPI_Reduce_local(value, sum, 1 + i % 2, MPI_LONG, op);
        all += sum[0] % 1000;
    }
    MPI_Op_free(&op);
    return all;
}

static long pending(int n)
{
    static MPI_Request requests[2 * PENDING];
    static int out[PENDING], in[PENDING];
    unsigned random = 3;
    long sum = 0;
    for (int turn = 0; turn < n / PENDING; turn++) {
        for (int i = 0; i < PENDING; i++) {
            int tag = (int)(next(&random) % TAGS);
            out[i] = rank + tag + i;
            MPI_Irecv(&in[i], 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD,
                      &requests[2 * i]);
            MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD,
                      &requests[2 * i + 1]);
        }
        for (int left = 2 * PENDING, some, which[2 * PENDING]; left > 0; left -= some)
            MPI_Waitsome(2 * PENDING, requests, &some, which, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PENDING; i++)
            sum += in[i];
    }
    return sum;
}

static int freed;
static int count_freed(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static long objects(int n)
{
    MPI_Datatype *types = malloc((size_t)n * sizeof *types);
    MPI_Comm comm;
    int key, bytes;
    long sum = 0;
    for (int i = 0; i < n; i++) {
        MPI_Type_vector(1 + i % 7, 1 + i % 5, 10 + i, MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    /* what Wend stands before goes on after its recording has stopped */
    for (int i = 0; i < 20; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_freed, &key, NULL);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_attr(comm, key, &key);
        MPI_Comm_free(&comm);
        MPI_Comm_free_keyval(&key);
    }
    for (int i = 0; i < n; i++) {
        MPI_Type_size(types[i], &bytes);
        sum += bytes;
        MPI_Type_free(&types[i]);
    }
    free(types);
    return sum + freed;
}

/* Rank 0's calls are all the same, and only what comes of them is not. */
static long received(int n)
{
    unsigned random = 5;
    long sum = 0;
    for (int i = 0; i < n && rank < 2; i++) {
        MPI_Status status;
        int value = 0;
        if (rank == 0)
            MPI_Recv(&value, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        else
            MPI_Send(&i, 1, MPI_INT, 0, (int)(next(&random) % TAGS), MPI_COMM_WORLD);
        sum += rank == 0 ? value + status.MPI_TAG : 0;
    }
    return sum;
}

/* As many numbers as chance has it, and others for each. */
static long exchange(int n)
{
    enum { MOST = 1000 };
    /* those for others, and theirs */
    int *counts = calloc(4 * (size_t)size, sizeof *counts), *at = counts + 2 * size;
    int *out = calloc((size_t)size * MOST, sizeof *out),
        *in = calloc((size_t)size * MOST, sizeof *in);
    long sum = 0;
    for (int turn = 0; turn < n; turn++) {
        for (int i = 0; i < size; i++) {
            unsigned to = (unsigned)(turn * size * size + rank * size + i) * 7919u,
                     from = (unsigned)(turn * size * size + i * size + rank) * 7919u;
            counts[i] = 1 + (int)(next(&to) % MOST);
            counts[size + i] = 1 + (int)(next(&from) % MOST);
            at[i] = i ? at[i - 1] + counts[i - 1] : 0;
            at[size + i] = i ? at[size + i - 1] + counts[size + i - 1] : 0;
            out[at[i]] = counts[i] + i;
        }
        MPI_Alltoallv(out, counts, at, MPI_INT, in, counts + size, at + size, MPI_INT,
                      MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            sum += in[at[size + i]];
    }
    free(counts);
    free(out);
    free(in);
    return sum;
}

typedef struct {
    MPI_Comm comm;
    unsigned seed;
    long sum;
} Work;

static void *run(void *argument)
{
    Work *w = argument;
    w->sum = ring(w->comm, calls / THREADS, w->seed);
    return NULL;
}

static long threads(void)
{
    pthread_t thread[THREADS];
    Work work[THREADS];
    long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        work[i].seed = 11u + (unsigned)i;
        MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm);
        pthread_create(&thread[i], NULL, run, &work[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&work[i].comm);
        sum += work[i].sum;
    }
    return sum;
}

/* Values by chance of which some come again. */
static long again(int n)
{
    char *out = calloc((size_t)n + 1, 1);
    unsigned random = (unsigned)rank;
    long sum = 0;
    for (int i = 0; i < n; i++) {
        int count = (int)(next(&random) % (unsigned)n);
        MPI_Send(out, count, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        sum += count;
    }
    free(out);
    return sum;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "all";
    int provided;
    long sum = 0, total;
    calls = argc > 2 ? atoi(argv[2]) : calls;
    MPI_Init_thread(&argc, &argv,
                    strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "all") == 0)
        sum = ring(MPI_COMM_WORLD, calls, 1);
    else if (strcmp(how, "apart") == 0)
        sum = ring(MPI_COMM_SELF, calls, (unsigned)rank);
    else if (strcmp(how, "one") == 0)
        sum = rank == 1 ? ring(MPI_COMM_SELF, calls, 1) : 0;
    else if (strcmp(how, "threads") == 0)
        sum = threads();
    else if (strcmp(how, "callback") == 0)
        sum = callbacks(calls);
    else if (strcmp(how, "pending") == 0)
        sum = pending(calls);
    else if (strcmp(how, "received") == 0)
        sum = received(calls);
    else if (strcmp(how, "exchange") == 0)
        sum = exchange(calls);
    else if (strcmp(how, "again") == 0)
        sum = again(calls);
    else if (strcmp(how, "objects") == 0)
        sum = objects(calls);
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("irregular: %s %ld\n", how, total);
    if (argc > 3 && strcmp(argv[3], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    struct rusage used;
    if (argc > 3 && rank == 0 && getrusage(RUSAGE_SELF, &used) == 0)
        fprintf(stderr, "running %ld\n", used.ru_maxrss);
    MPI_Finalize();
    if (argc > 3 && rank == 0 && getrusage(RUSAGE_SELF, &used) == 0)
        fprintf(stderr, "peak %ld\n", used.ru_maxrss);
    return 0;
}
