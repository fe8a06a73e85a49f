/* SPDX-License-Identifier: BSD-3-Clause */
/* executable.h: what is known of a program before it runs. */
#ifndef WEND_EXECUTABLE_H
#define WEND_EXECUTABLE_H

#include <glib.h>

/* The file that exec would run for NAME, by PATH unless it has a slash. NULL: there is none, with
 * the reason. */
char *executable_find(const char *name, GError **error);

/* Why nothing can be preloaded into the program in FILE, in words; NULL if it can, or if that is
 * not known (a script). */
const char *executable_obstacle(const char *file);

/* The dynamic linker of the program in FILE. NULL: it has none (a script), or none that can be
 * asked. Caller frees. */
char *executable_linker(const char *file);

#endif
