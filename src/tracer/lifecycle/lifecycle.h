/* SPDX-License-Identifier: BSD-3-Clause */
/* lifecycle.h: the interface between the files of this folder. */
#ifndef WEND_LIFECYCLE_H
#define WEND_LIFECYCLE_H

#include "lib/record/part.h"
#include "recorder/recorder.h"

/* -- control.c, for sessions.c -- */
/* opens the recording; MPI runs, and rank and size of the world are known */
void control_open(void);
/* From now on ends before MPI_Finalize are handled. Called when the call that starts MPI is
 * recorded: a rank that is asked to save has that call. */
void control_watch(void);
bool control_called_by_mpi(void); /* by MPI and not by the application, or in a forked child */
void control_abandon(void);       /* discards the recording */
void control_finish(void);        /* closes the recording */
void control_say_absent(void);    /* if some ranks run without Wend, one process prints it */
/* merges on all ranks of COMM, and frees it; false: rank 0 or another one does not record */
bool control_merge(MPI_Comm comm);

/* -- limit.c: the memory that the recording may take --
 *
 * Sets the limit. MPI runs, and the size of the world is known. */
void limit_open(void);
/* The bytes that this process may take for one step of the merge. In step STEP, ranks that are STEP
 * apart merge. In step 0 each rank reads its part. */
uint64_t limit_room(int64_t step);
/* Address space that the recorder leaves to others, if there is a limit. MPI maps 4 to 8 MB (MPICH
 * with UCX) when it makes a communicator, and was seen to hang with 50 MB left. */
enum { LIMIT_ADDRESSES_MB = 64 };
/* Whether the limit of address space (RLIMIT_AS) leaves as much. */
bool limit_has_addresses(void);

/* top.c: notes that MPI was started in this process. A program that it execs later does not print
 * that nothing was recorded. */
void top_started(void);

/* facts.c: the facts of a rank in its part. */
/* notes facts that may change until the end: directory, time */
void facts_open(void);
/* notes all other facts, once; rank and size of the world are known */
void facts_collect(void);
/* MPI calls of this rank that are recorded so far */
uint64_t facts_calls(void);
/* writes all facts to F, without calls of MPI or malloc. ENDED is how the rank ended; NULL in
 * MPI_Finalize */
void facts_put(WendFacts *f, const char *ended);

/* rank-part.c: writes this rank's part to OUT. No other thread may change the recording
 * meanwhile. Returns whether the rank has members of its own in the archive (side_put). */
bool rank_part_write(WendBuf *out, const char *ended);
/* The terminals of this rank, and the sketch of its shapes (wend_cst_sketch). */
uint64_t rank_part_terminals(void);
void rank_part_sketch(uint64_t one_of, uint64_t *bits);

/* finalize.c: merges the recordings of COMM's ranks, and writes the archive on rank 0. All ranks of
 * COMM call it. If a step fails on any rank, all ranks still take part in all communication, and
 * rank 0 prints the reason. Recording may go on afterwards. Each rank has FEWEST to MOST terminals.
 * Returns false if no archive was written. */
bool finalize_merge(MPI_Comm comm, int fewest, int most);

#include "participation.h"
#include "termination.h"
#include "errhandlers.h"
#include "host-clocks.h"
#include "thread-start.h"
#include "watcher.h"

#endif
