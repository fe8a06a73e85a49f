/* SPDX-License-Identifier: BSD-3-Clause */
/* wildcards: receives from any source.
 *   (none)  that only one rank sends to: rank 0 sends each other rank messages of different sizes,
 *           large ones among them, which come in their order and so
 *           fit, beside receives that name it
 *   comms   on communicators on which nothing else happens, while on others, some with the same
 *           handle later, receives name their sources
 *   phases  of messages that grow, between which barriers on another communicator of all ranks
 *           stand
 *   started persistent ones, each of which takes messages of several ranks, in other phases than
 *     where it is made
 *   sent    on the world's communicator: who is named afterwards sends when it has heard that the
 *           others are received
 *   locks   likewise, but it is the lock of a window that keeps its message back
 *   empty   beside collective calls that move no data, in which nobody has to wait for another: a
 *           message sent after such a call may come to a receive before it (all, or those of the
 *           kind that the second argument names)
 *   content likewise, but it is what the window holds
 *   mixed   on a communicator on which a later receive names its source: that one sends when it
 *           hears that the others are received */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 8, LARGE = 20000 };
static int buffer[N + 1][LARGE], rank, size;

static void one_sender(void)
{
    MPI_Request requests[N + 1];
    MPI_Status status;
    int count, sum = 0;
    for (int to = 1; rank == 0 && to < size; to++)
        for (int i = 0; i <= N; i++)
            MPI_Send(buffer[i], i == N ? LARGE : N - i, MPI_INT, to, 5, MPI_COMM_WORLD);
    if (rank > 0) {
        for (int i = 0; i < N; i++)
            MPI_Irecv(buffer[i], N - i, MPI_INT, i == 3 ? 0 : MPI_ANY_SOURCE,
                      i % 2 ? 5 : MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Irecv(buffer[N], LARGE, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[N]);
        for (int i = 0; i <= N; i++) {
            MPI_Wait(&requests[i], &status);
            MPI_Get_count(&status, MPI_INT, &count);
            sum += count;
        }
    }
    if (rank == 1)
        printf("%d elements\n", sum);
}

/* The first of a communicator gets COUNT elements from each of the others, or of the N in the other
 * group. */
static void gather(MPI_Comm comm, int n, int count, int by_name)
{
    int me, inter;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_test_inter(comm, &inter);
    if (inter || me > 0)
        MPI_Send(buffer[1], count, MPI_INT, 0, 1, comm);
    for (int i = inter ? 0 : 1; i < n && me == 0; i++)
        MPI_Recv(buffer[0], count, MPI_INT, by_name ? i : MPI_ANY_SOURCE, 1, comm,
                 MPI_STATUS_IGNORE);
}

static void on_their_own(void)
{
    MPI_Comm comm, half, between;
    int low = size / 2, is_low = rank < low;
    for (int i = 0; i < 4; i++) { /* the handles are of the same number */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        gather(comm, size, i % 2 ? LARGE : 1, i % 2);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_split(MPI_COMM_WORLD, is_low, -rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? size - 1 : low - 1, 3, &between);
    gather(between, is_low ? size - low : low, 2, 0);
    gather(half, is_low ? low : size - low, is_low ? LARGE : 3, is_low);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* Likewise, by matched probes. */
static void gather_probed(MPI_Comm comm, int count)
{
    MPI_Message message;
    int me;
    MPI_Comm_rank(comm, &me);
    if (me > 0)
        MPI_Send(buffer[1], count, MPI_INT, 0, 2, comm);
    for (int i = 1; i < size && me == 0; i++) {
        MPI_Mprobe(MPI_ANY_SOURCE, 2, comm, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(buffer[0], count, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
}

static void phases(void)
{
    MPI_Comm comm, backwards; /* in which another rank is the first */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    for (int i = 1; i < 4; i++) {
        gather(MPI_COMM_WORLD, size, i, 0);
        gather(backwards, size, i, 0);
        gather_probed(MPI_COMM_WORLD, i);
        gather_probed(backwards, i);
        MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
    MPI_Comm_free(&backwards);
}

static void mixed(void)
{
    MPI_Comm comm;
    int last = size - 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    gather(comm, size, 1, 0);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank < last)
        gather(comm, last, 1, 0);
    if (rank == 0) {
        MPI_Send(buffer[1], 1, MPI_INT, last, 2, comm);
        MPI_Recv(buffer[0], 1, MPI_INT, last, 1, comm, MPI_STATUS_IGNORE);
    } else if (rank == last) {
        MPI_Recv(buffer[0], 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
        MPI_Send(buffer[1], 1, MPI_INT, 0, 1, comm);
    }
    MPI_Comm_free(&comm);
}

/* How the last one learns that rank 0 has received from all others. */
enum { BY_MESSAGE, BY_LOCK, BY_CONTENT };

static void wait_for_content(MPI_Win window, int value)
{
    int seen = -1;
    while (seen != value) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
}

/* Rank 0 receives from anyone but the last one, whose message it names, and which that one sends at
 * last. */
static void heard(int how)
{
    int last = size - 1, *memory = NULL;
    MPI_Win window;
    buffer[0][0] = -1;
    MPI_Win_create(buffer[0], sizeof buffer[0], sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        if (rank == 0) {
            if (how == BY_LOCK)
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            if (how != BY_MESSAGE)
                MPI_Send(memory, 0, MPI_INT, last, 2, MPI_COMM_WORLD);
            for (int from = 1; from < last; from++)
                MPI_Recv(buffer[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            if (how == BY_MESSAGE)
                MPI_Send(memory, 0, MPI_INT, last, 2, MPI_COMM_WORLD);
            if (how == BY_CONTENT) {
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
                buffer[0][0] = i;
            }
            if (how != BY_MESSAGE)
                MPI_Win_unlock(0, window);
            MPI_Recv(buffer[1], 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank < last) {
            /* Rank 0 is not the only one who is sent to. */
            MPI_Sendrecv(buffer[1], 1, MPI_INT, last - rank, 3, buffer[2], 1, MPI_INT, last - rank,
                         3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(memory, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (how == BY_LOCK) {
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
                MPI_Put(buffer[1], 1, MPI_INT, 0, 0, 1, MPI_INT, window);
                MPI_Win_unlock(0, window);
            }
            if (how == BY_CONTENT)
                wait_for_content(window, i);
            MPI_Send(buffer[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
}

/* Who has been received sends more, of another size, to a receive that names it. */
static void started(void)
{
    MPI_Request request;
    MPI_Status status;
    if (rank == 0)
        MPI_Recv_init(buffer[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    else
        MPI_Send_init(buffer[0], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int from = 1; from < size && rank == 0; from++) {
            MPI_Start(&request);
            MPI_Wait(&request, &status);
            MPI_Recv(buffer[1], LARGE, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        if (rank > 0) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Send(buffer[1], N, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Request_free(&request);
}

/* A collective call that moves no data. 0: there are no more. */
static int move_nothing(int which, MPI_Datatype none)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    int *a = buffer[0], *b = buffer[1], zeros[64] = {0};
    switch (which) {
    case 0:
        return !MPI_Allreduce(a, b, 0, MPI_INT, MPI_SUM, world);
    case 1:
        return !MPI_Allgather(a, 0, MPI_INT, b, 0, MPI_INT, world);
    case 2:
        return !MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, b, 0, MPI_INT, world);
    case 3:
        return !MPI_Alltoall(a, 0, MPI_INT, b, 0, MPI_INT, world);
    case 4:
        return !MPI_Reduce_scatter_block(a, b, 0, MPI_INT, MPI_SUM, world);
    case 5:
        return !MPI_Bcast(a, 0, MPI_INT, 0, world);
    case 6:
        return !MPI_Reduce(a, b, 0, MPI_INT, MPI_SUM, size - 1, world);
    case 7:
        return !MPI_Gather(a, 0, MPI_INT, b, 0, MPI_INT, size - 1, world);
    case 8:
        return !MPI_Scatter(a, 0, MPI_INT, b, 0, MPI_INT, 0, world);
    case 9:
        return !MPI_Allgather(a, 1, none, b, 1, none, world);
    case 10:
        return !MPI_Bcast(a, 1, none, 0, world);
    case 11:
        return !MPI_Allgatherv(a, 0, MPI_INT, b, zeros, zeros, MPI_INT, world);
    case 12:
        return !MPI_Reduce_scatter(a, b, zeros, MPI_INT, MPI_SUM, world);
    default:
        return 0;
    }
}

/* The last one's message overtakes that of rank 1, which is late, if the call lets it. Makes all
 * calls, or three of the kind ONLY. */
static void empty(const char *only)
{
    MPI_Datatype none;
    MPI_Status status;
    int last = size - 1, go_on = 1;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    for (int i = 0; go_on; i++) {
        if (rank == 0)
            MPI_Recv(buffer[2], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        if (rank == 1) {
            usleep(30000);
            MPI_Send(buffer[2], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        go_on = only ? move_nothing(atoi(only), none) && i < 2 : move_nothing(i, none);
        if (rank == last)
            MPI_Send(buffer[2], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(buffer[2], 1, MPI_INT, status.MPI_SOURCE == 1 ? last : 1, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&none);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "comms") == 0)
        on_their_own();
    else if (strcmp(what, "sent") == 0)
        heard(BY_MESSAGE);
    else if (strcmp(what, "locks") == 0)
        heard(BY_LOCK);
    else if (strcmp(what, "content") == 0)
        heard(BY_CONTENT);
    else if (strcmp(what, "empty") == 0)
        empty(argv[2]);
    else if (strcmp(what, "phases") == 0)
        phases();
    else if (strcmp(what, "mixed") == 0)
        mixed();
    else if (strcmp(what, "started") == 0)
        started();
    else
        one_sender();
    MPI_Finalize();
    return 0;
}
