/* SPDX-License-Identifier: BSD-3-Clause */
/* pointers.c: a program that has CUDA's functions in a table, and calls them by that alone. */
#include <mpi.h>

#include "cuda_runtime.h"

static cudaError_t (*const allocate[])(void **, size_t) = {cudaMalloc, cudaMallocHost};
static cudaError_t (*const release[])(void *) = {cudaFree, cudaFreeHost};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        void *p;
        if (allocate[i](&p, 400) != cudaSuccess)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Bcast(p, 10, MPI_INT, 0, MPI_COMM_WORLD);
        if (release[i](p) != cudaSuccess)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
