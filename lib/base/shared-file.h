/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-file.h: a file that several processes write, each at a place of its own. One process, the
 * owner, makes the file and gives it its name at the end; until then it has a temporary name, as
 * all that file-write.h writes.
 *
 * The other processes may be on other nodes, where the path may lead to another file, or where a
 * file system copies what it shares late. So the owner writes a mark at each place, and a process
 * writes only where it has read that mark. As soon as several processes write, the file is open
 * with O_DSYNC: what is written is there for the others, and NFS writes the bytes alone, and not
 * the page around them, which has bytes of other processes. */
#ifndef WEND_SHARED_FILE_H
#define WEND_SHARED_FILE_H

#include "file-write-private.h"

/* How another process finds the file. It can be sent as bytes. */
typedef struct {
    guint64 mark;
    char temporary[32]; /* name in the directory */
} SharedFileKey;

/* What the owner has. It holds no memory. */
typedef struct SharedFile {
    FileBeside beside;
    SharedFileKey key;
    gboolean is_open;
    char path[PATH_MAX]; /* for messages */
} SharedFile;

/* The least bytes of a place: those of the mark. */
#define SHARED_FILE_LEAST sizeof(guint64)

/* The owner makes the file that is to be PATH, replacing a file or link there. shared_file_end ends
 * it. FALSE: it cannot be made, and nothing is left. */
gboolean shared_file_begin(SharedFile *f, const char *path, GError **error);
/* Writes the mark at OFFSET, where another process is to write, or N bytes there. FALSE: the error
 * says why, and the file is still open. */
gboolean shared_file_mark(SharedFile *f, guint64 offset, GError **error);
gboolean shared_file_write(SharedFile *f, guint64 offset, const void *data, gsize n,
                           GError **error);
/* All that is written is on the disk, and other processes may write from here on. FALSE: as
 * above. */
gboolean shared_file_share(SharedFile *f, GError **error);
/* Gives the file its name, once it is on the disk. FALSE: that was not possible, and nothing is
 * left. */
gboolean shared_file_end(SharedFile *f, GError **error);
/* Removes the file, if there is one. */
void shared_file_abandon(SharedFile *f);

/* In another process: writes N bytes at OFFSET of the file KEY in DIRECTORY. FALSE: the file is not
 * there, has no mark at OFFSET, or cannot be written. Then the owner must write the bytes. */
gboolean shared_file_contribute(const char *directory, const SharedFileKey *key, guint64 offset,
                                const void *data, gsize n);

#endif
