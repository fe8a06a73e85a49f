/* SPDX-License-Identifier: BSD-3-Clause */
/* bundle.h: the container: a pax tar as a row of Zstandard frames, with an index (docs/format.md, "The container"). */
#ifndef WEND_BUNDLE_H
#define WEND_BUNDLE_H

#include <glib.h>

#include "base/allowance.h"
#include "base/error.h"

#define BUNDLE_FILE "trace.tar.zst"

typedef struct BundleWriter BundleWriter;
BundleWriter *bundle_writer_new(gint64 mtime);
void bundle_add(BundleWriter *w, const char *name, const void *data, gsize n);
/* Writes DIR/FILE under a temporary name, flushes it to the disk, and renames it. On failure nothing is left. Frees the writer. */
gboolean bundle_finish(BundleWriter *w, const char *dir, const char *file, guint64 *bytes, GError **error);
void bundle_writer_free(BundleWriter *w);

typedef struct Bundle Bundle;
/* The file, or a directory with BUNDLE_FILE. ALLOWANCE: what all archives of the recording may take
 * together; NULL, and for the functions below: one of its own. */
Bundle *bundle_open_within(const char *path, Allowance *allowance, GError **error);
Bundle *bundle_open(const char *path, GError **error);
Bundle *bundle_from_bytes(GBytes *file, const char *name, GError **error);
Bundle *bundle_from_members(GHashTable *members, const char *name);      /* char * -> GBytes; takes the table. For fuzzing */
void bundle_free(Bundle *b);
const char *bundle_name(const Bundle *b);                /* for messages */
Allowance *bundle_allowance(const Bundle *b);            /* no reference */
guint64 bundle_file_bytes(const Bundle *b);
guint64 bundle_member_bytes(const Bundle *b);            /* all members, uncompressed */
gboolean bundle_has(const Bundle *b, const char *name);
GBytes *bundle_member(Bundle *b, const char *name, GError **error); /* unref; fails if there is none or it is damaged */

#endif
