/* SPDX-License-Identifier: BSD-3-Clause */
/* shield.h: signals that Wend's own writes cause, which the application is not to get: SIGPIPE
 * where nobody reads any more, SIGXFSZ where a file may not grow. The write fails instead, and
 * Wend deals with that. C11 and libc alone. */
#ifndef WEND_SHIELD_H
#define WEND_SHIELD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/uio.h>

typedef struct {
    sigset_t before, own;
} Shield;

/* From raise to lower the calling thread gets neither signal. What was pending before, or came
 * from elsewhere meanwhile, is pending afterwards. Both may be called in a signal's handler;
 * they leave errno as it is. */
void shield_raise(Shield *s);
void shield_lower(const Shield *s);

/* A line of Wend's to FD, shielded, in one piece as far as the file takes it; by system calls
 * only. If it cannot be written it is lost. A process that began without standard error has no
 * lines of Wend's: what it opens gets that number. Leaves errno and PIECES's memory as they are,
 * but not PIECES. */
void shield_line(int fd, struct iovec *pieces, size_t n);

#endif
