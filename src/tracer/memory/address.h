/* SPDX-License-Identifier: BSD-3-Clause */
/* address.h: resolves an address of the application to a segment and an offset. */
#ifndef WEND_ADDRESS_H
#define WEND_ADDRESS_H

#include "address-log.h"
#include "segments.h"

/* -- attachments.c -- */

/* Memory that is attached to dynamic windows, of this process and of others.
 *
 * Displacements in a dynamic window are addresses of the target. They differ from run to run, and
 * only the target knows its segments. So each process keeps a list of its attached memory where
 * the other processes of its host can read it. A process that accesses a window looks the address
 * up at that moment. No message is sent, and no process waits, because the application makes sure
 * that memory is attached before it is used. */

/* The number of this world's job, for names of files in memory. At most 0: unknown. */
long attachments_job(void);

/* Makes the list of this process. Called before a dynamic window is made, so that each process has
 * a list when any of them goes on, and after it. */
void attachments_open(void);
/* Before the memory is attached: where the call waits for all (an info key of MPICH), others may
 * use the memory when they have returned. Returns false if it is there already, or cannot be. */
bool attachments_add(uintptr_t window, const void *base, int64_t bytes);
void attachments_remove(uintptr_t window, const void *base);
void attachments_remove_window(uintptr_t window); /* MPI_Win_free */

/* The segment and offset of ADDRESS in the memory of the process with that rank in MPI_COMM_WORLD.
 * WEND_UNKNOWN (offset 0) if nothing is attached there. WEND_PLAIN and the number itself if it is
 * no address, or if the process is on another host. */
Where attachments_at(int world_rank, uintptr_t address);

/* Resolves an MPI_Aint that may be an address of this process's memory, or of memory that another
 * process has attached (WEND_SEGMENT_REMOTE). WEND_UNKNOWN if it is neither. GAP is as in
 * memory_looks_mapped. */
Where attachments_where(uintptr_t value, Gap *gap);
/* whether attachments_where would resolve it; gives no segment an id */
bool attachments_looks_mapped(uintptr_t value, Gap *gap);

#endif
