/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison-key.h: small numbers for calls, so that two recordings can be compared by number.
 *
 * Calls of either recording that count as equal (docs/comparing.md, "Equality of two recordings")
 * get the same number. Exact: numbers are
 * handed out for distinct byte strings, not hashes. */
#ifndef WEND_DIFF_COMPARISON_KEY_H
#define WEND_DIFF_COMPARISON_KEY_H

#include <glib.h>

#include "lib/analysis/count.h"
#include "lib/read/program.h"

typedef struct ComparisonKey ComparisonKey;

ComparisonKey *comparison_key_new(const WendProgram *a, const WendProgram *b);
void comparison_key_free(ComparisonKey *identity);
guint32 comparison_key_intern(ComparisonKey *identity, const void *bytes, gsize n); /* from 1 */

/* One rank of one of the two recordings. */
typedef struct ComparisonKeyRank ComparisonKeyRank;
ComparisonKeyRank *comparison_key_rank_new(ComparisonKey *identity, const WendProgram *p,
                                           guint rank, Counts *counts);
void comparison_key_rank_free(ComparisonKeyRank *r);
ComparisonKey *comparison_key_of_rank(const ComparisonKeyRank *r);
/* From here on a receive from any source counts as the one of the source that it got, where the
 * other recording has that, and MPI_Dist_graph_create likewise as MPI_Dist_graph_create_adjacent
 * (pins.h): what is equal then differs only as a proxy is expected to. A and B are the same rank of
 * the two recordings. */
void comparison_key_pin(ComparisonKeyRank *a, Counts *counts_a, ComparisonKeyRank *b,
                        Counts *counts_b);
/* The calls of SEQUENCE, an index in the rank's class, come next. */
void comparison_key_begin(ComparisonKeyRank *r, guint sequence);
/* How many calls were counted so: name of the function -> guint64; the identity's. */
GHashTable *comparison_key_pinned(const ComparisonKey *identity);
/* The number of a call by its terminal: function, shape, slots, the requests it names by the calls
 * that make them. */
guint32 comparison_key_terminal(ComparisonKeyRank *r, guint32 terminal);
/* The number of a request: (signature of the calls that make it, k). Specials and what nobody makes
 * stand for themselves. */
guint32 comparison_key_request(ComparisonKeyRank *r, gint64 request);
/* CALL comes next, and WALK is behind it. Where several signatures have a request's number in
 * common (recording.md, "Requests") it is named by the one that made it last, and k is the smallest
 * that none of this signature's
 * pending requests has: as if it had a number of its own. */
void comparison_key_next(ComparisonKeyRank *r, const WendCall *call, const WendWalk *walk);

/* Likewise, without the memory and the requests that the call names: loops whose buffers take turns
 * are loops by these. */
guint32 comparison_key_without_memory(ComparisonKeyRank *r, guint32 terminal);
/* Whether there are requests whose number several signatures have in common. */
gboolean comparison_key_has_common(const ComparisonKeyRank *r);
/* FALSE: the parameter belongs to the run (a file's name, what is started), and is not compared
 * word by word. */
gboolean comparison_key_compares(const WendParam *param);

typedef enum {
    /* what the caller gives and, of the outputs, what belongs to shape and slots */
    IDENTITY_IN = 1,
    IDENTITY_OUTCOMES = 2 /* what the run decided, return code included */
} ComparisonKeyParts;
/* The number of a call as a walk gives it. Requests for which ACTIVE is FALSE are
 * MPI_REQUEST_NULL. */
typedef gboolean (*ComparisonKeyActive)(gpointer data, gint64 request);
guint32 comparison_key_call(ComparisonKeyRank *r, const WendCall *call, ComparisonKeyParts parts,
                            ComparisonKeyActive active, gpointer data);

/* It says where a block of memory is: wend_device and its like. The communication is the same
 * wherever it is. */
gboolean comparison_key_is_place(const WendCall *call);

#endif
