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

#include "file-write.h"

/* How another process finds the file. It can be sent as bytes. */
typedef struct {
    uint64_t mark;
    char temporary[32]; /* name in the directory */
} SharedFileKey;

/* What the owner has. It holds no memory. */
typedef struct SharedFile {
    FileBeside beside;
    SharedFileKey key;
    bool is_open;
    char path[PATH_MAX]; /* for messages */
} SharedFile;

/* The least bytes of a place: those of the mark. */
#define SHARED_FILE_LEAST sizeof(uint64_t)

/* The owner makes the file that is to be PATH, replacing a file or link there. shared_file_end ends
 * it. false: it cannot be made, and nothing is left. */
bool shared_file_begin(SharedFile *f, const char *path, Error **error);
/* Writes the mark at OFFSET, where another process is to write, or N bytes there. false: the error
 * says why, and the file is still open. */
bool shared_file_mark(SharedFile *f, uint64_t offset, Error **error);
bool shared_file_write(SharedFile *f, uint64_t offset, const void *data, size_t n, Error **error);
/* All that is written is on the disk, and other processes may write from here on. false: as
 * above. */
bool shared_file_share(SharedFile *f, Error **error);
/* Gives the file its name, once it is on the disk. false: that was not possible, and nothing is
 * left. */
bool shared_file_end(SharedFile *f, Error **error);
/* Removes the file, if there is one. */
void shared_file_abandon(SharedFile *f);

/* In another process: writes N bytes at OFFSET of the file KEY in DIRECTORY. false: the file is not
 * there, has no mark at OFFSET, or cannot be written. Then the owner must write the bytes. */
bool shared_file_contribute(const char *directory, const SharedFileKey *key, uint64_t offset,
                            const void *data, size_t n);

#endif
