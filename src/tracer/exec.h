/* SPDX-License-Identifier: BSD-3-Clause */
/* exec.h: which file the name of a program leads to. Nothing is allocated: a child asks between vfork and exec. */
#ifndef WEND_EXEC_H
#define WEND_EXEC_H

#include <limits.h>
#include <stdbool.h>

bool exec_is_program(const char *file);
/* The first of FOLDERS ("/a:/b", as PATH has them; NULL: PATH is not set) that has program NAME, as a path with a slash in it. */
bool exec_find(const char *folders, const char *name, char file[PATH_MAX]);

#endif
