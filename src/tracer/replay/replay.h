/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.h: makes the calls of a recording again: what a call must be, and what comes out of it.
 *
 * This header is the interface of the folder, for the tracer's start and end. Others include:
 *
 * - the tracer's wrappers: enforce.h, which gives a call its recorded outcome
 * - wend replay: order-file.h, the format of order files, and stop-place.h */
#ifndef WEND_REPLAY_H
#define WEND_REPLAY_H

#include <mpi.h>

#include "lib/record/side-stream.h"

/* Begins a replay if the environment asks for one (settings.h). When the library is loaded. STOP
 * ends the job with an exit status. */
void replay_open(void (*stop)(int status));
/* Whether a recording is replayed. */
bool replay_runs(void);
/* When MPI has started: checks that the rank is that of the order file. COMM: a communicator of
 * Wend's own that has all ranks, or MPI_COMM_NULL. */
void replay_world(MPI_Comm comm);
/* When the application has made its last call, and MPI still runs. */
void replay_close(void);
/* The communicator where nobody sends. MPI_COMM_NULL: there is none. */
MPI_Comm replay_nowhere(void);
struct CallSequence;
/* False: the program has departed from the recording, or made all calls that are recorded of the
 * sequence Q, and goes on without it. */
bool replay_enforces(const struct CallSequence *q);
/* Whether a code of a recorded outcome is of MPI_ERR_TRUNCATE, or of MPI_ERR_PENDING. Libraries
 * number these differently, and the recording may be of another one. */
bool replay_is_truncation(int64_t code);
bool replay_is_pending(int64_t code);
/* Whether the recording has side streams of that kind. */
bool replay_has_side(WendSideKindNumber kind);
/* Whether any rank may have values: they were asked for when the run was recorded. */
bool replay_has_values(void);
/* The rows of the stream HEAD: of the thread with that birth, or of the callback with that id.
 * False: there is none. */
bool replay_side(WendSideKindNumber kind, const WendSideHead *head, WendCursor *rows);
/* The program asks for a value of MADE, and the recording has no more. CUT: because the recorder
 * had no memory for them. That is no divergence then, nor if the run died. */
void replay_side_ends(uint32_t birth, bool cut, const char *made);
/* The program asks for a value of MADE, and that of RECORDED comes next. It is a divergence like
 * one of calls. Before MPI starts nothing is printed, since the process may be no rank. BIRTH: of
 * the thread. */
void replay_side_departs(uint32_t birth, const char *recorded, const char *made);

#endif
