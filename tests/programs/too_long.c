/* SPDX-License-Identifier: BSD-3-Clause */
/* too_long.c: messages that are too long for their receives, which complete in each way. Prints
 * what the statuses say. Their numbers of bytes are what the library left there: in MPICH what
 * another receive counted, in Open MPI the message's length. For two ranks. With LATE in the
 * environment each message comes that many microseconds late. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAYS = 8, SENT = 5, ROOM = 2, BEFORE = 3 };

/* Receives one message in way WAY; its tag is WAY. */
static int receive(int way, int *v, MPI_Status *s)
{
    MPI_Request r;
    int index, n, flag = 0, rc;
    switch (way) {
    case 0:
        return MPI_Recv(v, ROOM, MPI_INT, 1, way, MPI_COMM_WORLD, s);
    case 1:
        return MPI_Sendrecv(v, 0, MPI_INT, MPI_PROC_NULL, 0, v, ROOM, MPI_INT, MPI_ANY_SOURCE, way,
                            MPI_COMM_WORLD, s);
    }
    MPI_Irecv(v, ROOM, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &r);
    switch (way) {
    case 2:
        return MPI_Wait(&r, s);
    case 3:
        return MPI_Waitany(1, &r, &index, s);
    case 4:
        return MPI_Waitall(1, &r, s) == MPI_SUCCESS ? MPI_SUCCESS : s->MPI_ERROR;
    case 5:
        return MPI_Waitsome(1, &r, &n, &index, s) == MPI_SUCCESS ? MPI_SUCCESS : s->MPI_ERROR;
    case 6:
        do
            rc = MPI_Testany(1, &r, &index, &flag, s);
        while (rc == MPI_SUCCESS && !flag);
        return rc;
    default:
        do
            rc = MPI_Test(&r, &flag, s);
        while (rc == MPI_SUCCESS && !flag);
        return rc;
    }
}

/* Messages of one length from rank 1, whose requests the library uses again. */
static void exchange(int rank, int length)
{
    MPI_Request r[BEFORE];
    MPI_Status s[BEFORE];
    int v[BEFORE][WAYS] = {{0}};
    for (int i = 0; i < BEFORE; i++)
        if (rank == 0)
            MPI_Irecv(v[i], WAYS, MPI_INT, 1, 100, MPI_COMM_WORLD, &r[i]);
        else
            MPI_Isend(v[i], length, MPI_INT, 0, 100, MPI_COMM_WORLD, &r[i]);
    MPI_Waitall(BEFORE, r, s);
}

int main(int argc, char **argv)
{
    int rank, v[SENT] = {1, 2, 3, 4, 5};
    const char *late = getenv("LATE");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int way = 0; way < WAYS; way++) {
        exchange(rank, 1 + way);
        if (rank == 1 && late)
            usleep((useconds_t)atoi(late));
        if (rank == 1)
            MPI_Send(v, SENT, MPI_INT, 0, way, MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Status s;
            int got[SENT] = {0}, class, bytes;
            MPI_Error_class(receive(way, got, &s), &class);
            MPI_Get_count(&s, MPI_BYTE, &bytes);
            printf("way %d: %s, source %d, tag %d, %d bytes\n", way,
                   class == MPI_ERR_TRUNCATE ? "too long" : "other", s.MPI_SOURCE, s.MPI_TAG,
                   bytes);
        }
    }
    MPI_Finalize();
    return 0;
}
