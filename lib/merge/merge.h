/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.h: parts of ranks -> one recording -> an archive. The tracer calls these through dlopen;
 * tests and benchmarks directly.
 *
 * A WendMerge holds the classes of a set of ranks. Merging two is associative over disjoint rank
 * sets, so ranks pair up in log2(P) steps. A rank decodes its own part, absorbs the merges that
 * others encoded, and encodes its own for the next rank.
 *
 * This header is the interface of the folder. Other folders include these of its headers, too:
 *
 * - the archive and the reader, for the inside of a merged recording: recording.h, derive.h,
 *   hosts.h, rank-times.h, shared-sides.h, side-members.h, timing.h, timing-rows.h
 * - the tracer: tree.h, the order in which ranks merge */
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
/* Whether M has frames that other processes write: shards (wend_merge_make_shard) and side streams
 * (wend_merge_make_side_frames). */
gboolean wend_merge_has_frames(const WendMerge *m);
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

/* -- shards: calls that cannot be merged are not sent to rank 0 (docs/merging.md, "Shards") -- */

/* Makes a shard of M if it is due by LEAST, a number of ranks (shard_is_due). *FRAME is then the
 * compressed member of the archive with these calls, which the caller unrefs, and M keeps only the
 * description of the shard. Otherwise *FRAME is NULL and M is unchanged. Returns FALSE and sets the
 * error if the shard cannot be written; M can only be freed then. */
gboolean wend_merge_make_shard(WendMerge *m, guint32 least, GByteArray **frame, GError **error);

/* Compresses the side streams in M, which are of one rank: each becomes a frame of the archive, and
 * M keeps it. What M then gives to other ranks has only its description. Returns FALSE and sets the
 * error if memory is short. */
gboolean wend_merge_make_side_frames(WendMerge *m, GError **error);
/* The frame of the side streams of KIND of RANK, which belongs to M. NULL: M does not have it. */
const GByteArray *wend_merge_side_frame(const WendMerge *m, guint32 rank, guint32 kind);

/* Where a frame that another process writes belongs in the archive. */
typedef struct {
    guint64 offset, bytes;
    guint32 rank; /* who writes it; of a shard, the first rank */
    guint32 what; /* WEND_PLACE_SHARD, or 1 + the kind of side stream */
} WendFramePlace;
enum { WEND_PLACE_SHARD };

/* Like wend_merge_write, for a merge with frames of other processes: writes all except these to a
 * file that has no name yet. The caller has each frame written (base/shared-file.h) and ends
 * FILE_OUT. *PLACES has WendFramePlace, shards by ascending rank and then side streams by rank and
 * kind; the caller unrefs it. On failure there is no new file. */
gboolean wend_merge_begin(WendMerge *m, const char *dir, const char *file, SharedFile *file_out,
                          GArray **places, WendMergeResult *result, GError **error);

#endif
