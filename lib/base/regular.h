/* SPDX-License-Identifier: BSD-3-Clause */
/* regular.h: files that are read as input. A name may lead to anything: a device that never
 * ends, or a pipe that nobody writes to. */
#ifndef WEND_REGULAR_H
#define WEND_REGULAR_H

#include <glib.h>

/* Opens a file for reading, without waiting for it, and sets *BYTES to its size. -1: it cannot be
 * opened, or is no regular file; *WHY (may be NULL) is then errno, or 0 if it is no regular file,
 * and the error is WEND_ERROR_INPUT if the name is to blame, else WEND_ERROR_SYSTEM. */
int wend_regular_open(const char *path, guint64 *bytes, int *why, GError **error);

/* N bytes from OFFSET on. FALSE: an error, in errno, or the file has no more (0). */
gboolean wend_regular_read(int fd, guint64 offset, void *data, gsize n);

#endif
