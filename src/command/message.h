/* SPDX-License-Identifier: BSD-3-Clause */
/* message.h: all that the commands print: lines on standard error, and standard output. Nothing
 * else in the commands prints (tests/read/foreign.bats). */
#ifndef WEND_MESSAGE_H
#define WEND_MESSAGE_H

#include <glib.h>

/* Prints the line "COMMAND: MESSAGE" on standard error in one write. The whole line is made
 * printable (printable.h), because messages contain names of files and text of recordings. */
void message_print(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* For wend_shortage_ends: prints that memory is short, without allocating any, and ends the
 * process. */
void message_end_short_of_memory(void);

/* Makes a write to a pipe without a reader fail with EPIPE instead of ending the command by
 * SIGPIPE. Not for a process that executes another program, which would inherit the setting. */
void message_ignore_pipe(void);

/* Writes N bytes to standard output. Returns FALSE if it cannot be written any more. The caller has
 * made foreign text in TEXT printable. */
gboolean message_write(const char *text, gsize n);

/* Closes standard output and returns STATUS. If output could not be written, it prints an error
 * line of COMMAND and returns WEND_ERROR_SYSTEM. A reader that closed its end (EPIPE) is no
 * error. */
int message_finish(const char *command, int status);

#endif
