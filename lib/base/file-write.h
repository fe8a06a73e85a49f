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

#include <limits.h>
#include <sys/stat.h>

#include "error.h"
#include "signals.h"

typedef enum {
    WEND_FILE_REPLACE = 1, /* a file, link or disk that is there may be overwritten */
    WEND_FILE_DURABLE = 2, /* it is on the disk when it has its name */
    WEND_FILE_REGULAR = 4  /* no device, pipe or standard output */
} WendFileFlags;

/* Writes the N bytes at DATA to the file PATH. "-" and /dev/stdout are standard output, /dev/fd/N
 * the descriptor N. Returns false and sets the error on failure: WEND_ERROR_INPUT if there is a
 * file that may not be replaced. In a process of several threads, a signal to another thread may
 * leave a file .wend-… behind. */
bool file_write(const char *path, const void *data, size_t n, WendFileFlags flags, Error **error);
/* Would file_write refuse to replace PATH? Returns false and sets the error if so. Writes
 * nothing: for checks before long work. */
bool file_check(const char *path, WendFileFlags flags, Error **error);

typedef struct {
    const char *name; /* without a directory */
    const void *data;
    size_t n;
} WendFile;

/* Writes COUNT files into DIRECTORY, which is made if it does not exist. In a directory that
 * existed before, a failure may leave some of the files new. */
bool file_write_directory(const char *directory, const WendFile *files, uint32_t count,
                          WendFileFlags flags, Error **error);

/* -- for file-stream.h, file-directory.h and shared-file.h: what is there under a name, and a file
 * under a temporary name in the directory where it is to be -- */

typedef enum { FILE_ABSENT, FILE_REGULAR, FILE_LINK, FILE_IN_PLACE } FileKind;

/* What is there under a path. */
typedef struct {
    FileKind kind;
    int fd;           /* FILE_IN_PLACE: one that is open already, or -1 */
    bool linked;      /* FILE_IN_PLACE: by a symbolic link */
    struct stat info; /* of the file that is replaced or written to */
} FileTarget;

/* false: the error says what is in the way. */
bool file_target_inspect(FileTarget *t, const char *path, WendFileFlags flags, Error **error);
/* Set the error for an errno, and for a reason. false. */
bool file_write_failed(Error **error, const char *path, int number);
bool file_write_refuse(Error **error, const char *path, const char *why);

/* Opens what T says is to be written in place. The caller closes *FD unless it is T's, or -1. The
 * file is what it was when T was found. Returns 0 or the errno. */
int file_target_open(const char *path, const FileTarget *t, int *fd);
/* Writes N bytes. H NULL: signals come as ever; else one that is to end the process ends the
 * writing with EINTR. Returns 0 or the errno. */
int file_write_all(int fd, const uint8_t *p, size_t n, const SignalHold *h);

/* A file without its name. It holds no memory. */
typedef struct {
    FileTarget target;
    int directory, fd; /* -1: not open */
    char temporary[32], name[NAME_MAX + 1];
} FileBeside;

/* Opens a file in the directory of PATH, where T was found. The caller ends it in either case. 0 or
 * the errno. */
int file_beside_open(FileBeside *b, const char *path, const FileTarget *t);
/* If NUMBER, the errno so far, is 0 and no signal of those that H holds is to end the process, the
 * file gets its name. Else it is removed. Closes it. 0 or the errno. */
int file_beside_end(FileBeside *b, WendFileFlags flags, int number, const SignalHold *h);

#endif
