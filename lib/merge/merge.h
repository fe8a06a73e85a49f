/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.h: parts of ranks -> one recording -> an archive. The tracer calls these through dlopen;
 * tests and benchmarks directly.
 *
 * A WendMerge holds the classes of a set of ranks. Merging two is associative over disjoint rank
 * sets, so ranks pair up in log2(P) steps: decode own part, absorb what the partner encoded, encode
 * for the next. */
#ifndef WEND_MERGE_H
#define WEND_MERGE_H

#include <glib.h>

#include "base/error.h"
#include "totals.h"

typedef struct WendMerge WendMerge;
typedef struct SharedFile SharedFile; /* base/shared-file.h */

/* Reads the part of one rank. It may take 16 times the part's bytes and ROOM more, which it needs
 * for values of elastic shapes. Returns NULL and sets the error: WEND_ERROR_SYSTEM if it would take
 * more. */
WendMerge *wend_merge_from_part(const guint8 *part, gsize n, guint64 room, GError **error);
/* Merges what wend_merge_encode of another rank wrote. Returns FALSE and sets the error if it is
 * damaged. */
gboolean wend_merge_absorb(WendMerge *m, const guint8 *encoded, gsize n, GError **error);
/* An estimate of the bytes that it holds. */
guint64 wend_merge_memory(const WendMerge *m);
/* Encodes M for the partner. The caller unrefs the result. */
GByteArray *wend_merge_encode(WendMerge *m);
/* Whether M has shards (wend_merge_make_shard). */
gboolean wend_merge_has_shards(const WendMerge *m);
/* Functions that were called but cannot be recorded: "MPI_A, MPI_B and 3 others". Newly allocated;
 * NULL: there are none. */
char *wend_merge_unrecorded(const WendMerge *m);
/* The number of ranks whose recording stopped at WEND_MAX_MEMORY. If it is not 0, *CALLS is the
 * number of calls of the rank that stopped first. */
guint wend_merge_stopped(const WendMerge *m, guint64 *calls);
void wend_merge_free(WendMerge *m);

typedef struct {
    WendTotals totals; /* of all ranks */
    guint64 bytes;     /* of the archive */
    guint classes;
} WendMergeResult;

/* Shares terminals and rules between classes and writes DIR/FILE; FILE NULL is trace.tar.zst. DIR
 * must exist. Returns FALSE and sets the error on failure; then there is no new file. It changes
 * the classes of M, which can only be freed afterwards. */
gboolean wend_merge_write(WendMerge *m, const char *dir, const char *file, WendMergeResult *result,
                          GError **error);

/* -- shards: what cannot be merged does not go on to rank 0 (docs/merging.md, "Shards") -- */

/* If M has the calls of LEAST ranks and more, and these have next to nothing in common, they become
 * a shard (when: tree.h): *FRAME is the member of the archive
 * that has them, compressed, which the caller unrefs, and M has only what rank 0 must know. Else
 * *FRAME is NULL, and M as it was. FALSE: it is a shard, but cannot be written; M is of no more
 * use. */
gboolean wend_merge_make_shard(WendMerge *m, guint32 least, GByteArray **frame, GError **error);

/* Where the frame of a shard belongs in the archive. */
typedef struct {
    guint64 offset, bytes;
    guint32 rank; /* the shard's first */
} WendShardPlace;

/* As wend_merge_write, of a merge with shards: writes all but these to a file without a name. The
 * caller has each shard written (base/shared-file.h) and ends FILE_OUT. *PLACES, by ascending rank,
 * is WendShardPlace, which the caller unrefs. On failure nothing is left. */
gboolean wend_merge_begin(WendMerge *m, const char *dir, const char *file, SharedFile *file_out,
                          GArray **places, WendMergeResult *result, GError **error);

#endif
