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

/* One rank. ROOM: bytes that it may take beside the 16 for each of the part's (values that were
 * kept as such take more when they are calls again); WEND_ERROR_SYSTEM if that does not do. */
WendMerge *wend_merge_from_part(const guint8 *part, gsize n, guint64 room, GError **error);
/* other: encoded by wend_merge_encode */
gboolean wend_merge_absorb(WendMerge *m, const guint8 *encoded, gsize n, GError **error);
/* bytes that it holds, more or less */
guint64 wend_merge_memory(const WendMerge *m);
/* for the partner; caller unrefs */
GByteArray *wend_merge_encode(WendMerge *m);
/* Functions of which it has no call though they were called: "MPI_A, MPI_B and 3 others". Newly
 * allocated; NULL: there are none. */
char *wend_merge_unrecorded(const WendMerge *m);
/* Ranks whose recording stopped at WEND_MAX_MEMORY; if there are any, CALLS is how many the first
 * of them had recorded. */
guint wend_merge_stopped(const WendMerge *m, guint64 *calls);
void wend_merge_free(WendMerge *m);

typedef struct {
    WendTotals totals; /* of all ranks */
    guint64 bytes;     /* of the archive */
    guint classes;
} WendMergeResult;

/* Unifies terminals and rules over classes and writes DIR/FILE (to a temporary name, then renamed);
 * FILE NULL is trace.tar.zst. DIR exists. On failure nothing stays under the final name. What M has
 * of calls is used for it, and should not be merged any more. */
gboolean wend_merge_write(WendMerge *m, const char *dir, const char *file, WendMergeResult *result,
                          GError **error);

#endif
