/* SPDX-License-Identifier: BSD-3-Clause */
/* segments.h: finds the segment of memory that contains an address.
 *
 * A segment gets its id when MPI first uses it (memory_where), and only the free of such a segment
 * is an event. Any thread may call these functions. They hold no lock while code of the application
 * or the runtime runs, and call no MPI function. */
#ifndef WEND_SEGMENTS_H
#define WEND_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/words.h"
#include "recorder/segment-events.h"

/* segment is a word of words.h, or WEND_UNKNOWN (offset 0) */
typedef struct {
    int64_t segment, offset;
} Where;
/* Resolves ADDRESS, marks its segment as used by MPI, and gives it its id. */
Where memory_where(const void *address);
/* Resolves ADDRESS if MPI has used its segment before. Marks nothing, and makes no system call. */
Where memory_known(const void *address);

/* The segment of ADDRESS, or the one that the memory there would be if it were used now. Marks and
 * names nothing, and makes no system call. WEND_UNKNOWN: neither is known. */
int64_t memory_untouched(const void *address);

/* Distinguishes blocks that begin at one address in turn and get the same name. Returns the number
 * of the block's name among all names that the calling thread has given to blocks so far. 0 if the
 * thread has not named the block, or there is none. */
uint64_t memory_block_lifetime(const void *address);

/* By default Linux maps nothing below this address. A smaller pointer is a number that is passed as
 * an address. */
#define MEMORY_LOWEST_ADDRESS ((uintptr_t)1 << 16)

/* The addresses of a segment may be another one next. May be called in a signal handler, and with
 * any lock held. */
void memory_changed(void);

/* Whether an MPI_Aint could be an absolute address. Gives no id. Below 4 GiB it must be in a
 * segment that MPI has used before: executables that are not position-independent have data there,
 * and displacements are numbers of that size. */
typedef struct {
    uintptr_t low, length;
} Gap; /* a range without mappings */
/* GAP, which may be NULL, keeps the last gap that was found: the numbers of one call are in few
 * gaps. */
bool memory_looks_mapped(uintptr_t value, Gap *gap);
/* Whether there is memory at VALUE, below 4 GiB too. Gives no id. It may read the process's
 * mappings each time. */
bool memory_is_mapped(uintptr_t value);

/* Adds memory that MPI made: MPI_Alloc_mem (WEND_SEGMENT_MPI) or a window (WEND_SEGMENT_WIN). NULL
 * is ignored. A base that is known keeps its id. OWNER is the window's handle, or 0. All other
 * ranges there are forgotten. */
void memory_add(int kind, const void *base, size_t bytes, uintptr_t owner);
/* MPI_Free_mem; an unknown base is ignored */
void memory_remove(const void *base);
/* MPI_Win_free; removes own and queried parts */
void memory_remove_owner(uintptr_t owner);

/* Adds memory of CUDA's allocators. DEVICE is the device of the memory. For managed and pinned
 * memory it is the device that was current. -1: unknown. */
void memory_cuda_add(const void *base, size_t bytes, enum memory_place place, int device);
/* The end of such memory, around the real free. memory_cuda_detach removes it from lookups. Then
 * memory_cuda_attach restores it, if the free failed, or memory_cuda_end records the events. */
typedef struct {
    uintptr_t low, high;
    uint64_t place;
    struct SegmentNames *names;
} CudaBlock;
bool memory_cuda_detach(const void *base, CudaBlock *block); /* false: no such block */
void memory_cuda_attach(CudaBlock *block);
void memory_cuda_end(CudaBlock *block);
/* Ends all blocks for which IS_GONE returns true. IS_GONE is called without a lock. */
void memory_cuda_sweep(bool (*is_gone)(uintptr_t base));

#endif
