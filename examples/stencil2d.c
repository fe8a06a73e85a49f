/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil2d: Jacobi iteration with a 5-point stencil on a square grid with fixed borders.
 *
 *   stencil2d [-n SIDE] [-i ITERATIONS] [-r EVERY]
 *
 * Ranks form a two-dimensional grid without wrap-around: neighbours outside are MPI_PROC_NULL, so
 * that every rank makes the same calls. Each iteration exchanges four borders with nonblocking
 * calls; every EVERY iterations (0: never) the residual is summed over all ranks. Rank 0 computes
 * the same grid alone and compares: the arithmetic is the same, so the result must be too, bit by
 * bit. */
#include <math.h>
#include <string.h>

#include "example.h"

static int side = 48, iterations = 50, every = 10;

static double border(int row, int column) /* value of a cell of the frame around the grid */
{
    return row < 0 ? 1.0 : column < 0 ? 0.5 : row >= side ? -1.0 : column >= side ? 0.25 : 0.0;
}

/* A block of ROWS × COLUMNS cells, stored with a frame one cell wide. */
static void fill(double *u, int rows, int columns, int row0, int column0)
{
    for (int i = 0; i < rows + 2; i++)
        for (int j = 0; j < columns + 2; j++)
            u[i * (columns + 2) + j] = border(row0 + i - 1, column0 + j - 1);
}

static double sweep(const double *u, double *v, int rows, int columns)
{
    int pitch = columns + 2;
    double residual = 0;
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j <= columns; j++) {
            const double *c = &u[i * pitch + j];
            double next = 0.25 * (c[-pitch] + c[pitch] + c[-1] + c[1]);
            residual += fabs(next - *c);
            v[i * pitch + j] = next;
        }
    return residual;
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

static void first_and_count(int total, int parts, int part, int *first, int *count)
{
    *first = (int)((long)total * part / parts);
    *count = (int)((long)total * (part + 1) / parts) - *first;
}

/* Rank 0: the whole grid, computed here and collected from everyone. */
static void compare(const double *mine, int rows, int columns, MPI_Comm grid, const int dims[2])
{
    int rank, size;
    MPI_Comm_rank(grid, &rank);
    MPI_Comm_size(grid, &size);
    int pitch = columns + 2;
    double *block = allocate(sizeof *block * rows * columns);
    for (int i = 0; i < rows; i++)
        memcpy(block + i * columns, mine + (i + 1) * pitch + 1, sizeof *block * columns);
    if (rank != 0) {
        MPI_Send(block, rows * columns, MPI_DOUBLE, 0, 2, grid);
        free(block);
        return;
    }
    size_t bytes = sizeof(double) * (side + 2) * (side + 2);
    double *u = allocate(bytes), *v = allocate(bytes), *all = allocate(bytes);
    fill(u, side, side, 0, 0);
    fill(v, side, side, 0, 0);
    for (int it = 0; it < iterations; it++) {
        sweep(u, v, side, side);
        swap(&u, &v);
    }
    for (int r = 0; r < size; r++) {
        int at[2], row0, nrows, column0, ncolumns;
        MPI_Cart_coords(grid, r, 2, at);
        first_and_count(side, dims[0], at[0], &row0, &nrows);
        first_and_count(side, dims[1], at[1], &column0, &ncolumns);
        if (r == 0)
            memcpy(all, block, sizeof *all * rows * columns);
        else
            MPI_Recv(all, nrows * ncolumns, MPI_DOUBLE, r, 2, grid, MPI_STATUS_IGNORE);
        for (int i = 0; i < nrows; i++)
            CHECK(memcmp(all + i * ncolumns, u + (row0 + i + 1) * (side + 2) + column0 + 1,
                         sizeof *all * ncolumns)
                  == 0);
    }
    double mean = 0;
    for (int i = 1; i <= side; i++)
        for (int j = 1; j <= side; j++)
            mean += u[i * (side + 2) + j] / ((double)side * side);
    printf("stencil2d: %d x %d cells, %d x %d ranks, %d iterations, mean %.6f\n", side, side,
           dims[0], dims[1], iterations, mean);
    free(u);
    free(v);
    free(all);
    free(block);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "n:i:r:")) != -1;)
        switch (o) {
        case 'n':
            side = number(optarg, 1, 10000);
            break;
        case 'i':
            iterations = number(optarg, 0, 100000000);
            break;
        case 'r':
            every = number(optarg, 0, 100000000);
            break;
        default:
            return 2;
        }

    int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, at[2];
    MPI_Comm grid;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);

    int up, down, left, right;
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);

    int row0, rows, column0, columns;
    first_and_count(side, dims[0], at[0], &row0, &rows);
    first_and_count(side, dims[1], at[1], &column0, &columns);
    CHECK(rows > 0 && columns > 0); /* a grid smaller than the ranks */
    int pitch = columns + 2;
    size_t bytes = sizeof(double) * (rows + 2) * pitch;
    double *u = allocate(bytes), *v = allocate(bytes);
    fill(u, rows, columns, row0, column0);
    fill(v, rows, columns, row0, column0);

    MPI_Datatype column;
    MPI_Type_vector(rows, 1, pitch, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);

    double residual = 0;
    for (int it = 1; it <= iterations; it++) {
        MPI_Request requests[8];
        MPI_Irecv(&u[0 * pitch + 1], columns, MPI_DOUBLE, up, 0, grid, &requests[0]);
        MPI_Irecv(&u[(rows + 1) * pitch + 1], columns, MPI_DOUBLE, down, 0, grid, &requests[1]);
        MPI_Irecv(&u[1 * pitch + 0], 1, column, left, 1, grid, &requests[2]);
        MPI_Irecv(&u[1 * pitch + columns + 1], 1, column, right, 1, grid, &requests[3]);
        MPI_Isend(&u[1 * pitch + 1], columns, MPI_DOUBLE, up, 0, grid, &requests[4]);
        MPI_Isend(&u[rows * pitch + 1], columns, MPI_DOUBLE, down, 0, grid, &requests[5]);
        MPI_Isend(&u[1 * pitch + 1], 1, column, left, 1, grid, &requests[6]);
        MPI_Isend(&u[1 * pitch + columns], 1, column, right, 1, grid, &requests[7]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        double own = sweep(u, v, rows, columns), before = residual;
        swap(&u, &v);
        if (every > 0 && it % every == 0) {
            MPI_Allreduce(&own, &residual, 1, MPI_DOUBLE, MPI_SUM, grid);
            CHECK(it == every || residual <= before * (1 + 1e-12)); /* Jacobi converges */
        }
    }
    compare(u, rows, columns, grid, dims);

    free(u);
    free(v);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
