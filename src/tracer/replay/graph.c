/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c: MPI_Dist_graph_create with the neighbours in the recorded order. That order is the
 * library's choice, and the program sees it (lib/record/neighbours.h). */
#include "enforce.h"
#include "lib/base/budget.h"
#include "lib/record/neighbours.h"
#include "own.gen.h"

enum { LENGTH = 2, WORDS = 3 }; /* in the outcome */

static bool recorded_neighbours(const ActiveCall *c, Neighbours *g)
{
    const RecordedCall *r = c->recorded;
    return !r->failed && r->n_outcome >= WORDS
           && r->outcome[LENGTH] == (int64_t)(r->n_outcome - WORDS)
           && neighbours_read(r->outcome + WORDS, r->outcome[LENGTH], g);
}

static void put_numbers(int *to, const int64_t *from, int64_t n, int base)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = base + (int)from[i];
}

static int *weights_of(const Neighbours *g, int side, int *weights)
{
    return !g->weighted ? MPI_UNWEIGHTED : g->n[side] == 0 ? MPI_WEIGHTS_EMPTY : weights;
}

/* Makes *ORDERED, the graph with the neighbours G. NUMBERS: room for ranks and weights. */
static int create_ordered(MPI_Comm graph, const Neighbours *g, int *numbers, MPI_Info info,
                          MPI_Comm *ordered)
{
    int self, *ranks[2], *weights[2];
    for (int side = 0; side < 2; side++) {
        ranks[side] = numbers;
        weights[side] = numbers + g->n[side];
        numbers += 2 * g->n[side];
    }
    PMPI_Comm_rank(graph, &self);
    for (int side = 0; side < 2; side++) {
        put_numbers(ranks[side], g->ranks[side], g->n[side], self);
        if (g->weighted)
            put_numbers(weights[side], g->weights[side], g->n[side], 0);
    }
    return PMPI_Dist_graph_create_adjacent(graph, (int)g->n[0], ranks[0],
                                           weights_of(g, 0, weights[0]), (int)g->n[1], ranks[1],
                                           weights_of(g, 1, weights[1]), info, 0, ordered);
}

int replay_dist_graph_create(ActiveCall *c, MPI_Comm comm_old, int n, const int *sources,
                             const int *degrees, const int *destinations, const int *weights,
                             MPI_Info info, int reorder, MPI_Comm *graph)
{
    Neighbours g;
    MPI_Comm ordered;
    /* The library may give the processes other ranks in the graph, as it did. */
    int rc = PMPI_Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info,
                                    reorder, graph);
    if (rc != MPI_SUCCESS || !recorded_neighbours(c, &g))
        return rc;
    size_t size = (size_t)(2 * (g.n[0] + g.n[1]) + 1) * sizeof(int);
    int *numbers = budget_zeroed(size);
    if (!numbers)
        return rc;
    rc = create_ordered(*graph, &g, numbers, info, &ordered);
    budget_free(numbers, size);
    if (rc == MPI_SUCCESS) {
        PMPI_Comm_free(graph);
        *graph = ordered;
    }
    return rc;
}
