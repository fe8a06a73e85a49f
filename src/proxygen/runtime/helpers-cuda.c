/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers-cuda.c: blocks of the heap that may be CUDA's (proxygen --cuda). heap_free is in place of
 * that of helpers-memory.c. */
#include <cuda_runtime.h> /* cudaError_t, cudaFree */

#include "src/proxygen/runtime/runtime.h"

static HeapPlace heap_place[HEAP_BLOCKS];

static void cuda_check(cudaError_t error, const char *what, size_t bytes)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "proxy: rank %d: %s, for %zu bytes: %s\n", rank, what, bytes,
            cudaGetErrorString(error));
    PMPI_Abort(MPI_COMM_WORLD, 4);
}

void heap_free(int id)
{
    if (heap_place[id] == PINNED)
        cuda_check(cudaFreeHost(heap_block[id]), "cudaFreeHost", heap_size[id]);
    else if (heap_place[id] != ON_HEAP)
        cuda_check(cudaFree(heap_block[id]), "cudaFree", heap_size[id]);
    else
        heap_release(id);
    heap_block[id] = NULL;
    heap_place[id] = ON_HEAP;
}

/* The block with this number is CUDA's from now on until it is freed. There may be fewer devices
 * than there were. */
void cuda_block(int id, HeapPlace kind, int device)
{
    size_t bytes = heap_size[id];
    void *made = NULL;
    int devices = 0;
    heap_free(id);
    cuda_check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount", bytes);
    cuda_check(cudaSetDevice(device > 0 && devices > 0 ? device % devices : 0), "cudaSetDevice",
               bytes);
    if (kind == ON_DEVICE)
        cuda_check(cudaMalloc(&made, bytes), "cudaMalloc", bytes);
    else if (kind == MANAGED)
        cuda_check(cudaMallocManaged(&made, bytes, cudaMemAttachGlobal), "cudaMallocManaged",
                   bytes);
    else
        cuda_check(cudaHostAlloc(&made, bytes, cudaHostAllocDefault), "cudaHostAlloc", bytes);
    cuda_check(cudaMemset(made, 0, bytes), "cudaMemset", bytes);
    heap_block[id] = made;
    heap_place[id] = kind;
}
