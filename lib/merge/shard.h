/* SPDX-License-Identifier: BSD-3-Clause */
/* shard.h: ranks whose calls are in a member of the archive that the rank at the head of their part
 * of the tree has made (docs/merging.md, "Shards"). The merge goes on with what is said of them
 * here. */
#ifndef WEND_SHARD_H
#define WEND_SHARD_H

#include "class.h"
#include "totals.h"

typedef struct {
    guint32 first;  /* the lowest of its ranks */
    guint64 member; /* bytes: of the member, */
    guint64 frame;  /* and of the frame, compressed */
    guint64 classes;
    WendTotals totals;
} Shard;

GArray *shards_new(void); /* of Shard; g_array_unref */
void shards_encode(const GArray *shards, WendBuf *out);
/* Into SHARDS, which is empty. RANKS are those of the whole merge. FALSE: damaged. */
gboolean shards_decode(GArray *shards, WendCursor *c, const RankSet *ranks);
/* Adds MORE, which has none of SHARDS, and keeps them ascending. */
void shards_include(GArray *shards, const GArray *more);

/* Whether the calls that M has are to become a shard: those of LEAST ranks and more, which have
 * next to nothing in common. It depends on the calls alone. */
gboolean shard_is_due(const WendMerge *m, guint32 least);
/* The classes of M are now in SHARD. */
void shard_replaces(WendMerge *m, const Shard *shard);

#endif
