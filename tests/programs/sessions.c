/* SPDX-License-Identifier: BSD-3-Clause */
/* sessions [threads|polls]: communication without MPI_Init, through a session; with "threads"
 * through one of each of three threads, beside MPI_Init_thread; with "polls" rank 0 also looks for
 * a message of each other rank, in the order in which they come. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef MPI_SESSION_NULL
int main(void)
{
    puts("this library has no sessions");
    return 1;
}
#else
static int wants_polls;

static void poll_all(MPI_Comm comm, int rank, int size)
{
    MPI_Status status;
    for (int i = 1; rank == 0 && i < size; i++) {
        for (int found = 0; !found;)
            MPI_Iprobe(MPI_ANY_SOURCE, 3, comm, &found, &status);
        MPI_Recv(NULL, 0, MPI_INT, status.MPI_SOURCE, 3, comm, MPI_STATUS_IGNORE);
        printf("found rank %d\n", status.MPI_SOURCE);
    }
    if (rank > 0) {
        usleep(2000);
        MPI_Send(NULL, 0, MPI_INT, 0, 3, comm);
    }
}

static void *run(void *name)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, size, sum;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0)
        printf("session of %d ranks: %d\n", size, sum);
    if (wants_polls)
        poll_all(comm, rank, size);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return NULL;
}

int main(int argc, char **argv)
{
    static char names[3][16] = {"wend.tests.0", "wend.tests.1", "wend.tests.2"};
    pthread_t threads[3];
    int provided;
    wants_polls = argc > 1 && strcmp(argv[1], "polls") == 0;
    if (argc < 2 || wants_polls) {
        run("wend.tests");
        return 0;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int t = 0; t < 3; t++)
        pthread_create(&threads[t], NULL, run, names[t]);
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    MPI_Finalize();
    return 0;
}
#endif
