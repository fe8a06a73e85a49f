/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.c: calls of MPI from many places: several lines, loops, a branch by rank, an inlined
 * function, threads, callbacks, and a library that is opened, closed and opened again.
 * tests/sites/sites.bats finds the lines by their comments.
 *
 *     sites [LIBRARY]     LIBRARY: a build of sites-library.c */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static MPI_Comm of_threads[2];

__attribute__((noinline)) static void exchange(int *data)
{
    MPI_Request r[2];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(&data[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &r[0]);  /* site: receive */
    MPI_Isend(&data[1], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &r[1]); /* site: send */
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);                           /* site: wait */
}

__attribute__((always_inline)) static inline void synchronize(void)
{
    MPI_Barrier(MPI_COMM_WORLD); /* site: inlined */
}

static void broadcasts(int *data)
{
    for (int i = 0; i < 50; i++) {
        MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD); /* site: in a loop */
        if (i % 7 == 3)
            MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD); /* site: sometimes */
        if (rank == 0)
            MPI_Bcast(data, 2, MPI_INT, 0, MPI_COMM_WORLD); /* site: of rank 0 */
        else /* another buffer, so that no compiler makes one call of both */
            MPI_Bcast(data + 1, 2, MPI_INT, 0, MPI_COMM_WORLD); /* site: of others */
    }
    for (int i = 0; i < 5 + rank; i++)
        MPI_Comm_rank(MPI_COMM_SELF, data); /* site: as often as the rank says */
    MPI_Comm_rank(MPI_COMM_SELF, data);     /* site: after it */
}

static void polls(int *data)
{
    MPI_Request r;
    int done = 0, flag;
    MPI_Irecv(data, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r);
    for (int i = 0; i < 3; i++)
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE); /* site: too early */
    MPI_Send(data + 1, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
    while (!done)
        MPI_Test(&r, &done, MPI_STATUS_IGNORE); /* site: until it is there */
}

static void *thread(void *number)
{
    MPI_Comm comm = of_threads[*(int *)number];
    int data = 0;
    if (*(int *)number == 0)
        MPI_Allreduce(MPI_IN_PLACE, &data, 1, MPI_INT, MPI_SUM, comm); /* site: first thread */
    else
        MPI_Allreduce(MPI_IN_PLACE, &data, 1, MPI_INT, MPI_MAX, comm); /* site: second thread */
    return NULL;
}

static void threads(void)
{
    pthread_t all[2];
    static int numbers[] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&all[i], NULL, thread, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(all[i], NULL);
}

static int freed(MPI_Comm comm, int key, void *value, void *extra)
{
    int n;
    (void)key, (void)value, (void)extra;
    MPI_Comm_size(comm, &n); /* site: callback */
    return MPI_SUCCESS;
}

static void callbacks(void)
{
    int key;
    MPI_Comm comm;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, freed, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_attr(comm, key, &key);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

static void library(const char *path)
{
    for (int i = 0; i < 2; i++) {
        void *handle = dlopen(path, RTLD_NOW);
        void (*call)(void) = handle ? (void (*)(void))dlsym(handle, "sites_call") : NULL;
        if (!call) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        call();
        dlclose(handle);
    }
}

int main(int argc, char **argv)
{
    int data[4] = {0}, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level); /* site: start */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &of_threads[i]);
    for (int i = 0; i < 20; i++) {
        exchange(data);
        synchronize();
    }
    broadcasts(data);
    polls(data);
    if (level == MPI_THREAD_MULTIPLE)
        threads();
    callbacks();
    if (argc > 1 && strcmp(argv[1], "abort") != 0)
        library(argv[1]);
    if (argc > 1 && strcmp(argv[1], "abort") == 0 && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 3); /* site: abort */
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&of_threads[i]);
    MPI_Finalize(); /* site: end */
    return 0;
}
