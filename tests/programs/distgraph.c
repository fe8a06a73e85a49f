/* SPDX-License-Identifier: BSD-3-Clause */
/* distgraph: graphs made by MPI_Dist_graph_create, whose order of neighbours is the library's
 * choice, and collective operations between neighbours.
 *
 *   distgraph [KIND [REORDER]]
 *
 * KIND is
 *   all      an edge from each rank to each, named by the rank before its beginning
 *   weights  the same with weights
 *   odd      some ranks name others' edges, one edge is named twice, one rank has none
 *   alike    as all, with blocks of one size
 *   first    the same, and each rank asks for its first neighbours only */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };
typedef struct {
    int n, sources[MOST], degrees[MOST], destinations[MOST], weights[MOST];
} Edges;
typedef struct {
    int in, out, sources[MOST], destinations[MOST];
} Neighbours;

static int rank, size;

static void name_edge(Edges *e, int from, int to)
{
    e->sources[e->n] = from;
    e->degrees[e->n] = 1;
    e->weights[e->n] = 100 * from + to;
    e->destinations[e->n++] = to;
}

static Edges edges_of(const char *kind)
{
    Edges e = {0};
    if (strcmp(kind, "odd") != 0) {
        for (int to = 0; to < size; to++)
            name_edge(&e, (rank + 1) % size, to);
        return e;
    }
    /* Rank 0 has no edges, rank 1 one to itself; the last one and rank 0 name some of the others'
     * edges, one of them twice. */
    if (rank == 0)
        for (int to = 1; to < size; to++)
            name_edge(&e, size - 1, to);
    if (rank == 1)
        name_edge(&e, 1, 1);
    if (rank == size - 1)
        for (int from = 1; from < size; from++) {
            name_edge(&e, from, size - 1);
            name_edge(&e, from, size - 1);
        }
    return e;
}

static Neighbours neighbours_of(MPI_Comm graph)
{
    Neighbours n;
    int weighted, in[MOST], out[MOST];
    MPI_Dist_graph_neighbors_count(graph, &n.in, &n.out, &weighted);
    MPI_Dist_graph_neighbors(graph, n.in, n.sources, weighted ? in : MPI_UNWEIGHTED, n.out,
                             n.destinations, weighted ? out : MPI_UNWEIGHTED);
    return n;
}

/* Bytes from one rank of the graph to another. */
static int amount(int from, int to, int alike)
{
    return alike ? 8 : 1 + 7 * from + 3 * to;
}

static void exchange(MPI_Comm graph, const Neighbours *n, int alike)
{
    static char sent[MOST * 1024], received[MOST * 1024];
    int counts[2][MOST], places[2][MOST], own;
    MPI_Comm_rank(graph, &own);
    for (int i = 0, at = 0; i < n->out; at += counts[0][i++]) {
        places[0][i] = at;
        counts[0][i] = amount(own, n->destinations[i], alike);
        memset(&sent[at], own, (size_t)counts[0][i]);
    }
    for (int i = 0, at = 0; i < n->in; at += counts[1][i++]) {
        places[1][i] = at;
        counts[1][i] = amount(n->sources[i], own, alike);
    }
    MPI_Neighbor_alltoallv(sent, counts[0], places[0], MPI_CHAR, received, counts[1], places[1],
                           MPI_CHAR, graph);
    for (int i = 0; i < n->in; i++)
        for (int k = 0; k < counts[1][i]; k++)
            if (received[places[1][i] + k] != n->sources[i])
                MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Neighbor_allgather(&own, 1, MPI_INT, received, 1, MPI_INT, graph);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *kind = argc > 1 ? argv[1] : "all";
    int reorder = argc > 2 ? atoi(argv[2]) : 0, first = strcmp(kind, "first") == 0;
    int alike = first || strcmp(kind, "alike") == 0;
    MPI_Comm graph, copy;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) {
        Edges e = edges_of(kind);
        MPI_Dist_graph_create(MPI_COMM_WORLD, e.n, e.sources, e.degrees, e.destinations,
                              strcmp(kind, "weights") == 0 ? e.weights : MPI_UNWEIGHTED,
                              MPI_INFO_NULL, reorder, &graph);
        Neighbours n = neighbours_of(graph);
        exchange(graph, &n, alike);
        if (first)
            MPI_Dist_graph_neighbors(graph, 1, n.sources, MPI_UNWEIGHTED, 1, n.destinations,
                                     MPI_UNWEIGHTED);
        MPI_Comm_dup(graph, &copy);
        exchange(copy, &n, alike);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&graph);
    }
    MPI_Finalize();
    return 0;
}
