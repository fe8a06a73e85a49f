/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting: calls that wait for others, by design. 4 ranks. Compiled by tests/decoder/waits.bats.
 *
 * A rank that is late waits until all others are about to make their calls, and some milliseconds
 * more. So it is late on a busy machine, too. They tell it in the file "steps". */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 5, RANKS = 4 };

static int rank;
static atomic_int *steps; /* of each rank: how often it came to pause_on */

static void sleep_for(int milliseconds)
{
    const struct timespec pause = {0, milliseconds * 1000000L};
    nanosleep(&pause, NULL);
}

static void pause_on(int late, int milliseconds)
{
    int step = ++steps[rank];
    if (rank != late)
        return;
    for (int other = 0; other < RANKS; other++)
        while (steps[other] < step)
            sleep_for(1);
    sleep_for(milliseconds);
}

static void barriers(void)
{
    for (int i = 0; i < TIMES; i++) {
        pause_on(2, 30);
        MPI_Barrier(MPI_COMM_WORLD); /* site: barrier */
    }
}

/* Unsuccessful polls, so that the others are not the first calls of the sequence. */
static void polls(int *data)
{
    MPI_Request request;
    int flag = 0;
    pause_on(0, 1);
    if (rank == 0)
        MPI_Send(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Irecv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    while (rank == 1 && !flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void late_sender(int *data)
{
    for (int i = 0; i < TIMES; i++) {
        pause_on(0, 20);
        if (rank == 0)
            MPI_Send(data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); /* site: late send */
        if (rank == 1)
            MPI_Recv(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, /* site: receive */
                     MPI_STATUS_IGNORE);
    }
}

/* Rank 0 waits for ranks 1 and 3, of which 3 is late. */
static void completions(int *data)
{
    MPI_Request requests[2];
    int index, done, indices[2];
    for (int i = 0; i < 3 * TIMES; i++) {
        pause_on(3, 20);
        if (rank == 1 || rank == 3)
            MPI_Send(data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        if (rank != 0)
            continue;
        MPI_Irecv(&data[0], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&data[1], 1, MPI_INT, 3, 2, MPI_COMM_WORLD, &requests[1]);
        if (i < TIMES)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* site: all */
        for (int k = 0; i >= TIMES && i < 2 * TIMES && k < 2; k++)
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        for (int k = 0; i >= 2 * TIMES && k < 2; k += done) /* perhaps both at once */
            MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
}

static void probes(int *data)
{
    MPI_Message message;
    for (int i = 0; i < TIMES; i++) {
        pause_on(3, 20);
        if (rank == 3)
            MPI_Send(data, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
        if (rank == 3)
            MPI_Send(data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        if (rank == 2) {
            MPI_Probe(3, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(data, 1, MPI_INT, 3, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 1) {
            MPI_Mprobe(3, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(data, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
    }
}

static void collectives(int *data)
{
    MPI_Request request;
    for (int i = 0; i < TIMES; i++) {
        pause_on(1, 20);
        MPI_Bcast(data, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    for (int i = 0; i < TIMES; i++) {
        pause_on(3, 20);
        MPI_Reduce(&data[0], &data[1], 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < TIMES; i++) {
        pause_on(1, 20);
        MPI_Allreduce(&data[0], &data[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < TIMES; i++) {
        pause_on(2, 20);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* site: wait */
    }
}

int main(int argc, char **argv)
{
    int data[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int file = open("steps", O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, RANKS * sizeof *steps) != 0)
        return 1;
    steps = mmap(NULL, RANKS * sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (steps == MAP_FAILED)
        return 1;
    barriers();
    polls(data);
    late_sender(data);
    completions(data);
    probes(data);
    collectives(data);
    return MPI_Finalize();
}
