/* SPDX-License-Identifier: BSD-3-Clause */
/* executable.h: finds a program and examines its file before it runs. */
#ifndef WEND_EXECUTABLE_H
#define WEND_EXECUTABLE_H

#include <glib.h>

/* The file that exec would run for NAME: NAME itself if it has a slash, else found by PATH. The
 * caller frees it. On failure returns NULL with an error that names the program. */
char *executable_find(const char *name, GError **error);

/* The reason why no library can be preloaded into the program in FILE, as static text. NULL if one
 * can, or if it is unknown (a script). */
const char *executable_obstacle(const char *file);

/* The dynamic linker of the program in FILE. NULL if it has none (a script) or cannot be read. The
 * caller frees it. */
char *executable_linker(const char *file);

#endif
