/* SPDX-License-Identifier: BSD-3-Clause */
/* file-write.h: how Wend's archives and what its commands write get into files. There is no other
 * way (docs/safety.md, "Writing files").
 *
 * A regular file is written under a name of its own in the same directory and renamed at the end:
 * nobody sees half a file, and a failure or a signal that ends the process leaves what was there,
 * and nothing besides. Devices, pipes and FIFOs are written in place. A symbolic link is never
 * followed to a regular file: it is what is replaced. */
#ifndef WEND_FILE_WRITE_H
#define WEND_FILE_WRITE_H

#include <glib.h>

#include "error.h"

typedef enum {
    WEND_FILE_REPLACE = 1, /* a file, link or disk that is there may be overwritten */
    WEND_FILE_DURABLE = 2, /* it is on the disk when it has its name */
    WEND_FILE_REGULAR = 4  /* no device, pipe or standard output */
} WendFileFlags;

/* The exit code for an errno of a name. A recording that is not there is bad input, as is a name
 * that leads nowhere for ever (ELOOP, ENAMETOOLONG) or to something else than it should; an output
 * that cannot be made, for whatever else, is the system's. */
WendErrorCode wend_error_of_input(int number);
WendErrorCode wend_error_of_output(int number);

/* Writes the N bytes at DATA to the file PATH. "-" and /dev/stdout are standard output, /dev/fd/N
 * the descriptor N. FALSE: the error says what is in the way; WEND_ERROR_INPUT if there is
 * something that may not be replaced. In a process of several threads, a signal to another one may
 * leave a file .wend-… behind. */
gboolean wend_file_write(const char *path, const void *data, gsize n, WendFileFlags flags,
                         GError **error);
/* Would that be refused? Without writing: for before long work. */
gboolean wend_file_check(const char *path, WendFileFlags flags, GError **error);

typedef struct {
    const char *name; /* without a directory */
    const void *data;
    gsize n;
} WendFile;

/* The same for the COUNT files of DIRECTORY, which is made if it is not there. If it was, a failure
 * may leave some of them new. */
gboolean wend_file_write_directory(const char *directory, const WendFile *files, guint count,
                                   WendFileFlags flags, GError **error);

#endif
