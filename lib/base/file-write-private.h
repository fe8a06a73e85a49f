/* SPDX-License-Identifier: BSD-3-Clause */
/* file-write-private.h: what file-write.c, file-stream.c and shared-file.c share: what is there
 * under a name, and a file under a temporary name in the directory where it is to be. */
#ifndef WEND_FILE_WRITE_PRIVATE_H
#define WEND_FILE_WRITE_PRIVATE_H

#include <limits.h>
#include <sys/stat.h>

#include "file-write.h"
#include "signals.h"

typedef enum { FILE_ABSENT, FILE_REGULAR, FILE_LINK, FILE_IN_PLACE } FileKind;

/* What is there under a path. */
typedef struct {
    FileKind kind;
    int fd;           /* FILE_IN_PLACE: one that is open already, or -1 */
    gboolean linked;  /* FILE_IN_PLACE: by a symbolic link */
    struct stat info; /* of the file that is replaced or written to */
} FileTarget;

/* FALSE: the error says what is in the way. */
gboolean file_target_inspect(FileTarget *t, const char *path, WendFileFlags flags, GError **error);
/* Set the error for an errno, and for a reason. FALSE. */
gboolean file_write_failed(GError **error, const char *path, int number);
gboolean file_write_refuse(GError **error, const char *path, const char *why);

/* Opens what T says is to be written in place. The caller closes *FD unless it is T's, or -1. The
 * file is what it was when T was found. Returns 0 or the errno. */
int file_target_open(const char *path, const FileTarget *t, int *fd);
/* Writes N bytes. H NULL: signals come as ever; else one that is to end the process ends the
 * writing with EINTR. Returns 0 or the errno. */
int file_write_all(int fd, const guint8 *p, gsize n, const SignalHold *h);

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
