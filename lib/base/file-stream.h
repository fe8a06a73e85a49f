/* SPDX-License-Identifier: BSD-3-Clause */
/* file-stream.h: writes a file piece by piece, by the rules of file-write.h: it has its name when
 * it is whole, and not before. */
#ifndef WEND_FILE_STREAM_H
#define WEND_FILE_STREAM_H

#include "file-write.h"

typedef struct WendFileStream WendFileStream;

/* Begins to write the file PATH ("-" is standard output). Signals that end the process are held
 * until the stream ends, and noticed when something is written. Returns NULL with the error of
 * file_write on failure. */
WendFileStream *file_stream_open(const char *path, WendFileFlags flags, Error **error);

/* Appends N bytes. Returns false if it cannot be written any more, or a signal is to end the
 * process; file_stream_end says why. */
bool file_stream_write(WendFileStream *f, const void *data, size_t n);

/* Ends and frees F. With KEEP the file gets its name, without it the file is removed. What is
 * written in place stays. Returns false and sets the error if the file could not be written or
 * named. A reader of a pipe that closed its end is no error. F may be NULL: true. */
bool file_stream_end(WendFileStream *f, bool keep, Error **error);

#endif
