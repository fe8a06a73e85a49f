/* SPDX-License-Identifier: BSD-3-Clause */
/* numbered.c: messages of every kind that say which one they are, for tests/decoder/messages.bats.
 *
 * The size of a message is 8 bytes and its number K among those of its sender; it has K and, for
 * persistent sends, the number of the start. Each receive writes a line
 *
 *     rank thread POSTED thread COMPLETED sender K start
 *
 * POSTED counts the calls of the thread that post receives, COMPLETED those that complete some.
 * What messages meet which receives is left to chance where MPI allows it; all random numbers that
 * ranks must agree on come from one seed. The arguments are that seed, the number of rounds, and
 * optionally the name of a file: rank R writes its lines to FILE.R instead of to standard output,
 * where launchers mix the bytes of the ranks. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, ROOM = 8 + MOST, TAGS = 3, THREADS = 2, BURST = 24, COMMS = 3 };

typedef struct {
    int thread, posted, completed;
    unsigned random; /* of its own */
    char *lines;
    size_t used, room;
} Worker;

static int rank, size, sent_so_far;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int chance(unsigned *random, int n)
{
    *random = *random * 1103515245u + 12345u;
    return (int)(*random >> 16) % n;
}

/* -- messages -- */

static int next_number(void)
{
    pthread_mutex_lock(&lock);
    int k = sent_so_far++ % MOST;
    pthread_mutex_unlock(&lock);
    return k;
}

/* A new message; its size is *BYTES. */
static char *message(int start, int *bytes)
{
    int head[2] = {next_number(), start};
    *bytes = 8 + head[0];
    char *m = calloc(1, (size_t)*bytes);
    memcpy(m, head, sizeof head);
    return m;
}

static void log_line(Worker *w, int posted_thread, int posted, int sender, int k, int start)
{
    if (w->room - w->used < 200) {
        w->room = 2 * w->room + 4096;
        w->lines = realloc(w->lines, w->room);
        if (!w->lines)
            abort();
    }
    /* eight numbers: less than 100 characters */
    w->used +=
        (size_t)snprintf(w->lines + w->used, w->room - w->used, "M %d %d %d %d %d %d %d %d\n", rank,
                         posted_thread, posted, w->thread, w->completed, sender, k, start);
}

/* GROUP: world ranks by rank in the communicator. */
static void got(Worker *w, int posted_thread, int posted, const char *buffer, MPI_Status *status,
                const int *group)
{
    int head[2], bytes;
    memcpy(head, buffer, sizeof head);
    MPI_Get_count(status, MPI_CHAR, &bytes);
    if (bytes != 8 + head[0])
        fprintf(stderr, "%d: %d bytes of message %d\n", rank, bytes, head[0]), abort();
    log_line(w, posted_thread, posted, group[status->MPI_SOURCE], head[0], head[1]);
}

/* -- bursts: each rank sends and receives messages whose sources and tags all know -- */

typedef struct {
    int source, dest, tag;
} Planned;
typedef struct {
    char *buffer;
    int posted, persistent;
} Pending;

/* Requests stay in the variables that MPI wrote them to: MPICH gives one handle for all requests
 * that are complete at once, and the recorder tells them apart by their variables. */
static void send_one(const Planned *p, MPI_Comm comm, unsigned *random, char **buffer,
                     MPI_Request *request)
{
    int bytes;
    char *m = *buffer = message(0, &bytes);
    *request = MPI_REQUEST_NULL;
    switch (chance(random, 6)) {
    case 0:
        MPI_Send(m, bytes, MPI_CHAR, p->dest, p->tag, comm);
        break;
    case 1:
        MPI_Bsend(m, bytes, MPI_CHAR, p->dest, p->tag, comm);
        break;
    case 2:
        MPI_Issend(m, bytes, MPI_CHAR, p->dest, p->tag, comm, request);
        break;
    case 3:
        MPI_Ibsend(m, bytes, MPI_BYTE, p->dest, p->tag, comm, request);
        break;
    case 4:
        MPI_Send_init(m, bytes, MPI_CHAR, p->dest, p->tag, comm, request);
        MPI_Start(request);
        break;
    default:
        MPI_Isend(m, bytes, MPI_CHAR, p->dest, p->tag, comm, request);
    }
}

/* Receives one message now, in one of the ways there are. */
static void receive_one(Worker *w, int source, int tag, MPI_Comm comm, const int *group)
{
    char buffer[ROOM];
    MPI_Status status;
    MPI_Message taken;
    MPI_Request request;
    int found = 0, way = chance(&w->random, 6);
    int posted = w->posted++;
    switch (way) {
    case 0:
        MPI_Probe(source, tag, comm, &status);
        MPI_Recv(buffer, ROOM, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
        break;
    case 1:
        MPI_Mprobe(source, tag, comm, &taken, MPI_STATUS_IGNORE);
        MPI_Mrecv(buffer, ROOM, MPI_CHAR, &taken, &status);
        break;
    case 2:
        while (!found)
            MPI_Improbe(source, tag, comm, &found, &taken, MPI_STATUS_IGNORE);
        MPI_Imrecv(buffer, ROOM, MPI_CHAR, &taken, &request);
        MPI_Wait(&request, &status);
        break;
    case 3:
        while (!found)
            MPI_Iprobe(source, tag, comm, &found, &status);
        MPI_Recv(buffer, ROOM, MPI_CHAR, source, tag, comm, &status);
        break;
    case 4:
        MPI_Irecv(buffer, ROOM, MPI_CHAR, source, tag, comm, &request);
        while (!found)
            MPI_Test(&request, &found, &status);
        break;
    default:
        MPI_Recv(buffer, ROOM, MPI_CHAR, source, tag, comm, &status);
    }
    got(w, w->thread, posted, buffer, &status, group);
    w->completed++;
}

static void finish_some(Worker *w, Pending *pending, MPI_Request *requests, int n, const int *group)
{
    MPI_Status *statuses = malloc(sizeof *statuses * (size_t)n);
    int *indices = malloc(sizeof *indices * (size_t)n), left = n, count;
    while (left > 0) {
        switch (chance(&w->random, 4)) {
        case 0:
            MPI_Waitall(n, requests, statuses);
            for (count = 0; count < n; count++)
                indices[count] = count;
            break;
        case 1:
            MPI_Waitany(n, requests, &indices[0], &statuses[0]);
            count = 1;
            break;
        case 2:
            MPI_Waitsome(n, requests, &count, indices, statuses);
            break;
        default:
            MPI_Testsome(n, requests, &count, indices, statuses);
        }
        int done = 0;
        for (int i = 0; i < count; i++) {
            Pending *p = &pending[indices[i]];
            if (!p->buffer)
                continue; /* it was complete before */
            got(w, w->thread, p->posted, p->buffer, &statuses[i], group);
            free(p->buffer);
            p->buffer = NULL;
            if (p->persistent)
                MPI_Request_free(&requests[indices[i]]);
            done++;
        }
        left -= done;
        w->completed += done > 0;
    }
    free(statuses);
    free(indices);
}

/* How receives of a burst name their messages. Receives that could take each other's messages
 * without end all have the same wildcards. */
enum { NAMED, ANY_SOURCE, ANY_TAG, ANY, MIXED, MODES };

static void burst(Worker *w, unsigned *agreed, MPI_Comm comm, const int *group, int self)
{
    /* GROUP: world ranks by rank in COMM, where the caller has rank SELF */
    int n = 1 + chance(agreed, BURST * size), mode = chance(agreed, MODES), sends = 0;
    int one_source = chance(agreed, size), one_tag = chance(agreed, TAGS);
    Planned *plan = malloc(sizeof *plan * (size_t)n);
    Pending *pending = malloc(sizeof *pending * (size_t)n);
    MPI_Request *requests = malloc(sizeof *requests * (size_t)n);
    MPI_Request *receives = malloc(sizeof *receives * (size_t)n);
    char **buffers = malloc(sizeof *buffers * (size_t)n);
    for (int i = 0; i < n; i++) {
        plan[i] = (Planned){mode == MIXED ? one_source : chance(agreed, size), chance(agreed, size),
                            mode == MIXED ? one_tag : chance(agreed, TAGS)};
    }
    int posted = 0;
    for (int pass = 0; pass < 2; pass++) { /* first some receives are posted */
        for (int i = 0; i < n; i++) {
            if (plan[i].dest != self || plan[i].dest < 0)
                continue;
            int any = mode == MIXED ? chance(&w->random, 4) : mode;
            int source = any == ANY_SOURCE || any == ANY ? MPI_ANY_SOURCE : plan[i].source;
            int tag = any == ANY_TAG || any == ANY ? MPI_ANY_TAG : plan[i].tag;
            if (pass == 0 && chance(&w->random, 2)) {
                Pending *p = &pending[posted];
                *p = (Pending){malloc(ROOM), w->posted++, chance(&w->random, 4) == 0};
                if (p->persistent) {
                    MPI_Recv_init(p->buffer, ROOM, MPI_CHAR, source, tag, comm, &receives[posted]);
                    MPI_Start(&receives[posted]);
                } else {
                    MPI_Irecv(p->buffer, ROOM, MPI_CHAR, source, tag, comm, &receives[posted]);
                }
                posted++;
                plan[i].dest = -1;
            } else if (pass == 1) {
                receive_one(w, source, tag, comm, group);
            }
        }
        for (int i = 0; pass == 0 && i < n; i++)
            if (plan[i].source == self) {
                Planned p = plan[i];
                if (p.dest < 0) /* to itself, and posted */
                    p.dest = self;
                send_one(&p, comm, &w->random, &buffers[sends], &requests[sends]);
                sends++;
            }
    }
    finish_some(w, pending, receives, posted, group);
    MPI_Waitall(sends, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < sends; i++) {
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]); /* a persistent one */
        free(buffers[i]);
    }
    free(plan);
    free(pending);
    free(requests);
    free(receives);
    free(buffers);
}

/* -- kinds that come in turn -- */

static void exchange(Worker *w, MPI_Comm comm, const int *group)
{
    char buffer[ROOM], *m;
    int bytes, to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Status status;
    m = message(0, &bytes);
    MPI_Sendrecv(m, bytes, MPI_CHAR, to, 5, buffer, ROOM, MPI_CHAR, MPI_ANY_SOURCE, 5, comm,
                 &status);
    got(w, w->thread, w->posted++, buffer, &status, group);
    w->completed++;
    free(m);
    MPI_Sendrecv(NULL, 0, MPI_CHAR, MPI_PROC_NULL, 5, buffer, ROOM, MPI_CHAR, MPI_PROC_NULL, 5,
                 comm, &status);
#if MPI_VERSION >= 4
    MPI_Request request;
    int head[2];
    m = message(0, &bytes);
    MPI_Isendrecv(m, bytes, MPI_CHAR, to, 6, buffer, ROOM, MPI_CHAR, from, 6, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* MPICH 4.0 does not fill it */
    memcpy(head, buffer, sizeof head);
    log_line(w, w->thread, w->posted++, group[from], head[0], head[1]);
    w->completed++;
    free(m);
#endif
    (void)from;
}

/* Persistent requests that are started together, twice. */
static void persistent(Worker *w, MPI_Comm comm, const int *group)
{
    enum { N = 3 };
    char buffers[N][ROOM], *messages[N];
    MPI_Request requests[2 * N];
    MPI_Status statuses[2 * N];
    int bytes, to = (rank + 1) % size;
    for (int i = 0; i < N; i++) {
        messages[i] = message(0, &bytes);
        MPI_Recv_init(buffers[i], ROOM, MPI_CHAR, MPI_ANY_SOURCE, 10 + i, comm, &requests[i]);
        MPI_Send_init(messages[i], bytes, MPI_CHAR, to, 10 + i, comm, &requests[N + i]);
    }
    for (int start = 0; start < 2; start++) {
        for (int i = 0; i < N; i++)
            memcpy(messages[i] + 4, &start, sizeof start);
        int posted = w->posted++;
        MPI_Startall(2 * N, requests);
        MPI_Waitall(2 * N, requests, statuses);
        for (int i = 0; i < N; i++)
            got(w, w->thread, posted, buffers[i], &statuses[i], group);
        w->completed++;
    }
    for (int i = 0; i < 2 * N; i++)
        MPI_Request_free(&requests[i]);
    for (int i = 0; i < N; i++)
        free(messages[i]);
}

/* Two partitioned operations on one channel, started in the other order, and a plain message. */
static void partitioned(Worker *w, MPI_Comm comm, const int *group)
{
#if MPI_VERSION >= 4
    enum { N = 2, PARTS = 2, PLAIN = ROOM };
    char received[N][ROOM], plain[PLAIN], *m[N];
    MPI_Request in[N], out[N], request;
    MPI_Status status;
    int to = (rank + 1) % size, from = (rank + size - 1) % size, bytes[N], n;
    /* partners know each other's sizes */
    int mine[N], theirs[N];
    for (int i = 0; i < N; i++) {
        do {
            m[i] = message(0, &bytes[i]);
        } while (bytes[i] % PARTS);
        mine[i] = bytes[i];
    }
    char *other = message(0, &n);
    MPI_Irecv(theirs, N, MPI_INT, from, 21, comm, &request);
    MPI_Send(mine, N, MPI_INT, to, 21, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    w->posted++;
    w->completed++;
    for (int i = 0; i < N; i++) {
        MPI_Precv_init(received[i], PARTS, theirs[i] / PARTS, MPI_CHAR, from, 20, comm,
                       MPI_INFO_NULL, &in[i]);
        MPI_Psend_init(m[i], PARTS, bytes[i] / PARTS, MPI_CHAR, to, 20, comm, MPI_INFO_NULL,
                       &out[i]);
    }
    int posted[N];
    for (int i = N - 1; i >= 0; i--)
        MPI_Start(&out[i]);
    for (int i = 0; i < N; i++) {
        posted[i] = w->posted++;
        MPI_Start(&in[i]);
    }
    MPI_Isend(other, n, MPI_CHAR, to, 20, comm, &request);
    for (int i = 0; i < N; i++)
        for (int p = 0; p < PARTS; p++)
            MPI_Pready(p, out[i]);
    MPI_Recv(plain, PLAIN, MPI_CHAR, from, 20, comm, &status);
    got(w, w->thread, w->posted++, plain, &status, group);
    w->completed++;
    for (int i = 0; i < N; i++) {
        int head[2];
        MPI_Wait(&in[i], MPI_STATUS_IGNORE);
        memcpy(head, received[i], sizeof head);
        log_line(w, w->thread, posted[i], group[from], head[0], head[1]);
        w->completed++;
    }
    MPI_Waitall(N, out, MPI_STATUSES_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) {
        MPI_Request_free(&in[i]);
        MPI_Request_free(&out[i]);
        free(m[i]);
    }
    free(other);
#else
    (void)w, (void)comm, (void)group;
#endif
}

/* A receive that is cancelled between two that are not, and one whose message is too long. */
static void troubled(Worker *w, MPI_Comm comm, const int *group)
{
    char buffers[3][ROOM], small[8], *m;
    MPI_Request requests[3];
    MPI_Status status;
    int bytes, to = (rank + 1) % size, from = (rank + size - 1) % size, flag, posted;
    for (int i = 0; i < 3; i++)
        MPI_Irecv(buffers[i], ROOM, MPI_CHAR, i == 1 ? from : MPI_ANY_SOURCE, i == 1 ? 31 : 30,
                  comm, &requests[i]);
    posted = w->posted;
    w->posted += 3;
    MPI_Cancel(&requests[1]);
    MPI_Wait(&requests[1], &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag)
        abort();
    w->completed++;
    MPI_Barrier(comm);
    for (int i = 0; i < 2; i++) {
        m = message(0, &bytes);
        MPI_Send(m, bytes, MPI_CHAR, to, 30, comm);
        free(m);
    }
    for (int i = 2; i >= 0; i -= 2) {
        MPI_Wait(&requests[i], &status);
        got(w, w->thread, posted + i, buffers[i], &status, group);
        w->completed++;
    }
    /* what the message says is lost: its number is sent once more */
    int mine, theirs;
    do {
        m = message(0, &bytes);
        memcpy(&mine, m, sizeof mine);
    } while (mine == 0); /* an empty one fits */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH's MPI_Wait calls this */
    MPI_Irecv(&theirs, 1, MPI_INT, from, 33, comm, &requests[0]);
    w->posted++;
    MPI_Send(m, bytes, MPI_CHAR, to, 32, comm);
    MPI_Send(&mine, 1, MPI_INT, to, 33, comm);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    w->completed++;
    if (MPI_Recv(small, 8, MPI_CHAR, MPI_ANY_SOURCE, 32, comm, &status) == MPI_SUCCESS)
        abort();
    log_line(w, w->thread, w->posted++, group[from], theirs, 0);
    w->completed++;
    MPI_Irecv(small, 8, MPI_CHAR, MPI_ANY_SOURCE, 34, comm, &requests[0]);
    MPI_Irecv(&theirs, 1, MPI_INT, from, 33, comm, &requests[1]);
    posted = w->posted;
    w->posted += 2;
    MPI_Send(m, bytes, MPI_CHAR, to, 34, comm);
    MPI_Send(&mine, 1, MPI_INT, to, 33, comm);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    w->completed++;
    if (MPI_Wait(&requests[0], &status) == MPI_SUCCESS)
        abort();
    log_line(w, w->thread, posted, group[from], theirs, 1); /* sent for the second time */
    w->completed++;
    free(m);
}

/* -- threads -- */

typedef struct {
    Worker worker;
    MPI_Comm comm;
    const int *group;
    unsigned agreed;
    int rounds;
} Thread;

static void *run_thread(void *argument)
{
    Thread *t = argument;
    for (int i = 0; i < t->rounds; i++) {
        burst(&t->worker, &t->agreed, t->comm, t->group, rank);
        MPI_Barrier(t->comm);
    }
    return NULL;
}

static void print_lines(Worker *w)
{
    if (fwrite(w->lines, 1, w->used, stdout) != w->used || fflush(stdout) != 0)
        perror("output"), abort();
    free(w->lines);
    w->lines = NULL;
}

/* One thread posts, another completes, so often that numbers of requests are used again. */
enum { HANDED = 4, HANDED_ROUNDS = 15 };
typedef struct {
    Worker worker;
    MPI_Request requests[HANDED];
    char buffers[HANDED][ROOM];
    int posted;
    const int *group;
    pthread_barrier_t barrier;
} Handed;

static void *complete_handed(void *argument)
{
    Handed *h = argument;
    MPI_Status status;
    for (int round = 0; round < HANDED_ROUNDS; round++) {
        pthread_barrier_wait(&h->barrier); /* they are posted */
        for (int i = 0; i < HANDED; i++) {
            MPI_Wait(&h->requests[i], &status);
            got(&h->worker, 0, h->posted + i, h->buffers[i], &status, h->group);
            h->worker.completed++;
        }
        pthread_barrier_wait(&h->barrier);
    }
    return NULL;
}

static void handed(Worker *w, const int *group)
{
    static Handed h;
    pthread_t id;
    char *m;
    int bytes;
    h.worker = (Worker){THREADS + 1, 0, 0, 1, NULL, 0, 0};
    h.group = group;
    pthread_barrier_init(&h.barrier, NULL, 2);
    pthread_create(&id, NULL, complete_handed, &h);
    for (int round = 0; round < HANDED_ROUNDS; round++) {
        h.posted = w->posted;
        w->posted += HANDED;
        for (int i = 0; i < HANDED; i++)
            MPI_Irecv(h.buffers[i], ROOM, MPI_CHAR, i % 2 ? MPI_ANY_SOURCE : (rank + 1) % size, 40,
                      MPI_COMM_WORLD, &h.requests[i]);
        pthread_barrier_wait(&h.barrier);
        for (int i = 0; i < HANDED; i++) {
            m = message(0, &bytes);
            MPI_Send(m, bytes, MPI_CHAR, (rank + size - 1) % size, 40, MPI_COMM_WORLD);
            free(m);
        }
        pthread_barrier_wait(&h.barrier);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pthread_join(id, NULL);
    pthread_barrier_destroy(&h.barrier);
    print_lines(&h.worker);
}

static void threads(Worker *w, unsigned agreed, int rounds, const int *group)
{
    Thread t[THREADS];
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        t[i] = (Thread){{i + 1, 0, 0, (unsigned)(rank * 100 + i), NULL, 0, 0},
                        MPI_COMM_NULL,
                        group,
                        agreed + (unsigned)i,
                        rounds};
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, run_thread, &t[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        print_lines(&t[i].worker);
        MPI_Comm_free(&t[i].comm);
    }
    handed(w, group);
}

/* Both threads of a rank send to the next one and receive from the one before, on one communicator
 * with one tag. Who gets which message is left to chance. Neither begins a part before the other
 * has ended the part before: else one could take what the other needs, end, and the ranks wait for
 * each other for ever. */
enum { SHARED = 12 };
static pthread_barrier_t part_ended;

static void *run_shared(void *argument)
{
    Thread *t = argument;
    Worker *w = &t->worker;
    MPI_Request requests[SHARED];
    char *buffers[SHARED];
    int from = (rank + size - 1) % size;
    const Planned to = {rank, (rank + 1) % size, 50};
    for (int round = 0; round < t->rounds; round++) {
        for (int i = 0; i < SHARED; i++) {
            send_one(&to, t->comm, &w->random, &buffers[i], &requests[i]);
            receive_one(w, chance(&w->random, 2) ? from : MPI_ANY_SOURCE,
                        chance(&w->random, 2) ? to.tag : MPI_ANY_TAG, t->comm, t->group);
        }
        MPI_Waitall(SHARED, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < SHARED; i++) {
            if (requests[i] != MPI_REQUEST_NULL)
                MPI_Request_free(&requests[i]); /* a persistent one */
            free(buffers[i]);
        }
        pthread_barrier_wait(&part_ended);
        exchange(w, MPI_COMM_WORLD, t->group);
        pthread_barrier_wait(&part_ended);
        persistent(w, MPI_COMM_WORLD, t->group);
        pthread_barrier_wait(&part_ended);
    }
    return NULL;
}

static void shared(int rounds, const int *group)
{
    Thread t[THREADS];
    pthread_t ids[THREADS];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_barrier_init(&part_ended, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        int number = THREADS + 2 + i;
        t[i] = (Thread){
            {number, 0, 0, (unsigned)(rank * 100 + number), NULL, 0, 0}, comm, group, 0, rounds};
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, run_shared, &t[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < THREADS; i++)
        print_lines(&t[i].worker);
    pthread_barrier_destroy(&part_ended);
    MPI_Comm_free(&comm);
}

/* -- all -- */

int main(int argc, char **argv)
{
    int level, rounds = argc > 2 ? atoi(argv[2]) : 4;
    unsigned agreed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    MPI_Comm comms[COMMS], half, inter;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 3) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", argv[3], rank);
        if (!freopen(name, "w", stdout))
            perror(name), abort();
    }
    int room = 4 * BURST * (ROOM + MPI_BSEND_OVERHEAD) * size;
    char *attached = malloc((size_t)room);
    MPI_Buffer_attach(attached, room);
    Worker w = {0, 0, 0, (unsigned)rank * 7u + agreed, NULL, 0, 0};
    int *world = malloc(sizeof *world * (size_t)size), *remote, *reverse;
    remote = malloc(sizeof *remote * (size_t)size);
    reverse = malloc(sizeof *reverse * (size_t)size);
    for (int i = 0; i < size; i++) {
        world[i] = i;
        reverse[i] = size - 1 - i;
    }
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[2]);
    for (int i = 0; i < rounds; i++) {
        int which = chance(&agreed, COMMS);
        int self = which == 2 ? size - 1 - rank : rank;
        burst(&w, &agreed, comms[which], which == 2 ? reverse : world, self);
        MPI_Barrier(MPI_COMM_WORLD);
        exchange(&w, comms[1], world);
        persistent(&w, MPI_COMM_WORLD, world);
        partitioned(&w, comms[1], world);
        troubled(&w, comms[1], world);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    /* the even and the odd ranks, as two groups */
    if (size > 1) {
        int n = 0, color = rank % 2, dest, bytes;
        char buffer[ROOM];
        MPI_Status status;
        MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - color, 7, &inter);
        for (int i = 0; i < size; i++)
            if (i % 2 != color)
                remote[n++] = i;
        dest = rank / 2 % n;
        MPI_Request sends[4];
        char *messages[4];
        for (int i = 0; i < 4; i++) {
            messages[i] = message(0, &bytes);
            MPI_Isend(messages[i], bytes, MPI_CHAR, dest, i / 2, inter, &sends[i]);
        }
        int mine = 0; /* messages to this rank */
        int self = rank / 2, others = n;
        for (int i = 0; i < others; i++)
            mine += 4 * (i % (color == 0 ? (size + 1) / 2 : size / 2) == self);
        for (int i = 0; i < mine; i++) {
            MPI_Recv(buffer, ROOM, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
            got(&w, 0, w.posted++, buffer, &status, remote);
            w.completed++;
        }
        MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++)
            free(messages[i]);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    if (level == MPI_THREAD_MULTIPLE)
        threads(&w, agreed, rounds, world), shared(rounds, world);
    print_lines(&w);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Buffer_detach(&attached, &room);
    free(attached);
    free(world);
    free(remote);
    free(reverse);
    MPI_Finalize();
    return 0;
}
