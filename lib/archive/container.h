/* SPDX-License-Identifier: BSD-3-Clause */
/* container.h: the container: a pax tar as a row of Zstandard frames, with an index
 * (docs/format.md, "The container"). */
#ifndef WEND_CONTAINER_H
#define WEND_CONTAINER_H

#include <glib.h>

#include "base/allowance.h"
#include "base/error.h"

#define BUNDLE_FILE "trace.tar.zst"

typedef struct ContainerWriter ContainerWriter;
typedef struct SharedFile SharedFile; /* base/shared-file.h */
ContainerWriter *container_writer_new(gint64 mtime);
void container_add(ContainerWriter *w, const char *name, const void *data, gsize n);
/* Writes DIR/FILE under a temporary name, flushes it to the disk, and renames it. On failure
 * nothing is left. Frees the writer. */
gboolean container_finish(ContainerWriter *w, const char *dir, const char *file, guint64 *bytes,
                          GError **error);
/* For an archive with members that other processes have compressed, each in a frame of its own.
 * container_take_frame is for these processes: the one frame of the one member that was added,
 * which the caller unrefs. NULL: an error. Frees the writer. */
GByteArray *container_take_frame(ContainerWriter *w, GError **error);
/* Leaves room for such a frame of BYTES bytes, of the member NAME of N bytes, behind those added
 * before, and before all frames of the writer's own. Returns the offset of that room. */
guint64 container_add_room(ContainerWriter *w, const char *name, guint64 n, guint64 bytes);
/* Instead of container_finish: begins DIR/FILE with all but the frames of other processes, and with
 * a mark in each room. The caller ends OUT. Frees the writer. */
gboolean container_begin(ContainerWriter *w, const char *dir, const char *file, SharedFile *out,
                         guint64 *bytes, GError **error);
void container_writer_free(ContainerWriter *w);

typedef struct Container Container;
/* The file, or a directory with BUNDLE_FILE. ALLOWANCE: what all archives of the recording may take
 * together; NULL, and for the functions below: one of its own. */
Container *container_open_within(const char *path, Allowance *allowance, GError **error);
Container *container_open(const char *path, GError **error);
Container *container_from_bytes(GBytes *file, const char *name, GError **error);
/* char * -> GBytes; takes the table. For fuzzing */
Container *container_from_members(GHashTable *members, const char *name);
void container_free(Container *b);
const char *container_name(const Container *b);     /* for messages */
Allowance *container_allowance(const Container *b); /* no reference */
guint64 container_file_bytes(const Container *b);
guint64 container_member_bytes(const Container *b); /* all members, uncompressed */
gboolean container_has(const Container *b, const char *name);
/* unref; fails if there is none or it is damaged */
GBytes *container_member(Container *b, const char *name, GError **error);

#endif
