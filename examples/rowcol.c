/* SPDX-License-Identifier: BSD-3-Clause */
/* rowcol: a power iteration y = A x on a square grid of ranks, with a communicator for each row and
 * each column, and a transpose.
 *
 *   rowcol [-n BLOCK] [-i ITERATIONS]
 *
 * The largest square number of ranks takes part; the others get MPI_COMM_NULL and wait. Rank (i, j)
 * holds a block of BLOCK × BLOCK numbers of A, and the part of x that belongs to its column. A
 * product leaves parts of y by row: they are summed along rows, the diagonal of the grid transposes
 * them (rank (i, j) exchanges with rank (j, i)), and the new x goes down the columns. All
 * arithmetic is modulo a prime, and rank 0 repeats it alone. */
#include <stdint.h>
#include <string.h>

#include "example.h"

#define PRIME 2147483647ULL

static uint64_t element(long i, long j)
{
    return (uint64_t)(i * 131 + j * 31 + i * j) % 1009;
}

int main(int argc, char **argv)
{
    int n = 8, iterations = 20;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "n:i:")) != -1;)
        switch (o) {
        case 'n':
            n = number(optarg, 1, 10000);
            break;
        case 'i':
            iterations = number(optarg, 0, 100000000);
            break;
        default:
            return 2;
        }
    int world_rank, world_size, q = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    while ((q + 1) * (q + 1) <= world_size)
        q++;

    MPI_Comm square, row, column;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < q * q ? 0 : MPI_UNDEFINED, world_rank, &square);
    if (square != MPI_COMM_NULL) {
        int rank;
        MPI_Comm_rank(square, &rank);
        int i = rank / q, j = rank % q, transposed = j * q + i;
        MPI_Comm_split(square, i, j, &row);
        MPI_Comm_split(square, j, i, &column);
        MPI_Comm_set_name(row, "row");
        MPI_Comm_set_name(column, "column");

        uint64_t *x = allocate(sizeof *x * n), *part = allocate(sizeof *x * n),
                 *y = allocate(sizeof *x * n);
        for (int k = 0; k < n; k++)
            x[k] = (uint64_t)(j * n + k + 1);
        for (int it = 0; it < iterations; it++) {
            for (int r = 0; r < n; r++) {
                part[r] = 0;
                for (int c = 0; c < n; c++)
                    part[r] = (part[r] + element((long)i * n + r, (long)j * n + c) * x[c]) % PRIME;
            }
            /* to the diagonal rank of the row */
            MPI_Reduce(part, y, n, MPI_UINT64_T, MPI_SUM, i, row);
            MPI_Bcast(y, n, MPI_UINT64_T, i, row);
            MPI_Sendrecv(y, n, MPI_UINT64_T, transposed, it, x, n, MPI_UINT64_T, transposed, it,
                         square, MPI_STATUS_IGNORE);
            for (int k = 0; k < n; k++)
                x[k] %= PRIME;
            /* all of a column must agree by now */
            uint64_t low, high;
            MPI_Allreduce(&x[0], &low, 1, MPI_UINT64_T, MPI_MIN, column);
            MPI_Allreduce(&x[0], &high, 1, MPI_UINT64_T, MPI_MAX, column);
            CHECK(low == high);
        }

        uint64_t *whole = NULL;
        if (i == 0) { /* the first row has all of x */
            whole = allocate(sizeof *whole * n * q);
            MPI_Gather(x, n, MPI_UINT64_T, whole, n, MPI_UINT64_T, 0, row);
        }
        if (rank == 0) {
            int m = n * q;
            uint64_t *a = allocate(sizeof *a * m), *b = allocate(sizeof *b * m);
            for (int k = 0; k < m; k++)
                a[k] = (uint64_t)(k + 1);
            for (int it = 0; it < iterations; it++) {
                for (int r = 0; r < m; r++) {
                    b[r] = 0;
                    for (int c = 0; c < m; c++)
                        b[r] = (b[r] + element(r, c) * a[c]) % PRIME;
                }
                memcpy(a, b, sizeof *a * m);
            }
            CHECK(memcmp(a, whole, sizeof *a * m) == 0);
            printf("rowcol: %d x %d ranks, %d x %d matrix, %d iterations, x[0] = %lu\n", q, q, m, m,
                   iterations, (unsigned long)whole[0]);
            free(a);
            free(b);
        }
        free(whole);
        free(x);
        free(part);
        free(y);
        MPI_Comm_free(&row);
        MPI_Comm_free(&column);
        MPI_Comm_free(&square);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
