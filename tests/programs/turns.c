/* SPDX-License-Identifier: BSD-3-Clause */
/* turns: what several threads of a rank get on one communicator depends on their order. For each
 * thread of each rank a hash of what it got, in its order, is printed. Arguments: parts (all if
 * there are none). */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 12, BURST = 4, STOP = 99, ANSWER = 50 };
static int rank, size;
static pthread_barrier_t all_threads;
static unsigned hashes[THREADS]; /* of this rank; a rank without threads has one */

typedef struct {
    int number;
    unsigned hash;
} Worker;

static void mix(Worker *w, int value)
{
    w->hash = (w->hash ^ (unsigned)value) * 16777619u;
}

static void mix_status(Worker *w, const MPI_Status *s, int value)
{
    mix(w, s->MPI_SOURCE);
    mix(w, s->MPI_TAG);
    mix(w, value);
}

static void run_threads(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    Worker workers[THREADS];
    pthread_barrier_init(&all_threads, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (Worker){t, 2166136261u};
        pthread_create(&threads[t], NULL, function, &workers[t]);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        hashes[t] = workers[t].hash;
    pthread_barrier_destroy(&all_threads);
}

/* -- a server: threads of rank 0 answer whoever asks, several requests at a time -- */

static void *serve(void *argument)
{
    Worker *w = argument;
    for (;;) {
        int request;
        MPI_Status s;
        MPI_Recv(&request, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        if (s.MPI_TAG == STOP)
            return NULL;
        mix_status(w, &s, request);
        MPI_Send(&w->hash, 1, MPI_UNSIGNED, s.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
    }
}

static void ask(Worker *w)
{
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < BURST; k++) {
            int request = (int)(w->hash % 1000) + k;
            MPI_Send(&request, 1, MPI_INT, 0, k % 2, MPI_COMM_WORLD);
        }
        for (int k = 0; k < BURST; k++) {
            unsigned answer;
            MPI_Recv(&answer, 1, MPI_UNSIGNED, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            mix(w, (int)answer);
        }
    }
}

static void server(void)
{
    MPI_Comm clients;
    Worker own = {0, 2166136261u + (unsigned)rank};
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &clients);
    if (rank == 0) {
        run_threads(serve);
    } else {
        ask(&own);
        MPI_Barrier(clients);
        for (int t = 0; t < THREADS && rank == 1; t++)
            MPI_Send(&rank, 1, MPI_INT, 0, STOP, MPI_COMM_WORLD);
        hashes[0] = own.hash;
    }
    MPI_Comm_free(&clients);
}

/* -- receives with tags that overlap, and that get any tag -- */

static void *take_tags(void *argument)
{
    Worker *w = argument;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int values[2];
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, w->number % 2, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        mix_status(w, &statuses[0], values[0]);
        mix_status(w, &statuses[1], values[1]);
    }
    pthread_barrier_wait(&all_threads);
    for (int i = 0; i < ROUNDS; i++) {
        int found = 0;
        MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[0]);
        while (!found)
            MPI_Test(&requests[0], &found, &statuses[0]);
        mix_status(w, &statuses[0], values[0]);
    }
    return NULL;
}

static void send_many(int n, int tag, int from)
{
    for (int i = 0; i < n; i++) {
        int value = from * 1000 + tag * 100 + i;
        if (from < 0 ? i % (size - 1) + 1 == rank : from == rank)
            MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
}

static void tags(void)
{
    if (rank == 0) {
        run_threads(take_tags);
        return;
    }
    send_many(2 * ROUNDS, 0, -1);
    send_many(ROUNDS, 1, -1);
    send_many(THREADS * ROUNDS, 2, 1);
    send_many(THREADS * ROUNDS, 3, -1);
}

/* -- matched probes, blocking and not -- */

static void *take_matched(void *argument)
{
    Worker *w = argument;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        MPI_Message message;
        MPI_Status s;
        int value, found = 0;
        if (i % 2)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &s);
        while (i % 2 == 0 && !found)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &s);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        mix_status(w, &s, value);
    }
    return NULL;
}

static void matched(void)
{
    if (rank == 0) {
        run_threads(take_matched);
        return;
    }
    send_many(THREADS * ROUNDS, 4, -1);
    send_many(THREADS * ROUNDS, 5, -1);
}

/* -- threads that send on one channel, in each way -- */

enum { WAYS = 8 };

static void *send_in_all_ways(void *argument)
{
    const Worker *w = argument;
    MPI_Request request, both[2];
    int value[WAYS] = {0};
    MPI_Send_init(&value[5], 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
    MPI_Send_init(&value[6], 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &both[0]);
    MPI_Ssend_init(&value[7], 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &both[1]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request one;
        for (int k = 0; k < WAYS; k++)
            value[k] = w->number * 10000 + i * 100 + k;
        MPI_Send(&value[0], 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Isend(&value[1], 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &one);
        MPI_Wait(&one, MPI_STATUS_IGNORE);
        MPI_Ssend(&value[2], 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Sendrecv(&value[3], 1, MPI_INT, 0, 6, NULL, 0, MPI_INT, MPI_PROC_NULL, 6,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Bsend(&value[4], 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    return NULL;
}

static void sends(void)
{
    static char buffer[THREADS * ROUNDS * (64 + MPI_BSEND_OVERHEAD)];
    Worker own = {0, 2166136261u};
    if (rank > 0) {
        void *base;
        int n = sizeof buffer;
        MPI_Buffer_attach(buffer, n);
        run_threads(send_in_all_ways);
        MPI_Buffer_detach(&base, &n);
        return;
    }
    for (int i = 0; i < THREADS * ROUNDS * WAYS; i++)
        for (int from = 1; from < size; from++) {
            int value;
            MPI_Recv(&value, 1, MPI_INT, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            mix(&own, value);
        }
    hashes[0] = own.hash;
}

/* -- threads that send and receive at once -- */

static void *exchange_in_turns(void *argument)
{
    Worker *w = argument;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < ROUNDS; i++) {
        int out = (int)(w->hash >> 8), in;
        MPI_Status s;
        MPI_Sendrecv(&out, 1, MPI_INT, next, 7, &in, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD,
                     &s);
        mix_status(w, &s, in);
        MPI_Sendrecv_replace(&in, 1, MPI_INT, next, 8, previous, 8, MPI_COMM_WORLD, &s);
        mix_status(w, &s, in);
    }
    return NULL;
}

static void exchange(void)
{
    run_threads(exchange_in_turns);
}

/* -- persistent receives -- */

static void *start_receives(void *argument)
{
    Worker *w = argument;
    MPI_Request requests[2];
    int values[2];
    MPI_Recv_init(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&values[1], 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Status s[2];
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, s);
        mix_status(w, &s[0], values[0]);
        mix_status(w, &s[1], values[1]);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return NULL;
}

static void persistent(void)
{
    if (rank == 0) {
        run_threads(start_receives);
        return;
    }
    send_many(THREADS * ROUNDS, 10, -1);
    send_many(THREADS * ROUNDS, 11, 1);
}

/* -- probes that take nothing: one thread looks what another takes then -- */

static void *look(void *argument)
{
    Worker *w = argument;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Status s;
        int n, values[3], found = 0;
        if (w->number == 0) {
            MPI_Probe(1, 12, MPI_COMM_WORLD, &s);
            MPI_Get_count(&s, MPI_INT, &n);
            mix(w, n);
        }
        if (w->number == 1) {
            while (!found)
                MPI_Iprobe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &found, &s);
            MPI_Get_count(&s, MPI_INT, &n);
            mix(w, n);
        }
        if (w->number == 2) {
            MPI_Recv(values, 3, MPI_INT, 1, 12, MPI_COMM_WORLD, &s);
            mix_status(w, &s, values[0]);
        }
    }
    return NULL;
}

static void probes(void)
{
    int values[3] = {0};
    if (rank == 0)
        run_threads(look);
    /* One message more than are taken, so that those who look find one. */
    for (int i = 0; rank == 1 && i <= ROUNDS; i++)
        MPI_Send(values, 1 + i % 3, MPI_INT, 0, 12, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(values, 3, MPI_INT, 1, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void print(const char *part)
{
    unsigned *all = rank == 0 ? malloc((size_t)size * sizeof hashes) : NULL;
    MPI_Gather(hashes, THREADS, MPI_UNSIGNED, all, THREADS, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%s: rank %d: %08x %08x %08x\n", part, i, all[THREADS * i], all[THREADS * i + 1],
               all[THREADS * i + 2]);
    free(all);
    memset(hashes, 0, sizeof hashes);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"server", server}, {"tags", tags},         {"matched", matched},
                 {"sends", sends},   {"exchange", exchange}, {"persistent", persistent},
                 {"probes", probes}};
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE || size < 2)
        MPI_Abort(MPI_COMM_WORLD, 6);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int wanted = argc < 2;
        for (int k = 1; k < argc; k++)
            wanted |= strcmp(argv[k], parts[i].name) == 0;
        if (!wanted)
            continue;
        parts[i].run();
        MPI_Barrier(MPI_COMM_WORLD); /* or a part gets messages of the next one */
        print(parts[i].name);
    }
    MPI_Finalize();
    return 0;
}
