/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers-memory.c: the heap, and what stands for memory that is not known. */
#include "src/proxygen/runtime/runtime.h"

char unused[8]; /* stands for buffers that MPI does not touch at this rank */

/* Stands for addresses that the recording could not place. */
char unknown_buffer[1 << 20];

/* The heap, by the number of the block. */
char *heap_block[HEAP_BLOCKS];

char *heap_make(int id)
{
    return calloc(1, heap_size[id]);
}

void heap_release(int id)
{
    free(heap_block[id]);
}

/* The block with this number, allocated when it is first used, or used again after it was freed. */
char *heap(int id)
{
    if (!heap_block[id]) {
        heap_block[id] = heap_make(id);
        if (!heap_block[id]) {
            fprintf(stderr, "proxy: no memory for %zu bytes\n", heap_size[id]);
            PMPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
    return heap_block[id];
}

void heap_free(int id)
{
    heap_release(id);
    heap_block[id] = NULL;
}
