/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h: the interface that the subcommands of wend share: exit codes, error lines, options,
 * progress, standard output.
 *
 * A subcommand is `int wend_NAME_main(int argc, char **argv)`. argv[0] is the subcommand's name,
 * and the return value is the exit code. The header of its folder declares it.
 *
 * Other folders also include these headers of the folder:
 *
 * - text.h: rank sets, numbers, sizes, times, foreign text and JSON strings
 * - message.h: all that commands print, for proxygen, too
 * - missing.h: what a recording lacks, as its own calls tell
 * - options.h: parsing of options beyond GLib's parser
 * - places.h: where the other parts of Wend are
 * - site-names.h: names of call sites
 * - site-stacks.h: their call stacks, and which of these count as one
 * - reading.h: opening recordings, and the memory that an archive may take
 * - value.h: arguments of calls as text or JSON */
#ifndef WEND_COMMAND_H
#define WEND_COMMAND_H

#include <glib.h>

#include "wend/read.h"

/* Exit codes of every command. For an error it is the WendErrorCode of error.h. */
enum {
    WEND_EXIT_OK = 0,
    WEND_EXIT_DIFFERS = 1, /* wend diff: the recordings differ */
    WEND_EXIT_USAGE = 2,
    WEND_EXIT_INPUT = 3,
    WEND_EXIT_SYSTEM = 4
};

/* The exit code of an error: that of WEND_ERROR, a usage error for GLib's option errors, else a
 * system error. */
int wend_command_status(const GError *error);
/* Prints "wend COMMAND: MESSAGE" on standard error and frees ERROR. Returns the exit code of the
 * error. */
int wend_command_fail(const char *command, GError *error);
/* Prints such a line. The command goes on. */
void wend_command_say(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* An error of wrong usage: PROBLEM with a hint at --help. */
GError *wend_command_usage_error(const char *command, const char *problem);
/* Prints such an error. Returns WEND_EXIT_USAGE. */
int wend_command_usage(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Parses the options of "wend COMMAND PARAMETERS". argv[0] is skipped, and the operands remain in
 * *ARGV from index 1 on. Returns FALSE if the command must end with *STATUS: after an error, --help
 * or --version. */
gboolean wend_command_options(const char *command, const char *parameters, const char *summary,
                              const char *description, const GOptionEntry *entries, int *argc,
                              char ***argv, int *status);

/* Like wend_command_options, for a command that runs another program: options end at the first
 * operand. A wrong option is not printed but an *ERROR, since each process of a job has it. */
gboolean wend_command_options_before(const char *command, const char *parameters,
                                     const char *summary, const char *description,
                                     const GOptionEntry *entries, int *argc, char ***argv,
                                     int *status, GError **error);

/* Opens the recording at PATH, or one of its worlds (WORLD >= 0), within the memory of --max-size
 * (reading.h). The caller frees the reader. On failure prints the reason, sets *STATUS and returns
 * NULL. */
WendRead *wend_command_open(const char *command, const char *path, int world, int *status);

/* Shows "WHAT: 42 %" on standard error if it is a terminal, a few times a second at most. NULL for
 * WHAT wipes the line. Cheap enough to call often. */
void wend_command_progress(const char *what, guint64 done, guint64 all);

/* Writes N bytes to standard output. Returns FALSE if it cannot be written any more;
 * wend_command_finish then prints the reason. */
gboolean wend_command_write(const char *text, gsize n);

/* Closes standard output and returns STATUS. If output could not be written, it prints an error
 * line and returns WEND_EXIT_SYSTEM. A reader that closed its end (EPIPE) is no error. */
int wend_command_finish(const char *command, int status);

#endif
