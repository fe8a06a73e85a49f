/* SPDX-License-Identifier: BSD-3-Clause */
/* wend.h: the subcommands of this folder (src/command/command.h), for wend.c, and what
 * they share. */
#ifndef WEND_H
#define WEND_H

#include <glib.h>
#include <sys/types.h>

#include "lib/base/error.h"

int merge_command_main(int argc, char **argv);
int replay_command_main(int argc, char **argv);
int trace_main(int argc, char **argv);

/* -- launch.c: executes a program under libwend.so, in place of the command or as its child -- */

/* The program and its arguments, of the operands that are left: behind "--", if that is there. Sets
 * the variables of the options. On failure prints the reason, sets *STATUS and
 * returns NULL. */
char **launch_program(const char *command, char **operands, int *status);

/* The file of PROGRAM, which a library can be preloaded into. The caller frees it. On failure
 * returns NULL with an error. */
char *launch_find(const char *program, Error **error);

/* Executes FILE with the arguments PROGRAM (NULL at the end) and LIBRARY preloaded. Returns only if
 * it cannot, as launch_fail. */
int launch(const char *command, const char *file, const char *library, char **program);

/* Reports an error, in place of running the program. Other processes of the job may run the program
 * (without wend, or with other options), and would wait for this one in MPI_Init, because some
 * launchers accept a process that ends before it. So this process tells its launcher by PMI to end
 * the job, after a delay in which its message is read. If all processes fail, the first prints the
 * reason and ends the job. A process that still exists after a while has failed alone, and prints
 * its reason itself.
 *
 * Takes ERROR. Returns the exit status. */
int launch_fail(const char *command, Error *error);
/* The same for wrong usage: says PROBLEM, with a hint at --help. */
int launch_fail_usage(const char *command, const char *problem);

/* Makes a child, which gets 0 and is to execute the program. It has the signal handlers and masks
 * of the caller as they were before, and ends when the caller is killed. The caller gets the
 * number of the child, blocks no signals from then on, and passes them on to the child. -1: there
 * can be no child; nothing has changed. */
pid_t launch_fork(void);
/* Waits for the end of the child. Meanwhile it stops when the child is stopped, until somebody lets
 * one of the two go on. Closes all files but standard error: they are the program's. Returns the
 * child's status (waitpid). */
int launch_wait(pid_t child);
/* Ends the process as the child ended: with that exit status, or by that signal. */
_Noreturn void launch_end(int status);

/* -- library.c: finds the libwend for a program: there is one for each family of libraries -- */

/* The libwend to preload into PROGRAM, a file. The caller frees it. It is the first of these that
 * is known:
 * - the libwend of FAMILY;
 * - that of the MPI library which the program is linked with;
 * - that of the launcher which PROGRAM is or which started this process;
 * - libwend.so.
 *
 * On failure returns NULL with an error. */
char *library_for(const char *program, const char *family, Error **error);

/* The file in a line "<tab>NAME => FILE (ADDRESS)" of the dynamic linker, if it can be an MPI
 * library: all of them have "mpi" in their names. NULL otherwise. The caller frees it. */
char *library_of_line(const char *line);

/* -- executable.c: finds a program and examines its file before it runs -- */

/* The file that exec would run for NAME: NAME itself if it has a slash, else found by PATH. The
 * caller frees it. On failure returns NULL with an error that names the program. */
char *executable_find(const char *name, Error **error);

/* The reason why no library can be preloaded into the program in FILE, as static text. NULL if one
 * can, or if it is unknown (a script). */
const char *executable_obstacle(const char *file);

/* The dynamic linker of the program in FILE. NULL if it has none (a script) or cannot be read. The
 * caller frees it. */
char *executable_linker(const char *file);

/* -- setting-options.c: an option for each setting of the tracer -- */

typedef enum { SETTING_OPTIONS_TRACE, SETTING_OPTIONS_REPLAY } SettingOptions;

/* The entries for the settings of a recording, for REPLAY also those of a replay, and then MORE.
 * The caller frees them with g_free. */
GOptionEntry *setting_options(SettingOptions which, const GOptionEntry *more);

/* Sets the variable of each option that was given. Returns a message if one is not valid, which the
 * caller frees. */
char *setting_options_apply(void);

/* Whether the option of the setting output was given. */
gboolean setting_options_has_output(void);

/* Checks the directory of the setting output, or without one the current folder, in which the
 * recorder makes a new name. Returns FALSE with an error if it cannot be used. */
gboolean setting_options_check_output(Error **error);

/* -- site-store.c -- */

/* Puts the names of call sites into an archive (lib/read/site-symbols.h), so that it can be read
 * where the program is not. */

typedef enum {
    SITE_STORE_SMALL, /* if they take less than SITE_STORE_BYTES */
    SITE_STORE_ALL,
    SITE_STORE_NONE
} SiteStoreMode;

enum { SITE_STORE_BYTES = 2048 };

/* Stores the names of all sites in the archives of the recording in DIRECTORY, as far as they are
 * found. *BYTES: so many bytes the archives have grown. With SITE_STORE_ALL, COMMAND says if there
 * are none. Returns FALSE and sets the error if an archive cannot be read or written. */
gboolean site_store(const char *directory, const char *command, SiteStoreMode mode, guint64 *bytes,
                    Error **error);

#endif
