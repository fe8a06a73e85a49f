/* SPDX-License-Identifier: BSD-3-Clause */
/* segments.h: which segment of memory an address is in.
 *
 * Segments get their id when MPI first uses them (memory_where), and only the free of such a
 * segment is an event. Any thread may call any of this; no lock is held across the application's or
 * the runtime's code. Nothing here calls MPI. */
#ifndef WEND_SEGMENTS_H
#define WEND_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/words.h"
#include "recorder/segment-events.h"

/* segment: word of words.h, or WEND_UNKNOWN (offset 0) */
typedef struct {
    int64_t segment, offset;
} Where;
/* marks the segment as used by MPI; gives it its id */
Where memory_where(const void *address);
/* the same if MPI has used the segment before; marks nothing, asks nothing of the system */
Where memory_known(const void *address);

/* Another block may begin where one was freed, and get the name that it had. This number tells them
 * apart: that of the name among all that the calling thread has given to blocks so far. 0: it has
 * not named what is there, or that is no block. */
uint64_t memory_block_life(const void *address);

/* Linux maps nothing below, by default: a pointer that is less is a number that somebody gives for
 * an address. */
#define MEMORY_LOWEST_ADDRESS ((uintptr_t)1 << 16)

/* Could an MPI_Aint be an absolute address? No id is given. Below 4 GiB only if MPI has used the
 * segment before: executables that are not position-independent have data there, and displacements
 * are numbers of that size. */
typedef struct {
    uintptr_t low, length;
} Gap; /* nothing is mapped there */
/* GAP, or NULL: where nothing was found before; many numbers of one call lie in few gaps */
bool memory_looks_mapped(uintptr_t value, Gap *gap);

/* Memory that MPI made: MPI_Alloc_mem (WEND_SEGMENT_MPI), windows (WEND_SEGMENT_WIN). NULL is
 * ignored; a base that is there already keeps its id. OWNER: the window's handle, or 0. Whatever
 * else was known in that range is forgotten. */
void memory_add(int kind, const void *base, size_t bytes, uintptr_t owner);
/* MPI_Free_mem; a base that is not there is ignored */
void memory_remove(const void *base);
/* MPI_Win_free: own and queried parts */
void memory_remove_owner(uintptr_t owner);

/* Memory of CUDA's allocators. DEVICE: where it is, or for managed and pinned memory, which was
 * current; -1: not known. */
void memory_cuda_add(const void *base, size_t bytes, enum memory_place place, int device);
/* Its end, around the real free: detached, it is not found any more; then it is attached again (the
 * free failed) or ended, with the events. */
typedef struct {
    uintptr_t low, high;
    uint64_t place;
    struct SegmentNames *names;
} CudaBlock;
bool memory_cuda_detach(const void *base, CudaBlock *block); /* false: no such block */
void memory_cuda_attach(CudaBlock *block);
void memory_cuda_end(CudaBlock *block);
/* Ends all that IS_GONE says is not there any more; it is called without a lock. */
void memory_cuda_sweep(bool (*is_gone)(uintptr_t base));

#endif
