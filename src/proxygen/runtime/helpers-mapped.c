/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers-mapped.c: memory from mmap: mappings of the application, and blocks of the heap with
 * memory below them, whose heap_make and heap_release are in place of those of helpers-memory.c. */
#include <sys/mman.h> /* mmap, munmap */

#include "src/proxygen/runtime/runtime.h"

static char *mapped_block[MAPPINGS];

static size_t mapped_pages(int id)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (mapped_below[id] + mapped_size[id] + page - 1) / page * page;
}

/* Memory from mmap, with a page on each side that keeps mappings apart. Offset 0 is the first
 * address that MPI saw; some may be lower. */
char *mapped(int id)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = mapped_pages(id);
    if (!mapped_block[id]) {
        char *made = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED || mprotect(made + page, bytes, PROT_READ | PROT_WRITE) != 0) {
            fprintf(stderr, "proxy: cannot map %zu bytes\n", bytes);
            PMPI_Abort(MPI_COMM_WORLD, 4);
        }
        mapped_block[id] = made + page;
    }
    return mapped_block[id] + mapped_below[id];
}

void mapped_free(int id)
{
    if (mapped_block[id])
        munmap(mapped_block[id], mapped_pages(id));
    mapped_block[id] = NULL;
}

/* -- blocks of the heap with memory below them -- */

/* Some datatypes lead from a block to what lay before it, in blocks that MPI was not told of. So
 * there is memory that far below the block: it is large enough for malloc to make it a mapping of
 * its own, below which there is room. */
static size_t heap_pages_below(int id)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (heap_below[id] + page - 1) / page * page;
}

static char *heap_low(int id, char *block)
{
    return block - (uintptr_t)block % (size_t)sysconf(_SC_PAGESIZE) - heap_pages_below(id);
}

char *heap_make(int id)
{
    enum { MAPPING = 64 << 20, TRIES = 16 };
    size_t bytes = heap_size[id] > MAPPING ? heap_size[id] : MAPPING;
    char *tried[TRIES], *block = NULL;
    int n = 0;
    if (heap_below[id] == 0)
        return calloc(1, heap_size[id]);
    while (!block && n < TRIES && (tried[n] = calloc(1, bytes))) {
        char *low = heap_low(id, tried[n]);
        void *below =
            mmap(low, heap_pages_below(id), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (below == low)
            block = tried[n];
        else
            n++; /* something else is there */
    }
    while (n > 0)
        free(tried[--n]);
    return block;
}

void heap_release(int id)
{
    if (heap_block[id] && heap_below[id] > 0)
        munmap(heap_low(id, heap_block[id]), heap_pages_below(id));
    free(heap_block[id]);
}
