/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h: what the subcommands of wend share: exit codes, error lines, options, progress,
 * standard output.
 *
 * A subcommand is `int wend_NAME_main(int argc, char **argv)`: argv[0] is the subcommand's name,
 * the value is the exit code. */
#ifndef WEND_COMMAND_H
#define WEND_COMMAND_H

#include <glib.h>

#include "wend/read.h"

/* Exit codes of every command; errors give the WendErrorCode of merge.h. */
enum {
    WEND_EXIT_OK = 0,
    WEND_EXIT_DIFFERS = 1, /* wend diff: the recordings differ */
    WEND_EXIT_USAGE = 2,
    WEND_EXIT_INPUT = 3,
    WEND_EXIT_SYSTEM = 4
};

int wend_show_main(int argc, char **argv);
int wend_dump_main(int argc, char **argv);
int wend_diff_main(int argc, char **argv);
int wend_merge_main(int argc, char **argv);
int wend_trace_main(int argc, char **argv);

/* Prints "wend COMMAND: MESSAGE" on stderr, frees ERROR and gives its exit code (an option error is
 * a usage error; unknown domains: system). */
int wend_command_fail(const char *command, GError *error);
/* Prints such a line; the command goes on. */
void wend_command_say(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same for a usage error, with a hint at --help. */
int wend_command_usage(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Parses the options of "wend COMMAND PARAMETERS". argv[0] is skipped; what is left in *ARGV[1…]
 * are the operands. FALSE: leave with *STATUS. --help prints and gives 0. */
gboolean wend_command_options(const char *command, const char *parameters, const char *summary,
                              const char *description, const GOptionEntry *entries, int *argc,
                              char ***argv, int *status);

/* The same for a command that runs another: options end at the first operand. */
gboolean wend_command_options_before(const char *command, const char *parameters,
                                     const char *summary, const char *description,
                                     const GOptionEntry *entries, int *argc, char ***argv,
                                     int *status);

/* Opens the recording at PATH, or one of its worlds (WORLD >= 0), within the memory of --max-size
 * (reading.h). NULL: the command has said why, and ends with *STATUS. */
WendRead *wend_command_open(const char *command, const char *path, int world, int *status);

/* Shows "WHAT: 42 %" on stderr when that is a terminal, a few times a second at most; WHAT NULL
 * wipes it. Cheap enough to call often. */
void wend_command_progress(const char *what, guint64 done, guint64 all);

/* Writes to standard output. FALSE: it cannot be written any more; wend_command_finish says why. */
gboolean wend_command_write(const char *text, gsize n);

/* Closes standard output: what could not be written is an error line and WEND_EXIT_SYSTEM, a reader
 * that left (EPIPE) is not. Else STATUS. */
int wend_command_finish(const char *command, int status);

#endif
