/* SPDX-License-Identifier: BSD-3-Clause */
/* threads: MPI_THREAD_MULTIPLE; each thread exchanges with the thread of the same number on the
 * next rank, on a communicator of its own. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, TURNS = 20 };
static int rank, size;
static MPI_Comm comms[THREADS];

static void *run(void *argument)
{
    int me = (int)(long)argument, in;
    for (int i = 0; i < TURNS + me; i++) {
        int out = rank * 1000 + me * 100 + i;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT,
                     (rank + size - 1) % size, i, comms[me], MPI_STATUS_IGNORE);
        if (in != (rank + size - 1) % size * 1000 + me * 100 + i)
            MPI_Abort(MPI_COMM_WORLD, 5);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 6);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    /* one after the other started, so that their numbers are the same everywhere */
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, run, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    if (rank == 0)
        printf("threads: %d ranks, %d threads\n", size, THREADS);
    MPI_Finalize();
    return 0;
}
