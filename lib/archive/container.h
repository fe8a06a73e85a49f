/* SPDX-License-Identifier: BSD-3-Clause */
/* container.h: the container of an archive: a pax tar, compressed as Zstandard frames, with an
 * index of the frames (docs/format.md, "The container").
 *
 * This header is the interface of the folder. Other folders include these of its headers, too:
 *
 * - site-coding.h: the streams of call sites as bits, for the reader
 * - steps.h: the steps of merging and writing that the tracer takes
 * - write.h: writes a merged recording */
#ifndef WEND_CONTAINER_H
#define WEND_CONTAINER_H

#include "base/allowance.h"
#include "base/buf.h"
#include "base/containers.h"
#include "base/error.h"

#define CONTAINER_FILE "trace.tar.zst"

typedef struct ContainerWriter ContainerWriter;
typedef struct SharedFile SharedFile; /* base/shared-file.h */
/* A writer without members. MTIME, in seconds since the epoch, is the time of change of each tar
 * entry. */
ContainerWriter *container_writer_new(int64_t mtime);
/* Adds the member NAME (at most 100 bytes), of N bytes at DATA, which it copies. It reports no
 * failure; the function that ends the writer does. */
void container_add(ContainerWriter *w, const char *name, const void *data, size_t n);
/* The same for bytes that hardly compress any more. */
void container_add_coded(ContainerWriter *w, const char *name, const void *data, size_t n);
/* Writes DIR/FILE under a temporary name, flushes it to the disk, and renames it. Sets *BYTES, if
 * BYTES is not NULL, to the size of the file. Returns false and sets the error on failure; then
 * there is no new file. Frees the writer. */
bool container_finish(ContainerWriter *w, const char *dir, const char *file, uint64_t *bytes,
                      Error **error);

/* -- members that other processes compress; each is in a frame of its own -- */

/* In such a process: returns the frame of the only member that was added. The caller unrefs it.
 * Returns NULL and sets the error on failure. Frees the writer. */
Vector *container_take_frame(ContainerWriter *w, Error **error);
/* In the process that writes the archive, before container_add: leaves room for a frame of BYTES
 * bytes that has the member NAME of N bytes. The rooms follow each other in the order of the calls,
 * and all frames of the writer itself come behind them. Returns the offset of the room. */
uint64_t container_add_room(ContainerWriter *w, const char *name, uint64_t n, uint64_t bytes);
/* Instead of container_finish: begins DIR/FILE with everything except the frames of other
 * processes, and writes a mark to each room. Sets *BYTES to the size of the file. The caller ends
 * OUT (base/shared-file.h). Returns false and sets the error on failure; then there is no new file.
 * Frees the writer. */
bool container_begin(ContainerWriter *w, const char *dir, const char *file, SharedFile *out,
                     uint64_t *bytes, Error **error);
/* For a writer that none of the functions above has freed. W may be NULL. */
void container_writer_free(ContainerWriter *w);

typedef struct Container Container;
/* Opens the archive PATH, or the CONTAINER_FILE in the directory PATH. ALLOWANCE limits the memory
 * of all archives of a recording; the container refs it. With NULL, and with the two functions
 * below, the container has an allowance of its own. Returns NULL and sets the error if the file
 * cannot be read or is damaged. The caller frees the result. */
Container *container_open_within(const char *path, Allowance *allowance, Error **error);
Container *container_open(const char *path, Error **error);
/* Opens an archive in memory, which the container refs. NAME is for messages. */
Container *container_from_bytes(Bytes *file, const char *name, Error **error);
/* A container of MEMBERS (char * -> Bytes), a table that it takes. For fuzzers. */
Container *container_from_members(Map *members, const char *name);
/* B may be NULL. */
void container_free(Container *b);
const char *container_name(const Container *b);     /* the path, for messages */
Allowance *container_allowance(const Container *b); /* of the container */
uint64_t container_file_bytes(const Container *b);
uint64_t container_member_bytes(const Container *b); /* all members, uncompressed */
bool container_has(const Container *b, const char *name);
/* Expands the frame of the member NAME if that has not been done, and returns the member. The
 * caller unrefs it. Returns NULL and sets the error if there is no such member or it is damaged. */
Bytes *container_member(Container *b, const char *name, Error **error);

/* The bytes of a member, one after the other. A member of LEAST bytes or more that is alone in its
 * frame is expanded as it is read, in less than 1 MB of memory, and any other one as a whole. */
typedef struct ContainerStream ContainerStream;
/* Returns NULL and sets the error as container_member does. The caller frees the result, before
 * B. */
ContainerStream *container_stream_new(Container *b, const char *name, uint64_t least,
                                      Error **error);
/* Copies the next N bytes to DATA, or as many as there are, and returns how many. */
size_t container_stream_read(ContainerStream *s, void *data, size_t n);
/* After the last byte: whether the member is whole. Before, and if it is damaged: false. */
bool container_stream_is_whole(ContainerStream *s);
void container_stream_free(ContainerStream *s); /* S may be NULL */

/* -- for container_stream_new -- */

/* Where in the file the frame of a member begins and ends, and how many bytes the member has, as
 * the index says. */
typedef struct {
    uint64_t begin, end, bytes;
} ContainerLone;
/* false: the member NAME is not alone in its frame, or is expanded already. */
bool container_lone_member(const Container *b, const char *name, ContainerLone *lone);
/* Reads N bytes of the file at OFFSET. false: it has no such bytes. */
bool container_read_file(const Container *b, uint64_t offset, void *data, size_t n);

/* -- for container_store -- */

Vector *container_names(const Container *b); /* of all members, sorted; the caller unrefs it */
bool container_has_index(const Container *b);
int64_t container_mtime(Container *b); /* of its tar entries, as far as they are expanded */
/* Instead of container_finish: the bytes of the file. The caller unrefs them. */
Vector *container_take_file(ContainerWriter *w, Error **error);
uint64_t container_tar_bytes(uint64_t n); /* of the tar entry of N bytes */
/* Appends the index of N frames with these ENTRIES. */
void container_put_index(Vector *file, uint32_t n, const WendBuf *entries);

/* Adds the member NAME, of N bytes at DATA, to the archive at PATH, a file, or replaces it. MOST:
 * so many bytes the file may grow. *STORED: whether that is done. Returns false and sets the error
 * if the archive is damaged, or cannot be written; then it is what it was. */
bool container_store(const char *path, const char *name, const void *data, size_t n, uint64_t most,
                     bool *stored, Error **error);

#endif
