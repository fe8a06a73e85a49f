/* SPDX-License-Identifier: BSD-3-Clause */
/* write.h: writes merged recordings as archives. */
#ifndef WEND_WRITE_H
#define WEND_WRITE_H

#include "merge/merge.h"
#include "merge/totals.h"

typedef struct SharedFile SharedFile; /* base/shared-file.h */

typedef struct {
    WendTotals totals; /* of all ranks */
    uint64_t bytes;    /* of the archive */
    uint32_t classes;
} WendArchiveResult;

/* Shares terminals and rules between classes and writes DIR/FILE; FILE NULL is trace.tar.zst. DIR
 * must exist. Returns false and sets the error on failure; then there is no new file. It changes
 * the classes of M, which can only be freed afterwards. */
bool write_archive(WendMerge *m, const char *dir, const char *file, WendArchiveResult *result,
                   Error **error);

/* Whether M has frames that other processes write: shards (write_make_shard) and side
 * streams (write_make_side_frames). */
bool write_has_frames(const WendMerge *m);

/* -- shards: calls that cannot be merged are not sent to rank 0 (docs/merging.md, "Shards") -- */

/* Makes a shard of M if it is due by LEAST, a number of ranks (shard_is_due). *FRAME is then the
 * compressed member of the archive with these calls, which the caller unrefs, and M keeps only the
 * description of the shard. Otherwise *FRAME is NULL and M is unchanged. Returns false and sets the
 * error if the shard cannot be written; M can only be freed then. */
bool write_make_shard(WendMerge *m, uint32_t least, Vector **frame, Error **error);

/* Compresses the side streams in M, which are of one rank: each becomes a frame of the archive, and
 * M keeps it. What M then gives to other ranks has only its description. Returns false and sets the
 * error if memory is short. */
bool write_make_side_frames(WendMerge *m, Error **error);
/* The frame of the side streams of KIND of RANK, which belongs to M. NULL: M does not have it. */
const Vector *write_side_frame(const WendMerge *m, uint32_t rank, uint32_t kind);

/* Where a frame that another process writes belongs in the archive. */
typedef struct {
    uint64_t offset, bytes;
    uint32_t rank; /* who writes it; of a shard, the first rank */
    uint32_t what; /* WEND_PLACE_SHARD, or 1 + the kind of side stream */
} WendFramePlace;
enum { WEND_PLACE_SHARD };

/* Like write_archive, for a merge with frames of other processes: writes all except these to a
 * file that has no name yet. The caller has each frame written (base/shared-file.h) and ends
 * FILE_OUT. *PLACES has WendFramePlace, shards by ascending rank and then side streams by rank and
 * kind; the caller unrefs it. On failure there is no new file. */
bool write_archive_begin(WendMerge *m, const char *dir, const char *file, SharedFile *file_out,
                         Vector **places, WendArchiveResult *result, Error **error);

#endif
