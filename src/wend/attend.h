/* SPDX-License-Identifier: BSD-3-Clause */
/* attend.h: runs a program as a child of the command, which does something after it. */
#ifndef WEND_ATTEND_H
#define WEND_ATTEND_H

#include <sys/types.h>

/* Makes a child, which gets 0 and is to execute the program. It has the signal handlers and masks
 * of the caller as they were before, and ends when the caller is killed. The caller gets the
 * number of the child, blocks no signals from then on, and passes them on to the child. -1: there
 * can be no child; nothing has changed. */
pid_t attend_fork(void);
/* Waits for the end of the child. Meanwhile it stops when the child is stopped, until somebody lets
 * one of the two go on. Closes all files but standard error: they are the program's. Returns the
 * child's status (waitpid). */
int attend_wait(pid_t child);
/* Ends the process as the child ended: with that exit status, or by that signal. */
_Noreturn void attend_end(int status);

#endif
