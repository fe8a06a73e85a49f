/* SPDX-License-Identifier: BSD-3-Clause */
/* late: MPI that comes with a module, as it comes to Python with an extension module that is linked
 * with it.
 *
 *   late MODULE [dlsym|past]   loads it for itself alone and calls run() in it; with "dlsym" calls
 *                              MPI by what the loader finds in the module, with "past" also looks
 *                              up dlsym itself
 *
 * Compiled twice: without MPI the program, with MPI (-DMODULE) the module. */
#ifdef MODULE
#include <mpi.h>
#include <stdio.h>

static int copies;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

int run(void)
{
    int rank, size, provided, sum, degrees[3], own, predefined, flag;
    void *value = NULL;
    MPI_Comm ring, dup;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* What is an address in the library, and not a function that is called: */
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Dist_graph_neighbors_count(ring, &degrees[0], &degrees[1], &degrees[2]);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &predefined, NULL);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &own, NULL);
    MPI_Comm_set_attr(ring, predefined, &copies);
    MPI_Comm_set_attr(ring, own, &copies);
    MPI_Comm_dup(ring, &dup);
    MPI_Comm_get_attr(dup, own, &value, &flag);
    printf("rank %d: level %d, sum %d, degrees %d %d, weighted %d, copies %d, value %d\n", rank,
           provided == MPI_THREAD_MULTIPLE, sum, degrees[0], degrees[1], degrees[2], copies,
           flag && value == (char *)&copies + 1);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &sum, 1, MPI_INT, dup);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&ring);
    MPI_Comm_free_keyval(&own);
    MPI_Comm_free_keyval(&predefined);
    return MPI_Finalize();
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!module) {
        fprintf(stderr, "late: %s\n", argc > 1 ? dlerror() : "no module");
        return 2;
    }
    if (argc > 2) {
        void *(*look)(void *, const char *) = dlsym;
        if (strcmp(argv[2], "past") == 0)
            *(void **)&look = dlsym(RTLD_DEFAULT, "dlsym");
        ((int (*)(int *, char ***))look(module, "MPI_Init"))(NULL, NULL);
        return ((int (*)(void))look(module, "MPI_Finalize"))();
    }
    return ((int (*)(void))dlsym(module, "run"))();
}
#endif
