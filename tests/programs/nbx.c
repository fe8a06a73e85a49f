/* SPDX-License-Identifier: BSD-3-Clause */
/* nbx: dynamic sparse data exchange. Each rank sends to ranks that do not know of it: synchronous
 * sends, matched probes from any source, and a nonblocking barrier that begins when the rank's own
 * sends are complete. The round ends with the barrier.
 *
 *   nbx [ROUNDS [SEED [MODE]]]    MODE 0: Improbe and Mrecv, 1: Improbe and Imrecv, 2: Iprobe and
 * Recv, 3: Improbe and Mrecv, sends tested one by one, 4: Improbe and Mrecv, all of one byte */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, ROOM = 4096 };

static unsigned long state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(state >> 33) % below;
}

/* Takes a message that is there, if one is. */
static int receive(int round, int mode, int *bytes)
{
    static char buffer[ROOM];
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    int flag, count;
    if (mode == 2)
        MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &flag, &status);
    else
        MPI_Improbe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &flag, &message, &status);
    if (!flag)
        return 0;
    MPI_Get_count(&status, MPI_CHAR, &count);
    if (mode == 2) {
        MPI_Recv(buffer, count, MPI_CHAR, status.MPI_SOURCE, round, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (mode == 1) {
        MPI_Imrecv(buffer, count, MPI_CHAR, &message, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Mrecv(buffer, count, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    }
    *bytes += count;
    return 1;
}

static int sent(int n, MPI_Request *sends, int mode)
{
    int flag = 1;
    if (mode != 3) {
        MPI_Testall(n, sends, &flag, MPI_STATUSES_IGNORE);
        return flag;
    }
    for (int i = 0; i < n && flag; i++)
        MPI_Test(&sends[i], &flag, MPI_STATUS_IGNORE);
    return flag;
}

int main(int argc, char **argv)
{
    static char data[MOST][ROOM];
    int rank, size, messages = 0, bytes = 0, all[2];
    MPI_Init(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 10, mode = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = (unsigned long)(argc > 2 ? atoi(argv[2]) : 1) * 1000 + (unsigned long)rank;
    for (int round = 0; round < rounds; round++) {
        MPI_Request sends[MOST], barrier = MPI_REQUEST_NULL;
        int n = (int)draw((unsigned)(2 * size)), done = 0;
        for (int i = 0; i < n; i++)
            MPI_Issend(data[i], mode == 4 ? 1 : (int)draw(ROOM), MPI_CHAR,
                       (int)draw((unsigned)size), round, MPI_COMM_WORLD, &sends[i]);
        while (!done) {
            messages += receive(round, mode, &bytes);
            if (barrier != MPI_REQUEST_NULL)
                MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
            else if (sent(n, sends, mode))
                MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        }
    }
    int own[2] = {messages, bytes};
    MPI_Reduce(own, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d messages, %d bytes\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
