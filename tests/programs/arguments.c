/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments: what is not significant is not read: garbage at processes other than the root and
 * beside MPI_IN_PLACE; and arguments that MPI refuses. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int *volatile garbage = (int *)(uintptr_t)0x7b; /* not NULL, not mapped */
static volatile int minus = -1;
static MPI_Datatype no_type;

static int failures(int rc)
{
    return rc != MPI_SUCCESS;
}

/* Groups by ranges of ranks, also by none. */
static void ranges_of_ranks(int size)
{
    MPI_Group all, made;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int n = 0; n < 3; n++)
        for (int exclude = 0; exclude < 2; exclude++) {
            int ranges[2][3] = {{0, 0, 1}, {1, size - 1, 2}};
            if (exclude)
                MPI_Group_range_excl(all, n, ranges, &made);
            else
                MPI_Group_range_incl(all, n, ranges, &made);
            if (made != MPI_GROUP_EMPTY)
                MPI_Group_free(&made);
        }
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(3, MPI_INT, &no_type);
    MPI_Datatype gone = no_type;
    MPI_Type_free(&no_type); /* GONE is a handle of nothing */

    int root = size - 1, *all = calloc((size_t)size * 2, sizeof *all),
        *counts = calloc((size_t)size, sizeof *counts),
        *displs = calloc((size_t)size, sizeof *displs), mine[2] = {rank, rank + 1}, sum = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = 2;
        displs[i] = 2 * i;
    }
    ranges_of_ranks(size);
    int at_root = rank == root;
    MPI_Gather(mine, 2, MPI_INT, at_root ? all : garbage, at_root ? 2 : -7,
               at_root ? MPI_INT : gone, root, MPI_COMM_WORLD);
    MPI_Gatherv(mine, 2, MPI_INT, at_root ? all : garbage, at_root ? counts : garbage,
                at_root ? displs : garbage, at_root ? MPI_INT : gone, root, MPI_COMM_WORLD);
    if (at_root)
        for (int i = 0; i < 2 * size; i++)
            sum += all[i];
    MPI_Scatterv(at_root ? all : garbage, at_root ? counts : garbage, at_root ? displs : garbage,
                 at_root ? MPI_INT : gone, mine, 2, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Reduce(mine, at_root ? all : garbage, 2, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Igatherv(mine, 2, MPI_INT, at_root ? all : garbage, at_root ? counts : garbage,
                 at_root ? displs : garbage, at_root ? MPI_INT : gone, root, MPI_COMM_WORLD,
                 &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    /* what MPI_IN_PLACE voids */
    MPI_Allgather(MPI_IN_PLACE, -3, gone, all, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, -3, gone, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(MPI_IN_PLACE, garbage, garbage, gone, all, counts, displs, MPI_INT,
                  MPI_COMM_WORLD);
    if (at_root)
        MPI_Gather(MPI_IN_PLACE, -3, gone, all, 2, MPI_INT, root, MPI_COMM_WORLD);
    else
        MPI_Gather(mine, 2, MPI_INT, garbage, 0, gone, root, MPI_COMM_WORLD);

    /* an intercommunicator: only the group opposite the root contributes, only the root receives */
    MPI_Comm half, inter;
    int upper = rank >= size / 2, got = 0;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Intercomm_create(half, 0,
                         rank == 0 || rank == size / 2 ? MPI_COMM_WORLD : (MPI_Comm)MPI_COMM_NULL,
                         upper ? 0 : size / 2, 5, &inter);
    int *others = calloc((size_t)size * 2, sizeof *others);
    if (!upper)
        MPI_Gather(garbage, -9, gone, rank == 0 ? others : garbage, 2, rank == 0 ? MPI_INT : gone,
                   rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    else
        MPI_Gather(mine, 2, MPI_INT, garbage, -9, gone, 0, inter);
    for (int i = 0; i < 2 * size; i++)
        got += others[i];

    /* weights that are not arrays, sources and destinations of no length */
    MPI_Comm graph;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    int in = -1, neighbor[2], from = -1, to = -1;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &in, 1, MPI_INT, graph);
    MPI_Dist_graph_neighbors(graph, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                   MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&graph);

    /* refused */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int n = 0, index;
    MPI_Comm nothing;
    MPI_Datatype type;
    n += failures(MPI_Comm_rank(MPI_COMM_NULL, &index));
    n += failures(MPI_Gatherv(mine, 1, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_NULL));
    n += failures(MPI_Waitall(0, NULL, NULL)); /* fine */
    n += failures(MPI_Waitall(minus, NULL, MPI_STATUSES_IGNORE));
    n += failures(MPI_Waitany(-1, NULL, &index, MPI_STATUS_IGNORE));
    n += failures(MPI_Startall(-2, NULL));
    n += failures(MPI_Type_indexed(-1, NULL, NULL, MPI_INT, &type));
    n += failures(MPI_Type_create_struct(-1, counts, NULL, NULL, &type));
    n += failures(MPI_Group_incl(MPI_GROUP_NULL, 2, counts, (MPI_Group[1]){MPI_GROUP_NULL}));
    n += failures(MPI_Cart_create(MPI_COMM_WORLD, -1, NULL, NULL, 0, &nothing));
    n += failures(MPI_Cart_rank(MPI_COMM_WORLD, neighbor, &index));
    n += failures(MPI_Comm_free((MPI_Comm[1]){MPI_COMM_NULL}));
    n += failures(MPI_Type_free((MPI_Datatype[1]){MPI_DATATYPE_NULL}));
    n += failures(MPI_Comm_set_name(MPI_COMM_WORLD, NULL));
    n += failures(MPI_Info_get(MPI_INFO_NULL, "key", 3, (char[8]){0}, &index));

    /* All told by one: lines of several ranks come in any order. */
    int found[] = {rank, sum, got, from, in, to, n}, *told = malloc((size_t)size * sizeof found);
    MPI_Gather(found, 7, MPI_INT, told, 7, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%d: sum %d, opposite %d, from %d in %d to %d, %d refused\n", told[7 * i],
               told[7 * i + 1], told[7 * i + 2], told[7 * i + 3], told[7 * i + 4], told[7 * i + 5],
               told[7 * i + 6]);
    free(told);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    free(others);
    free(displs);
    free(counts);
    free(all);
    MPI_Finalize();
    return 0;
}
