/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what it does, for the test that all of Wend's counts agree: MPI calls, unsuccessful polls,
 * frees of memory that MPI used. Beside these it does what is none of them: a thread that calls no
 * MPI, a function that MPI calls. Each rank prints its numbers in a line: "rank R: CALLS POLLS
 * FREES". Two ranks. With an argument it aborts at its end. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 5, POLLS = 7 };

static long calls, polls, frees;

#define COUNTED(call) (calls++, (call))

static int deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int size;
    (void)keyval, (void)value, (void)extra;
    COUNTED(MPI_Comm_size(comm, &size));
    return MPI_SUCCESS;
}

static void *nothing(void *argument)
{
    return argument;
}

/* Rank 1 sends only after it was told to, so that the tests before find nothing. */
static void poll_in_vain(int rank)
{
    MPI_Request request;
    int done, value = 0;
    if (rank == 0) {
        COUNTED(MPI_Irecv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request));
        for (int i = 0; i < POLLS; i++) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            polls++;
        }
        COUNTED(MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
        COUNTED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        COUNTED(MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        COUNTED(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    int rank, key, provided;
    pthread_t thread;
    COUNTED(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    COUNTED(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    COUNTED(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL));
    COUNTED(MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL));
    for (int i = 0; i < BLOCKS + rank; i++) {
        double *block = calloc(1000, sizeof *block);
        COUNTED(MPI_Bcast(block, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        if (i == BLOCKS - 1 && rank == 0) /* the other rank has one block more */
            COUNTED(MPI_Bcast(block, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        free(block);
        frees++;
    }
    poll_in_vain(rank);
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    COUNTED(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    COUNTED(MPI_Comm_free_keyval(&key));
    if (argc > 1) { /* "abort": ends before MPI_Finalize */
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    calls++;
    printf("rank %d: %ld %ld %ld\n", rank, calls, polls, frees);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
