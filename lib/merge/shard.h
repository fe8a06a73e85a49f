/* SPDX-License-Identifier: BSD-3-Clause */
/* shard.h: shards: ranks whose calls are in a member of the archive that one of them has made, the
 * head of their subtree (docs/merging.md, "Shards"). The other ranks that merge have only this
 * description of a shard. */
#ifndef WEND_SHARD_H
#define WEND_SHARD_H

#include "class.h"
#include "totals.h"

typedef struct {
    guint32 first;  /* the lowest of its ranks */
    guint64 member; /* bytes of the member */
    guint64 frame;  /* bytes of its compressed frame */
    guint64 classes;
    WendTotals totals;
} Shard;

GArray *shards_new(void); /* of Shard, by first rank; the caller unrefs it */
/* Appends SHARDS to OUT. */
void shards_encode(const GArray *shards, WendBuf *out);
/* Reads SHARDS, which is empty. RANKS: all ranks of the merge. FALSE: the data are damaged. */
gboolean shards_decode(GArray *shards, WendCursor *c, const RankSet *ranks);
/* Adds the shards of MORE, which are all new, and keeps SHARDS in order. */
void shards_include(GArray *shards, const GArray *more);

/* Whether the classes of M should become a shard. They must have at least LEAST ranks, or
 * tree_least(LEAST) ranks with many terminals, and these must have next to nothing in common. The
 * result depends on the calls alone. */
gboolean shard_is_due(const WendMerge *m, guint32 least);
/* Replaces the classes of M, which it frees, by the description SHARD. */
void shard_replaces(WendMerge *m, const Shard *shard);

#endif
