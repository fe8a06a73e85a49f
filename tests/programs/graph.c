/* SPDX-License-Identifier: BSD-3-Clause */
/* graph: MPI_Dist_graph_neighbors writes no weights where the graph has none, and writes them where
 * it has. */
#include <mpi.h>
#include <stdio.h>

static void neighbours(MPI_Comm graph, int noise)
{
    int sources[2], destinations[2], weights_in[2], weights_out[2], rank;
    for (int i = 0; i < 2; i++)
        sources[i] = destinations[i] = weights_in[i] = weights_out[i] = noise;
    MPI_Dist_graph_neighbors(graph, 2, sources, weights_in, 2, destinations, weights_out);
    MPI_Comm_rank(graph, &rank);
    if (rank == 0)
        printf("%d %d, %d %d\n", weights_in[0], weights_in[1], weights_out[0], weights_out[1]);
}

int main(int argc, char **argv)
{
    int rank, size, around[2], weights[2];
    MPI_Comm graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    around[0] = (rank + 1) % size;
    around[1] = (rank + size - 1) % size;
    weights[0] = weights[1] = 3;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, MPI_UNWEIGHTED, 2, around,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    neighbours(graph, 4711);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, weights, 2, around, weights,
                                   MPI_INFO_NULL, 0, &graph);
    neighbours(graph, 4711);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
