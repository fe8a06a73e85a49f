/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.h: executes a program under libwend.so, in place of the command. */
#ifndef WEND_LAUNCH_H
#define WEND_LAUNCH_H

#include <glib.h>

/* The program and its arguments, of the operands that are left: behind "--", if that is there. Sets
 * the variables of the options (setting-options.h). On failure prints the reason, sets *STATUS and
 * returns NULL. */
char **launch_program(const char *command, char **operands, int *status);

/* The file of PROGRAM, which a library can be preloaded into. The caller frees it. On failure
 * returns NULL with an error. */
char *launch_find(const char *program, GError **error);

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
int launch_fail(const char *command, GError *error);
/* The same for wrong usage: says PROBLEM, with a hint at --help. */
int launch_fail_usage(const char *command, const char *problem);

#endif
