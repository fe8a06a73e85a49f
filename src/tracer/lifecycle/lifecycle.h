/* SPDX-License-Identifier: BSD-3-Clause */
/* lifecycle.h: what the files of this folder offer each other. */
#ifndef WEND_LIFECYCLE_H
#define WEND_LIFECYCLE_H

#include "lib/record/part.h"
#include "recorder/recorder.h"

/* control.c, for sessions.c. */
/* MPI runs, and rank and size of the world are known */
void control_open(void);
bool control_called_by_mpi(void); /* not by the application, or in a forked child */
void control_abandon(void);       /* nothing is to be kept */
void control_finish(void);        /* the recording is closed */
void control_say_absent(void);    /* some ranks run without Wend: one process says it */
/* on all its ranks; it is freed. False: rank 0 has no place for the recording */
bool control_merge(MPI_Comm comm);

/* limit.c: how much memory the recording may hold. MPI runs, and the size of the world is known. */
void limit_open(void);
/* Bytes that this process may take for the merge, in the step in which ranks that are STEP apart
 * merge; 0: each makes its part. */
uint64_t limit_room(int64_t step);
/* Does the limit of addresses (RLIMIT_AS) leave enough for what MPI maps by itself? */
bool limit_has_addresses(void);

/* top.c: MPI has been started in this process. What it execs later is not to say that nothing was
 * recorded. */
void top_started(void);

/* facts.c: what a part says of its rank. */
/* notes what may change until the end: directory, time */
void facts_open(void);
/* what does not change any more, once; rank and size of the world are known */
void facts_collect(void);
/* all, in F's memory; no call into MPI or libc's malloc. ENDED: NULL in MPI_Finalize */
void facts_put(WendFacts *f, const char *ended);

/* rank-part.c: this rank's part, in OUT's memory. Nobody else changes what is recorded
 * meanwhile. */
void part_of_rank(WendBuf *out, const char *ended);

/* finalize.c: merges the recordings of COMM's ranks, which all call it, and writes the archive on
 * rank 0. Whatever fails on whichever rank, all go through the same steps of communication; rank 0
 * says what failed. Recording may go on afterwards. False: nothing was written (known to rank 0
 * only). */
bool finalize_merge(MPI_Comm comm);

#include "participation.h"
#include "termination.h"
#include "errhandlers.h"
#include "thread-start.h"
#include "watcher.h"

#endif
