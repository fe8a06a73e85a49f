/* SPDX-License-Identifier: BSD-3-Clause */
/* termination.h: the end of a process that does not reach MPI_Finalize. Its part is saved
 * (watcher.h), and then it ends as it would without Wend. */
#ifndef WEND_TERMINATION_H
#define WEND_TERMINATION_H

#include <stdbool.h>

/* Handles signals that would end the process, from MPI_Init on. Returns false if they were handled
 * already, or cannot be. */
bool termination_open(void);
/* Gives the thread a stack for signal handlers, so that an overflow of its own stack is handled. */
void termination_prepare_thread(void);
void termination_exit(int status); /* exit or _exit, if MPI was started and not finalized */
/* the process executes the program NAME; NULL: a program given by a descriptor */
void termination_exec(const char *name);
void termination_fatal(void);       /* the MPI library is about to end the job */
void termination_watch_fatal(void); /* detects that from now on */
bool termination_abort(int code);   /* MPI_Abort; false: nothing is saved */
/* there is no archive at the end: each rank saves its part, and rank 0 prints WHY */
void termination_keep(int rank, const char *why);

/* Gives the launcher MS < 1,000 milliseconds to read the line. It learns of the end next, and then
 * drops unread output. */
void termination_let_be_read(long ms);

#endif
