/* SPDX-License-Identifier: BSD-3-Clause */
/* shield.h: keeps signals that Wend's own writes cause from the application: SIGPIPE if no process
 * reads any more, SIGXFSZ if a file may not grow. The write fails instead, and Wend handles the
 * failure. C11 and libc alone. */
#ifndef WEND_SHIELD_H
#define WEND_SHIELD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/uio.h>

typedef struct {
    sigset_t before, own;
} Shield;

/* Between shield_raise and shield_lower the calling thread gets neither signal. Signals that were
 * pending before, or came from elsewhere meanwhile, are pending afterwards. Both functions may be
 * called in a signal handler, and keep errno. */
void shield_raise(Shield *s);
void shield_lower(const Shield *s);

/* Writes a line of Wend to the standard error that the launcher gave, shielded, in one piece if the
 * file accepts it, by system calls only. If the program has other plans with that number, the line
 * goes to the copy of shield_keep_stderr, and never into a file of the program's. If it cannot be
 * written, it is lost. Keeps errno and the memory of PIECES, but changes PIECES. */
void shield_line(struct iovec *pieces, size_t n);

/* Keeps a copy of standard error in this process, while it is what the launcher gave. It is closed
 * in children and in programs that are executed. */
void shield_keep_stderr(void);

#endif
