/* SPDX-License-Identifier: BSD-3-Clause */
/* regular.h: reads regular files. A name may lead to something else: a device that never ends, or a
 * pipe that nobody writes to. */
#ifndef WEND_REGULAR_H
#define WEND_REGULAR_H

#include "containers.h"
#include "error.h"

/* Opens a file for reading, without waiting, and sets *BYTES to its size. Returns the descriptor,
 * or -1 if the file cannot be opened or is not regular. Then *WHY (may be NULL) is errno, or 0 if
 * the file is not regular. The error is WEND_ERROR_INPUT if the name is to blame, else
 * WEND_ERROR_SYSTEM. */
int regular_open(const char *path, uint64_t *bytes, int *why, Error **error);

/* Reads N bytes from OFFSET on into DATA. Returns false with errno set if that fails, and with
 * errno 0 if the file is shorter. */
bool regular_read(int fd, uint64_t offset, void *data, size_t n);

#endif
