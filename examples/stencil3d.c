/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil3d: a 7-point stencil on a periodic grid of three dimensions.
 *
 *   stencil3d [-n SIDE] [-i ITERATIONS]
 *
 * SIDE is the edge of each rank's own cube. Faces are described by subarray types and exchanged
 * with MPI_Sendrecv, dimension by dimension, on a Cartesian communicator that wraps around (with
 * two ranks in a dimension both neighbours are the same rank, with one it is the rank itself). A
 * cell becomes the sum of its six neighbours in integers modulo 2^64: the total over all cells is
 * therefore multiplied by 6 each time, exactly. */
#include <inttypes.h>

#include "example.h"

static int n = 6;

static size_t cell(int x, int y, int z)
{
    return ((size_t)x * (n + 2) + y) * (n + 2) + z;
}

static MPI_Datatype face(int dimension, int at)
{
    int sizes[3] = {n + 2, n + 2, n + 2}, sub[3] = {n, n, n}, start[3] = {1, 1, 1};
    MPI_Datatype type;
    sub[dimension] = 1;
    start[dimension] = at;
    MPI_Type_create_subarray(3, sizes, sub, start, MPI_ORDER_C, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    return type;
}

static uint64_t total(const uint64_t *u, MPI_Comm grid)
{
    uint64_t own = 0, sum;
    for (int x = 1; x <= n; x++)
        for (int y = 1; y <= n; y++)
            for (int z = 1; z <= n; z++)
                own += u[cell(x, y, z)];
    MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, grid);
    return sum;
}

int main(int argc, char **argv)
{
    int iterations = 20;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "n:i:")) != -1;)
        switch (o) {
        case 'n':
            n = number(optarg, 1, 1000);
            break;
        case 'i':
            iterations = number(optarg, 0, 100000000);
            break;
        default:
            return 2;
        }

    int size, rank, dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1};
    MPI_Comm grid;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);

    int before[3], after[3];
    MPI_Datatype first[3], last[3], ghost_first[3], ghost_last[3];
    for (int d = 0; d < 3; d++) {
        MPI_Cart_shift(grid, d, 1, &before[d], &after[d]);
        ghost_first[d] = face(d, 0);
        first[d] = face(d, 1);
        last[d] = face(d, n);
        ghost_last[d] = face(d, n + 1);
    }

    size_t cells = cell(n + 1, n + 1, n + 1) + 1;
    uint64_t *u = allocate(cells * sizeof *u), *v = allocate(cells * sizeof *v);
    for (size_t i = 0; i < cells; i++)
        u[i] = v[i] = (uint64_t)rank * 1000003 + i;
    uint64_t expected = total(u, grid);

    for (int it = 0; it < iterations; it++) {
        for (int d = 0; d < 3; d++) {
            MPI_Sendrecv(u, 1, last[d], after[d], d, u, 1, ghost_first[d], before[d], d, grid,
                         MPI_STATUS_IGNORE);
            MPI_Sendrecv(u, 1, first[d], before[d], 3 + d, u, 1, ghost_last[d], after[d], 3 + d,
                         grid, MPI_STATUS_IGNORE);
        }
        for (int x = 1; x <= n; x++)
            for (int y = 1; y <= n; y++)
                for (int z = 1; z <= n; z++)
                    v[cell(x, y, z)] = u[cell(x - 1, y, z)] + u[cell(x + 1, y, z)]
                                       + u[cell(x, y - 1, z)] + u[cell(x, y + 1, z)]
                                       + u[cell(x, y, z - 1)] + u[cell(x, y, z + 1)];
        uint64_t *t = u;
        u = v;
        v = t;
        expected *= 6;
    }
    uint64_t sum = total(u, grid);
    CHECK(sum == expected);
    if (rank == 0)
        printf("stencil3d: %d x %d x %d ranks of %d^3 cells, %d iterations, total %016" PRIx64 "\n",
               dims[0], dims[1], dims[2], n, iterations, sum);

    for (int d = 0; d < 3; d++) {
        MPI_Type_free(&first[d]);
        MPI_Type_free(&last[d]);
        MPI_Type_free(&ghost_first[d]);
        MPI_Type_free(&ghost_last[d]);
    }
    free(u);
    free(v);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
