/* SPDX-License-Identifier: BSD-3-Clause */
/* program-file.h: finds the file of a program by its name. It allocates nothing, because a child
 * calls it between vfork and exec. */
#ifndef WEND_PROGRAM_FILE_H
#define WEND_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>

/* Whether FILE is a program that can be executed. */
bool program_file_is(const char *file);
/* Finds program NAME in FOLDERS ("/a:/b", as in PATH; NULL: PATH is not set), and writes its path,
 * with a slash in it, to FILE. Returns false if there is none. */
bool program_file_find(const char *folders, const char *name, char file[PATH_MAX]);

#endif
