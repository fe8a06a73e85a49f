/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h: the interface that the subcommands of wend and proxygen share: exit codes, error
 * lines, options, progress, standard output, places.
 *
 * A subcommand is `int wend_NAME_main(int argc, char **argv)`. argv[0] is the subcommand's name,
 * and the return value is the exit code. The header of its folder declares it.
 *
 * Other folders also include these headers of the folder:
 *
 * - text.h: rank sets, numbers, sizes, times, foreign text and JSON strings
 * - site-names.h: names of call sites, their call stacks, and which of these count as one
 * - reading.h: opening recordings, the memory that an archive may take, what a recording lacks
 * - value.h: arguments of calls as text or JSON */
#ifndef WEND_COMMAND_H
#define WEND_COMMAND_H

#include <glib.h>

#include "lib/base/error.h"
#include "wend/read.h"

/* Exit codes of every command. For an error it is the WendErrorCode of error.h. */
enum {
    WEND_EXIT_OK = 0,
    WEND_EXIT_DIFFERS = 1, /* wend diff: the recordings differ */
    WEND_EXIT_USAGE = 2,
    WEND_EXIT_INPUT = 3,
    WEND_EXIT_SYSTEM = 4
};

/* Makes an Error of one of GLib's: of usage for its option errors, else of the system. Frees E and
 * returns FALSE. */
gboolean command_take_error(Error **at, GError *e);
/* Prints "wend COMMAND: MESSAGE" on standard error and frees ERROR. Returns the exit code of the
 * error. */
int command_fail(const char *command, Error *error);
/* Prints such a line. The command goes on. */
void command_say(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* An error of wrong usage: PROBLEM with a hint at --help. */
Error *command_usage_error(const char *command, const char *problem);
/* Prints such an error. Returns WEND_EXIT_USAGE. */
int command_usage(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Parses the options of "wend COMMAND PARAMETERS". argv[0] is skipped, and the operands remain in
 * *ARGV from index 1 on. Returns FALSE if the command must end with *STATUS: after an error, --help
 * or --version. */
gboolean command_options(const char *command, const char *parameters, const char *summary,
                         const char *description, const GOptionEntry *entries, int *argc,
                         char ***argv, int *status);

/* Like command_options, for a command that runs another program: options end at the first
 * operand. A wrong option is not printed but an *ERROR, since each process of a job has it. */
gboolean command_options_before(const char *command, const char *parameters, const char *summary,
                                const char *description, const GOptionEntry *entries, int *argc,
                                char ***argv, int *status, Error **error);

/* Opens the recording at PATH, or one of its worlds (WORLD >= 0), within the memory of --max-size
 * (reading.h). The caller frees the reader. On failure prints the reason, sets *STATUS and returns
 * NULL. */
WendRead *command_open(const char *command, const char *path, int world, int *status);

/* Shows "WHAT: 42 %" on standard error if it is a terminal, a few times a second at most. NULL for
 * WHAT wipes the line. Cheap enough to call often. */
void command_progress(const char *what, guint64 done, guint64 all);

/* command_close_output of "wend COMMAND". */
int command_finish(const char *command, int status);

/* -- all that is printed, on standard error and standard output (tests/read/foreign.bats) -- */

/* Prints the line "COMMAND: MESSAGE" on standard error in one write. The whole line is made
 * printable (printable.h), because messages contain names of files and text of recordings. */
void command_print(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* For memory_ends: prints that memory is short, without allocating any, and ends the
 * process. */
void command_end_short_of_memory(void);

/* Makes a write to a pipe without a reader fail with EPIPE instead of ending the command by
 * SIGPIPE. Not for a process that executes another program, which would inherit the setting. */
void command_ignore_pipe(void);

/* Writes N bytes to standard output. Returns FALSE if it cannot be written any more;
 * command_close_output then prints the reason. The caller has made foreign text in TEXT
 * printable. */
gboolean command_write(const char *text, gsize n);

/* Closes standard output and returns STATUS. If output could not be written, it prints an error
 * line of COMMAND and returns WEND_ERROR_SYSTEM. A reader that closed its end (EPIPE) is no
 * error. */
int command_close_output(const char *command, int status);

/* -- options beyond GLib's parser -- */

/* Splits "-oDIR" and "-foDIR" into "-o DIR" and "-f -o DIR", by the options in ENTRIES. Returns a
 * new vector, which the caller frees with g_free. Its words belong to ARGV or live as long as the
 * process. With BEFORE, options end at the first word that is no option. "--" ends them in any
 * case. */
char **command_part_options(const GOptionEntry *entries, gboolean before, int *argc, char **argv);

/* Removes the "--" that GLib leaves before an operand that begins with "-". Call it after
 * parsing. */
void command_end_options(int *argc, char **argv);

/* -- places -- */

/* Where a command finds other parts of Wend at run time: beside an uninstalled build, or where they
 * were installed, even if the whole tree has been moved.
 *
 * The folders that may have the parts that are installed in FOLDER (absolute). The first one that
 * exists counts. They are the folders of UNINSTALLED, a NULL-terminated list relative to the folder
 * of the running command; FOLDER as seen from BINDIR; FOLDER. Returns a NULL-terminated array for
 * g_strfreev. */
char **command_places(const char *folder, const char *const *uninstalled);

#endif
