/* SPDX-License-Identifier: BSD-3-Clause */
/* shard.h: shards: ranks whose calls are in a member of the archive that one of them has made, the
 * head of their subtree (docs/merging.md, "Shards"). The other ranks that merge have only this
 * description of a shard. */
#ifndef WEND_SHARD_H
#define WEND_SHARD_H

#include "class.h"
#include "totals.h"

typedef struct {
    uint32_t first;  /* the lowest of its ranks */
    uint64_t member; /* bytes of the member */
    uint64_t frame;  /* bytes of its compressed frame */
    uint64_t classes;
    WendTotals totals;
} Shard;

Vector *shards_new(void); /* of Shard, by first rank; the caller unrefs it */
/* Appends SHARDS to OUT. */
void shards_encode(const Vector *shards, WendBuf *out);
/* Reads SHARDS, which is empty. RANKS: all ranks of the merge. false: the data are damaged. */
bool shards_decode(Vector *shards, WendCursor *c, const RankSet *ranks);
/* Adds the shards of MORE, which are all new, and keeps SHARDS in order. */
void shards_include(Vector *shards, const Vector *more);

/* Whether the classes of M should become a shard. They must have at least LEAST ranks, or
 * tree_least(LEAST) ranks with many terminals, and these must have next to nothing in common. The
 * result depends on the calls alone. */
bool shard_is_due(const WendMerge *m, uint32_t least);
/* Replaces the classes of M, which it frees, by the description SHARD. */
void shard_replaces(WendMerge *m, const Shard *shard);

#endif
