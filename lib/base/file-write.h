/* SPDX-License-Identifier: BSD-3-Clause */
/* file-write.h: writes files: all archives, and all files of the commands (docs/safety.md, "Writing
 * files").
 *
 * A regular file is written under a temporary name in the same directory and renamed at the end. So
 * nobody sees half a file. After a failure, or a signal that ends the process, the old file is
 * there and no other. Devices, pipes and FIFOs are written in place. A symbolic link is never
 * followed to a regular file: the link itself is replaced. */
#ifndef WEND_FILE_WRITE_H
#define WEND_FILE_WRITE_H

#include <glib.h>

#include "error.h"

typedef enum {
    WEND_FILE_REPLACE = 1, /* a file, link or disk that is there may be overwritten */
    WEND_FILE_DURABLE = 2, /* it is on the disk when it has its name */
    WEND_FILE_REGULAR = 4  /* no device, pipe or standard output */
} WendFileFlags;

/* Writes the N bytes at DATA to the file PATH. "-" and /dev/stdout are standard output, /dev/fd/N
 * the descriptor N. Returns FALSE and sets the error on failure: WEND_ERROR_INPUT if there is a
 * file that may not be replaced. In a process of several threads, a signal to another thread may
 * leave a file .wend-… behind. */
gboolean wend_file_write(const char *path, const void *data, gsize n, WendFileFlags flags,
                         GError **error);
/* Would wend_file_write refuse to replace PATH? Returns FALSE and sets the error if so. Writes
 * nothing: for checks before long work. */
gboolean wend_file_check(const char *path, WendFileFlags flags, GError **error);

typedef struct {
    const char *name; /* without a directory */
    const void *data;
    gsize n;
} WendFile;

/* Writes COUNT files into DIRECTORY, which is made if it does not exist. In a directory that
 * existed before, a failure may leave some of the files new. */
gboolean wend_file_write_directory(const char *directory, const WendFile *files, guint count,
                                   WendFileFlags flags, GError **error);

#endif
