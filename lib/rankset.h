/* rankset.h: a set of world ranks, kept as runs, so that "all" or "every third" is a few bytes at any number of ranks. */
#ifndef WEND_RANKSET_H
#define WEND_RANKSET_H

#include <glib.h>

#include "buf.h"

#define RANKSET_MAX (1u << 24) /* world sizes beyond this are refused: a few bytes of a hostile file must not claim gigabytes */

typedef struct { guint32 first, count, step; } RankRun; /* first, first + step, … */
typedef struct {
    guint32 n;                 /* ranks */
    guint n_runs;
    RankRun *runs;             /* ascending; the last rank of a run is below the first of the next */
} RankSet;

RankSet rankset_single(guint32 rank);
RankSet rankset_from_sorted(const guint32 *ranks, guint32 n);  /* one canonical form for each set */
RankSet rankset_copy(const RankSet *s);
void rankset_clear(RankSet *s);
guint32 *rankset_expand(const RankSet *s);                     /* ascending; g_free */
guint32 rankset_lowest(const RankSet *s);                      /* of a set that is not empty */
gboolean rankset_contains(const RankSet *s, guint32 rank);
gboolean rankset_equal(const RankSet *a, const RankSet *b);
gboolean rankset_unite(RankSet *a, const RankSet *b);          /* FALSE, and nothing done: they overlap */

void rankset_encode(const RankSet *s, WendBuf *out);
gboolean rankset_decode(RankSet *s, WendCursor *c, guint32 world); /* FALSE: damaged, or a rank >= world */

/* Merges two ascending rows without a common element; FALSE if there is one. */
gboolean ranks_merge(const guint32 *a, guint32 n_a, const guint32 *b, guint32 n_b, guint32 *out);

#endif
