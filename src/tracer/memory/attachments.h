/* SPDX-License-Identifier: BSD-3-Clause */
/* attachments.h: memory that is attached to dynamic windows, of this process and of others.
 *
 * Displacements in a dynamic window are addresses of the target's, which vary from run to run, and
 * only the target knows what is there. So each process keeps a list of what it has attached in
 * memory that the other processes of its host can read, and who accesses a window looks up the
 * place at that moment. Nothing is sent and nobody waits: the application has made sure that the
 * memory is attached before it is used. */
#ifndef WEND_ATTACHMENTS_H
#define WEND_ATTACHMENTS_H

#include "segments.h"

/* Before a dynamic window is made, so that all have a list when they go on, and after it: this
 * process has a list from now on. */
void attachments_open(void);
void attachments_add(uintptr_t window, const void *base, int64_t bytes);
void attachments_remove(uintptr_t window, const void *base);
void attachments_remove_window(uintptr_t window); /* MPI_Win_free */

/* The place at ADDRESS in the memory of the process with that rank in MPI_COMM_WORLD: its segment
 * and an offset; WEND_UNKNOWN (offset 0) if nothing is attached there; WEND_PLAIN and the number
 * itself if it is no address, or the process cannot be asked (it is on another host). */
Where attachments_at(int world_rank, uintptr_t address);

/* An MPI_Aint that may be an address: of this process's memory, or of memory that another has
 * attached (WEND_SEGMENT_REMOTE). WEND_UNKNOWN: neither. */
/* GAP: as in memory_looks_mapped */
Where attachments_where(uintptr_t value, Gap *gap);
/* attachments_where would know; gives no segment an id */
bool attachments_looks_mapped(uintptr_t value, Gap *gap);

#endif
