/* SPDX-License-Identifier: BSD-3-Clause */
/* code-file.h: opens files of code that a recording, or another file of code, names. Nothing in
 * them is trusted. */
#ifndef WEND_CODE_FILE_H
#define WEND_CODE_FILE_H

#include <glib.h>

/* Opens the file at PATH if it is a regular file in ELF's format, whose compressed sections are not
 * far larger than the file. It does not wait, and opens no device. Returns the descriptor, which
 * the caller closes, or -1. */
int code_file_open(const char *path);

/* Opens the debug information of the file at PATH, which calls it NAME (.gnu_debuglink): a file in
 * PATH's folder, in .debug there, or in /usr/lib/debug, whose build-id is ID of N bytes. A NAME
 * with folders (.gnu_debugaltlink) is opened in /usr/lib/debug alone. Returns as code_file_open
 * does; *FOUND is the path, which the caller frees with free(). */
int code_file_open_debug(const char *path, const char *name, const guint8 *id, gsize n,
                         char **found);

#endif
