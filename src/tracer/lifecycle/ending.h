/* SPDX-License-Identifier: BSD-3-Clause */
/* ending.h: how a process ends that does not come to MPI_Finalize: its part is saved (watcher.h), and then it ends as it would have. */
#ifndef WEND_ENDING_H
#define WEND_ENDING_H

#include <stdbool.h>

bool ending_open(void);               /* after MPI_Init: from now on signals that would end the process are seen. False: they were already, or cannot be */
void ending_prepare_thread(void);     /* a stack for handlers, so that an overflow of the thread's own is seen */
void ending_exit(int status);         /* exit or _exit, if MPI was started and not finalized */
void ending_exec(const char *name);   /* it becomes the program NAME; NULL: one that is open */
void ending_fatal(void);              /* the library is about to end the job */
void fatal_open(void);                /* fatal.c: from now on that is seen */
bool ending_abort(int code);          /* MPI_Abort. False: nothing is saved */
void ending_keep(int rank, const char *why); /* there is no archive at the end: each rank leaves its part, and rank 0 says WHY */

#endif
