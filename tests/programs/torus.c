/* SPDX-License-Identifier: BSD-3-Clause */
/* torus [CYCLES]: a halo exchange with the neighbours in a torus of four columns; every other row
 * exchanges again along itself, with less, and there every other rank with the one behind its
 * neighbour: what has a value is a part of what has it elsewhere. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 4, SIZE = 32 };

/* Sends COUNT numbers to rank TO, and receives as many from FROM. */
static double exchange(double *out, int count, int to, int from, int tag)
{
    double in[SIZE] = {0};
    MPI_Request request;
    MPI_Irecv(in, count, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request);
    MPI_Send(out, count, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return in[0];
}

int main(int argc, char **argv)
{
    int rank, size, cycles = argc > 1 ? atoi(argv[1]) : 10;
    double out[SIZE] = {0}, sum = 0, norm = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int row = rank / COLUMNS * COLUMNS, x = rank % COLUMNS;
    if (size % COLUMNS) {
        fprintf(stderr, "torus: needs a multiple of %d ranks\n", COLUMNS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int cycle = 0; cycle < cycles; cycle++) {
        out[0] = rank + cycle;
        int right = row + (x + 1) % COLUMNS, left = row + (x + COLUMNS - 1) % COLUMNS;
        int up = (rank + COLUMNS) % size, down = (rank - COLUMNS + size) % size;
        sum += exchange(out, SIZE, right, left, 1) + exchange(out, SIZE, left, right, 2);
        sum += exchange(out, SIZE, up, down, 3) + exchange(out, SIZE, down, up, 4);
        if (rank / COLUMNS % 2) {
            sum +=
                exchange(out, SIZE / 2, right, left, 1) + exchange(out, SIZE / 2, left, right, 2);
            if (x % 2) {
                int next = row + (x + 2) % COLUMNS;
                sum += exchange(out, SIZE / 4, next, next, 1);
            }
        }
        MPI_Allreduce(&sum, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", norm);
    MPI_Finalize();
    return 0;
}
