/* SPDX-License-Identifier: BSD-3-Clause */
/* shuffled: an array of requests of nonblocking collective calls, in each place now this call and
 * now that, completed in all ways in a random (and always the same) order, with places that stay
 * empty for a while. */
#include <mpi.h>
#include <stdio.h>

enum { PLACES = 8, COMMS = 3, TURNS = 1500, ROOM = 4 };
static MPI_Comm comms[COMMS];
static MPI_Request requests[PLACES];
static int in[PLACES][ROOM], out[PLACES][ROOM];

static unsigned next(unsigned below)
{
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
}

static void start(int i)
{
    MPI_Comm comm = comms[next(COMMS)];
    switch (next(4)) {
    case 0:
        MPI_Ibarrier(comm, &requests[i]);
        break;
    case 1:
        MPI_Ibcast(in[0], ROOM, MPI_INT, 0, comm, &requests[i]);
        break;
    case 2:
        MPI_Iallreduce(in[i], out[i], ROOM, MPI_INT, MPI_SUM, comm, &requests[i]);
        break;
    case 3:
        MPI_Iallgather(in[i], ROOM, MPI_INT, out[i], ROOM, MPI_INT, comm, &requests[i]);
        break;
    }
}

static void complete(void)
{
    int n, flag, index, indices[PLACES], one = (int)next(PLACES);
    switch (next(8)) {
    case 0:
        MPI_Wait(&requests[one], MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Test(&requests[one], &flag, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Waitall(PLACES, requests, MPI_STATUSES_IGNORE);
        break;
    case 3:
        MPI_Testall(PLACES, requests, &flag, MPI_STATUSES_IGNORE);
        break;
    case 4:
        MPI_Waitany(PLACES, requests, &index, MPI_STATUS_IGNORE);
        break;
    case 5:
        MPI_Testany(PLACES, requests, &index, &flag, MPI_STATUS_IGNORE);
        break;
    case 6:
        MPI_Waitsome(PLACES, requests, &n, indices, MPI_STATUSES_IGNORE);
        break;
    case 7:
        MPI_Testsome(PLACES, requests, &n, indices, MPI_STATUSES_IGNORE);
        break;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    for (int i = 0; i < PLACES; i++)
        start(i);
    for (int turn = 0; turn < TURNS; turn++) {
        complete();
        for (int i = 0; i < PLACES; i++)
            if (requests[i] == MPI_REQUEST_NULL && next(4) > 0)
                start(i);
    }
    MPI_Waitall(PLACES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    puts("shuffled: done");
    MPI_Finalize();
    return 0;
}
