/* SPDX-License-Identifier: BSD-3-Clause */
/* supervise.h: a thread of each rank of a replay, which notices when nothing goes on, and stops the
 * process at --until. */
#ifndef WEND_SUPERVISE_H
#define WEND_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

#include "argument.h"

/* Reads the settings until and debug, which are those of all ranks. Returns false with the reason
 * in *WHY if one is not valid. */
bool supervise_settings(uint32_t rank, uint32_t size, const char **why);
/* Waits for a debugger if this rank is one of --debug. Called before the rank's first call. */
void supervise_debug(void);
/* Begins with the rank's first call, and ends with MPI. */
void supervise_open(void);
/* MPI_Init has returned, and the hosts have met (other_hosts_open). */
void supervise_met(void);
void supervise_close(void);

/* Called before each call. Counts it, and stops the process if it is the call of --until. NUMBER is
 * that of the call in its sequence; THREAD is -1 for a callback. */
void supervise_call(int64_t thread, uint64_t number, const CallWords *call);

/* --on-divergence=free: from now on this rank does not follow the recording, and the others do not
 * as soon as they notice. */
void supervise_free(void);
/* Whether this or another rank has called it. */
bool supervise_is_free(void);

/* Ends the job where MPI_Abort cannot: before MPI runs, when the other ranks would wait for this
 * one in MPI_Init, or while another thread is in MPI. Does not return. */
void supervise_end_job(int status);

/* The rank has come to the end of a recording of a run that died. Waits there for the others, and
 * does not return. If MPI has not started, and there are several hosts, it ends the job at once. */
void supervise_end(const CallWords *call);
/* Notes that CALL, which is made now, had not returned when the recorded run ended.
 * supervise_returned notes that it has returned in the replay. */
void supervise_unfinished(const CallWords *call);
void supervise_returned(void);

#endif
