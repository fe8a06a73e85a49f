/* SPDX-License-Identifier: BSD-3-Clause */
/* message.h: what the commands print: lines on standard error, and standard output to its end.
 * Nothing else in the commands prints (tests/foreign.bats). */
#ifndef WEND_MESSAGE_H
#define WEND_MESSAGE_H

#include <glib.h>

/* Prints the line "COMMAND: MESSAGE" on standard error in one write. The whole of it is taken for
 * foreign text (printable.h): messages hold names of files and what a recording says. */
void message_print(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* For wend_shortage_ends: says that memory is short, without taking any, and ends the process. */
void message_end_short_of_memory(void);

/* A reader that leaves ends no command by SIGPIPE: writing fails with EPIPE. Not for a process that
 * will exec another program, which would inherit it. */
void message_ignore_pipe(void);

/* Writes N bytes to standard output. FALSE: it cannot be written any more. TEXT is the caller's,
 * who has made foreign text in it printable. */
gboolean message_write(const char *text, gsize n);

/* Closes standard output. What could not be written is an error line of COMMAND and
 * WEND_ERROR_SYSTEM; a reader that left (EPIPE) is none. Otherwise STATUS. */
int message_finish(const char *command, int status);

#endif
