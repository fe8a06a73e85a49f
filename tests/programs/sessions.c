/* SPDX-License-Identifier: BSD-3-Clause */
/* sessions [threads]: communication without MPI_Init, through a session; with "threads" through one
 * of each of three threads, beside MPI_Init_thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#ifndef MPI_SESSION_NULL
int main(void)
{
    puts("this library has no sessions");
    return 1;
}
#else
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
    if (argc < 2) {
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
