/* SPDX-License-Identifier: BSD-3-Clause */
/* rankset.h: a set of ranks of a world, kept as a delta sequence (delta-sequence.h). So "all",
 * "every third" or the inner ranks of a grid take a few bytes for any number of ranks. A set never
 * changes; copies share it. */
#ifndef WEND_RANKSET_H
#define WEND_RANKSET_H

#include "base/buf.h"
#include "base/containers.h"
#include "delta-sequence.h"

/* The largest world that is read. Without a limit, a few bytes of a hostile file would take
 * gigabytes. */
#define RANKSET_MAX (1u << 24)

typedef struct {
    uint32_t n;             /* the number of ranks */
    DeltaSequence *numbers; /* rank + 1, ascending: so all differences are positive */
} RankSet;

/* COUNT ranks first, first + step, … */
typedef struct {
    uint32_t first, count, step;
} RankRun;

RankSet rankset_single(uint32_t rank);
RankSet rankset_from_sorted(const uint32_t *ranks, uint32_t n);
RankSet rankset_copy(const RankSet *s);
RankSet rankset_moved(const RankSet *s, uint32_t by); /* each rank + by */
void rankset_clear(RankSet *s);
uint32_t *rankset_expand(const RankSet *s); /* ascending; memory_free */
/* Ranks in equal steps from INDEX < n on. There may be more than it returns. */
RankRun rankset_run(const RankSet *s, uint32_t index);
/* The longest run of ranks in equal steps from INDEX on, whatever the form of the set. Two ranks
 * with a gap between them are two runs. */
RankRun rankset_stretch(const RankSet *s, uint32_t index);
uint32_t rankset_lowest(const RankSet *s); /* of a set that is not empty */
bool rankset_find(const RankSet *s, uint32_t rank, uint32_t *index);
bool rankset_contains(const RankSet *s, uint32_t rank);
bool rankset_equal(const RankSet *a, const RankSet *b);
/* Adds the ranks of B to A. false: they overlap, and A is unchanged. */
bool rankset_unite(RankSet *a, const RankSet *b);
void rankset_include(RankSet *a, const RankSet *b); /* adds the ranks of B, which may overlap A */
/* Appends the set as "ranks" of docs/format.md, for another process that merges. */
void rankset_encode(const RankSet *s, WendBuf *out);
/* The same, for an archive (delta_sequence_encode_shortest). */
void rankset_encode_shortest(const RankSet *s, WendBuf *out);
/* Reads a set. false: it is damaged or empty, or has a rank >= WORLD. */
bool rankset_decode(RankSet *s, WendCursor *c, uint32_t world);

/* Appends N > 0 sets as "sets" of docs/format.md: one after the other or, if that is shorter, as
 * delta sequences of the numbers of all their runs. */
void ranksets_encode(const RankSet *sets, uint32_t n, WendBuf *out);
/* Reads N sets to SETS, which has room for them. false: the data are damaged, or a set is empty or
 * has a rank >= WORLD. The caller clears SETS in any case. */
bool ranksets_decode(RankSet *sets, uint32_t n, WendCursor *c, uint32_t world);

/* Walks two sets in ascending order of ranks, run by run. Each run has ranks of one set. */
typedef struct {
    const RankSet *sets[2];
    uint32_t at[2];
} RankZip;
/* Sets *RUN to the next run, which begins at *INDEX of the set *SIDE. false: the end. A rank of
 * both sets comes once from each. */
bool rankset_zip(RankZip *z, int *side, uint32_t *index, RankRun *run);

#endif
