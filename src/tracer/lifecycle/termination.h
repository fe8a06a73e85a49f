/* SPDX-License-Identifier: BSD-3-Clause */
/* termination.h: how a process ends that does not come to MPI_Finalize: its part is saved
 * (watcher.h), and then it ends as it would have. */
#ifndef WEND_TERMINATION_H
#define WEND_TERMINATION_H

#include <stdbool.h>

/* after MPI_Init: from now on signals that would end the process are seen. False: they were
 * already, or cannot be */
bool termination_open(void);
/* a stack for handlers, so that an overflow of the thread's own is seen */
void termination_prepare_thread(void);
void termination_exit(int status);       /* exit or _exit, if MPI was started and not finalized */
void termination_exec(const char *name); /* it becomes the program NAME; NULL: one that is open */
void termination_fatal(void);            /* the library is about to end the job */
void fatal_open(void);                   /* fatal.c: from now on that is seen */
bool termination_abort(int code);        /* MPI_Abort. False: nothing is saved */
/* there is no archive at the end: each rank leaves its part, and rank 0 says WHY */
void termination_keep(int rank, const char *why);

#endif
