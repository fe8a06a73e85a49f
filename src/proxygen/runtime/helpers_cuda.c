/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers_cuda.c: blocks of memory that are CUDA's in the proxy (proxygen --cuda). Their numbers,
 * sizes and pointers are among those of the heap. */
#include "helpers.h"

static const char *const places = "enum { ON_HEAP, ON_DEVICE, MANAGED, PINNED };\n";

static const char *const cuda_text =
    "static void cuda_check(cudaError_t error, const char *what, size_t bytes)\n"
    "{\n"
    "    if (error == cudaSuccess)\n"
    "        return;\n"
    "    fprintf(stderr, \"proxy: rank %d: %s, for %zu bytes: %s\\n\", rank, what, bytes, "
    "cudaGetErrorString(error));\n"
    "    PMPI_Abort(MPI_COMM_WORLD, 4);\n"
    "}\n"
    "\n"
    "@void heap_free(int id)\n"
    "{\n"
    "    if (heap_place[id] == PINNED)\n"
    "        cuda_check(cudaFreeHost(heap_block[id]), \"cudaFreeHost\", heap_size[id]);\n"
    "    else if (heap_place[id] != ON_HEAP)\n"
    "        cuda_check(cudaFree(heap_block[id]), \"cudaFree\", heap_size[id]);\n"
    "    else\n"
    "        #;\n"
    "    heap_block[id] = NULL;\n"
    "    heap_place[id] = ON_HEAP;\n"
    "}\n"
    "\n"
    "/* The block with this number is CUDA's from now on until it is freed. There may be fewer "
    "devices than there were. */\n"
    "@void cuda_block(int id, int place, int device)\n"
    "{\n"
    "    size_t bytes = heap_size[id];\n"
    "    void *made = NULL;\n"
    "    int devices = 0;\n"
    "    heap_free(id);\n"
    "    cuda_check(cudaGetDeviceCount(&devices), \"cudaGetDeviceCount\", bytes);\n"
    "    cuda_check(cudaSetDevice(device > 0 && devices > 0 ? device % devices : 0), "
    "\"cudaSetDevice\", bytes);\n"
    "    if (place == ON_DEVICE)\n"
    "        cuda_check(cudaMalloc(&made, bytes), \"cudaMalloc\", bytes);\n"
    "    else if (place == MANAGED)\n"
    "        cuda_check(cudaMallocManaged(&made, bytes, cudaMemAttachGlobal), "
    "\"cudaMallocManaged\", bytes);\n"
    "    else\n"
    "        cuda_check(cudaHostAlloc(&made, bytes, cudaHostAllocDefault), \"cudaHostAlloc\", "
    "bytes);\n"
    "    cuda_check(cudaMemset(made, 0, bytes), \"cudaMemset\", bytes);\n"
    "    heap_block[id] = made;\n"
    "    heap_place[id] = (char)place;\n"
    "}\n"
    "\n";

void helpers_cuda(Out *o, const char *release)
{
    helper_declare(o->e, o->declarations, "%svoid cuda_block(int id, int place, int device);",
                   places);
    if (*o->e->linkage)
        g_string_append(o->definitions, places);
    g_string_append(o->definitions, "static char heap_place[sizeof heap_block / sizeof "
                                    "*heap_block]; /* what kind of memory a block is */\n\n");
    helper_define_with(o, cuda_text, release);
}
