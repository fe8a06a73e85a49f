/* SPDX-License-Identifier: BSD-3-Clause */
/* partners: requests in arrays at places that differ by rank and from time to time. All messages
 * are small, so that the library may give their sends one handle. */
#include <mpi.h>

enum { MOST = 64, STEPS = 12 };

static int rank, size, out, in[MOST];
static MPI_Request sends[MOST], receives[MOST];

/* To and from each other rank, where each has its entry: nothing in one's own. */
static void all_others(int tag)
{
    for (int i = 0; i < size; i++) {
        int peer = (rank + i) % size;
        sends[peer] = receives[peer] = MPI_REQUEST_NULL;
        if (peer == rank)
            continue;
        MPI_Irecv(&in[peer], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &receives[peer]);
        MPI_Isend(&out, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &sends[peer]);
    }
    MPI_Waitall(size, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
}

/* The same messages, side by side; the first entry is for another rank each time. */
static void some_first(int first, int tag)
{
    int n = 0;
    for (int i = 0; i < size; i++) {
        int peer = (first + i) % size;
        if (peer != rank)
            MPI_Irecv(&in[peer], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &receives[n++]);
    }
    for (int i = n = 0; i < size; i++) {
        int peer = (size - 1 + first - i) % size;
        if (peer != rank)
            MPI_Isend(&out, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &sends[n++]);
    }
    MPI_Waitall(n, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
}

/* Copies that stand otherwise than the requests themselves do: backwards, and with nothing where
 * one is that goes on. */
static void copied(int tag)
{
    MPI_Request requests[4], backwards[4], first[4];
    for (int i = 0; i < 2; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, (rank + size - 1) % size, tag + i, MPI_COMM_WORLD,
                      &requests[i]);
        MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, tag + i, MPI_COMM_WORLD,
                      &requests[2 + i]);
    }
    for (int step = 0; step < 3; step++) {
        MPI_Startall(4, requests);
        for (int i = 0; i < 4; i++)
            backwards[i] = requests[3 - i];
        MPI_Waitall(4, backwards, MPI_STATUSES_IGNORE);
    }
    MPI_Startall(4, requests);
    for (int i = 0; i < 4; i++)
        first[i] = i % 2 ? MPI_REQUEST_NULL : requests[i];
    MPI_Waitall(4, first, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < STEPS; step++)
        all_others(1);
    for (int step = 0; step < STEPS; step++) /* in no order */
        some_first(step * step / 3 % size, 2);
    for (int step = 0; step < 10 * STEPS; step++) { /* by turns */
        some_first(step % size, 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    copied(3);
    MPI_Finalize();
    return 0;
}
