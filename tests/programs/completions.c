/* SPDX-License-Identifier: BSD-3-Clause */
/* completions: requests that complete in any order, and what the program does upon each.
 *
 *   completions FUNCTION BODY [ROUNDS]
 *
 * Each rank gets messages from every other one, each with a receive that is posted again until all
 * have come; from some there are more than from others. FUNCTION says how it waits: waitany
 * waitsome testany testsome waitall testall wait test. BODY is what it does upon a completion,
 * beside posting again: nothing; local (a call that only some completions make); reply (a message
 * back, smaller or larger by turns); start (the receives are persistent); place (the same calls
 * whoever it was); memory (a new buffer for an answer); blocking (receive a second message, and
 * wait until it is there). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, TAG_MESSAGE = 1, TAG_REPLY, TAG_SECOND };
static const char *const functions[] = {"waitany", "waitsome", "testany", "testsome",
                                        "waitall", "testall",  "wait",    "test"};
enum { WAITANY, WAITSOME, TESTANY, TESTSOME, WAITALL, TESTALL, WAIT, TEST, FUNCTIONS };
static const char *const bodies[] = {"nothing", "local",  "reply",   "start",
                                     "place",   "memory", "blocking"};
enum { NOTHING, LOCAL, REPLY, START, PLACE, MEMORY, BLOCKING, BODIES };

static int rank, size, n, body, peer_of[MOST], left[MOST], done[MOST], in[MOST], out[MOST][8],
    answers[MOST][8], seconds[MOST];
static char *memory[MOST][8];
static MPI_Request receives[MOST], sends[4 * 8 * MOST];
static int n_sends;
static long sum;

static int messages(int from, int to)
{
    return 2 + (from + 2 * to) % 3;
}

static void post(int i)
{
    if (body == START)
        MPI_Start(&receives[i]);
    else
        MPI_Irecv(&in[i], 1, MPI_INT, peer_of[i], TAG_MESSAGE, MPI_COMM_WORLD, &receives[i]);
}

static void completed(int i)
{
    int k = done[i]++, flag, value;
    sum += in[i];
    switch (body) {
    case LOCAL:
        if ((k + i) % 2 == 0)
            MPI_Initialized(&flag);
        break;
    case REPLY:
        MPI_Send(&k, k % 2, MPI_INT, peer_of[i], TAG_REPLY, MPI_COMM_WORLD);
        break;
    case PLACE:
        MPI_Initialized(&flag);
        MPI_Comm_size(MPI_COMM_WORLD, &value);
        break;
    case MEMORY:
        memory[i][k] = calloc(1, 64);
        MPI_Isend(memory[i][k], 1, MPI_INT, peer_of[i], TAG_REPLY, MPI_COMM_WORLD,
                  &sends[n_sends++]);
        break;
    case BLOCKING:
        MPI_Recv(&seconds[i], 1, MPI_INT, peer_of[i], TAG_SECOND, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        break;
    }
    if (--left[i] > 0)
        post(i);
}

static void wait_for_all(int function)
{
    int which[MOST], count, flag, pending;
    MPI_Status statuses[MOST];
    for (;;) {
        pending = count = 0;
        for (int i = 0; i < n; i++)
            pending += left[i];
        if (pending == 0)
            return;
        switch (function) {
        case WAITANY:
            MPI_Waitany(n, receives, which, statuses);
            count = 1;
            break;
        case TESTANY:
            MPI_Testany(n, receives, which, &count, statuses);
            break;
        case WAITSOME:
            MPI_Waitsome(n, receives, &count, which, statuses);
            break;
        case TESTSOME:
            MPI_Testsome(n, receives, &count, which, statuses);
            break;
        case WAITALL:
        case TESTALL:
            flag = function == WAITALL ? MPI_Waitall(n, receives, statuses) == MPI_SUCCESS : 0;
            if (function == TESTALL)
                MPI_Testall(n, receives, &flag, statuses);
            for (int i = 0; i < n && flag; i++)
                if (left[i] > 0)
                    which[count++] = i;
            break;
        case WAIT:
        case TEST:
            for (int i = 0; i < n; i++) {
                flag = 1;
                if (left[i] > 0 && function == WAIT)
                    MPI_Wait(&receives[i], statuses);
                else if (left[i] > 0)
                    MPI_Test(&receives[i], &flag, statuses);
                if (left[i] > 0 && flag)
                    which[count++] = i;
            }
            break;
        }
        for (int k = 0; k < count; k++)
            completed(which[k]);
    }
}

static int find(const char *name, const char *const *names, int many)
{
    for (int i = 0; i < many; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    exit(2);
}

static void run(int function)
{
    MPI_Request answers_to[8 * MOST];
    int n_answers = 0;
    n_sends = 0;
    for (int i = 0; i < n; i++) {
        left[i] = messages(peer_of[i], rank);
        done[i] = 0;
        if (body == START)
            MPI_Recv_init(&in[i], 1, MPI_INT, peer_of[i], TAG_MESSAGE, MPI_COMM_WORLD,
                          &receives[i]);
        post(i);
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < messages(rank, peer_of[i]); k++) {
            out[i][k] = 100 * rank + k;
            if (body == REPLY || body == MEMORY)
                MPI_Irecv(&answers[i][k], 1, MPI_INT, peer_of[i], TAG_REPLY, MPI_COMM_WORLD,
                          &answers_to[n_answers++]);
            MPI_Isend(&out[i][k], 1, MPI_INT, peer_of[i], TAG_MESSAGE, MPI_COMM_WORLD,
                      &sends[n_sends++]);
            if (body == BLOCKING)
                MPI_Isend(&out[i][k], 1, MPI_INT, peer_of[i], TAG_SECOND, MPI_COMM_WORLD,
                          &sends[n_sends++]);
        }
    }
    wait_for_all(function);
    MPI_Waitall(n_sends, sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(n_answers, answers_to, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        if (body == START)
            MPI_Request_free(&receives[i]);
        for (int k = 0; k < 8; k++) {
            free(memory[i][k]);
            memory[i][k] = NULL;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int function = find(argv[1], functions, FUNCTIONS), rounds = argc > 3 ? atoi(argv[3]) : 1;
    body = find(argv[2], bodies, BODIES);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int peer = 0; peer < size && n < MOST; peer++)
        if (peer != rank)
            peer_of[n++] = peer;
    long expected = 0, all, right;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < messages(peer_of[i], rank); k++)
            expected += rounds * (100 * peer_of[i] + k);
    for (int r = 0; r < rounds; r++)
        run(function);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&expected, &right, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("completions: %s, %s: %s\n", argv[1], argv[2],
               all == right ? "as expected" : "wrong");
    MPI_Finalize();
    return 0;
}
