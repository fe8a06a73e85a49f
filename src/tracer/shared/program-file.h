/* SPDX-License-Identifier: BSD-3-Clause */
/* program-file.h: which file the name of a program leads to. Nothing is allocated: a child asks
 * between vfork and exec. */
#ifndef WEND_PROGRAM_FILE_H
#define WEND_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>

bool program_file_is(const char *file);
/* The first of FOLDERS ("/a:/b", as PATH has them; NULL: PATH is not set) that has program NAME, as
 * a path with a slash in it. */
bool program_file_find(const char *folders, const char *name, char file[PATH_MAX]);

#endif
