/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison-key.h: a small number for each call, its comparison key, so that two recordings are
 * compared by number.
 *
 * Calls of either recording that count as equal (docs/comparing.md, "Equality of two recordings")
 * have the same key. Keys are exact: each stands for one byte string, not for a hash. */
#ifndef WEND_DIFF_COMPARISON_KEY_H
#define WEND_DIFF_COMPARISON_KEY_H

#include <glib.h>

#include "lib/analysis/count.h"
#include "lib/read/program.h"

typedef struct ComparisonKey ComparisonKey;

/* Keys for the calls of A and B, which must outlive them. The caller frees them with
 * comparison_key_free. */
ComparisonKey *comparison_key_new(const WendProgram *a, const WendProgram *b);
void comparison_key_free(ComparisonKey *comparison_key);
/* the key of N bytes, from 1 on */
guint32 comparison_key_intern(ComparisonKey *comparison_key, const void *bytes, gsize n);

/* The keys of one rank of one of the two recordings. */
typedef struct ComparisonKeyRank ComparisonKeyRank;
ComparisonKeyRank *comparison_key_rank_new(ComparisonKey *comparison_key, const WendProgram *p,
                                           guint rank, Counts *counts);
void comparison_key_rank_free(ComparisonKeyRank *r);
ComparisonKey *comparison_key_of_rank(const ComparisonKeyRank *r);
/* From now on, calls of a proxy that name values of the run have the keys of the application's
 * calls (pins.h). A receive from any source has the key of the receive from the source that it got,
 * if the other recording has that key. A persistent one that got messages of several ranks counts
 * as several. MPI_Dist_graph_create has the key of MPI_Dist_graph_create_adjacent likewise. So
 * calls that still differ are differences that a proxy does not explain. A and B are the same rank
 * of the two recordings. */
void comparison_key_pin(ComparisonKeyRank *a, Counts *counts_a, ComparisonKeyRank *b,
                        Counts *counts_b);
/* Begins SEQUENCE, an index in the rank's class. */
void comparison_key_begin(ComparisonKeyRank *r, guint sequence);
typedef struct {
    guint64 calls; /* changed to one call each, */
    guint64 split; /* and to several calls */
} PinnedCalls;
/* The calls that comparison_key_pin has changed: name of the function -> PinnedCalls. The table
 * belongs to COMPARISON_KEY. */
GHashTable *comparison_key_pinned(const ComparisonKey *comparison_key);
/* The key of the calls of TERMINAL: function, shape and slots. Requests are named by the calls that
 * make them. */
guint32 comparison_key_terminal(ComparisonKeyRank *r, guint32 terminal);
/* The key of a request: (signature of the calls that make it, k). A constant, and a request that no
 * call makes, stands for itself. */
guint32 comparison_key_request(ComparisonKeyRank *r, gint64 request);
/* Takes the next call of the sequence, after WALK has passed it. Several signatures may have one
 * request number in common (recording.md, "Requests"). Such a request is named by the signature
 * that made it last, and k is the smallest number that no pending request of this signature has. */
void comparison_key_next(ComparisonKeyRank *r, const WendCall *call, const WendWalk *walk);
/* The N keys of the calls that a proxy makes instead of the current call, or instead of a call that
 * frees a request. N is 0 if the call has one key, which is that of its terminal. */
const guint32 *comparison_key_counts_as(const ComparisonKeyRank *r, guint *n);

/* The same without the memory and the requests that the call names. Loops whose buffers alternate
 * are loops by these keys. */
guint32 comparison_key_without_memory(ComparisonKeyRank *r, guint32 terminal);
/* Whether several signatures of this rank have a request number in common. */
gboolean comparison_key_has_common(const ComparisonKeyRank *r);
/* Whether the parameter is compared word by word. FALSE if it belongs to the run: the name of a
 * file, a program to start. */
gboolean comparison_key_compares(const WendParam *param);

typedef enum {
    /* the caller's values, and outputs that are in shape or slots */
    COMPARISON_KEY_IN = 1,
    COMPARISON_KEY_OUTCOMES = 2 /* the results of the run, with the return code */
} ComparisonKeyParts;
/* The key of a call that a walk gives. Requests for which ACTIVE returns FALSE count as
 * MPI_REQUEST_NULL. */
typedef gboolean (*ComparisonKeyActive)(gpointer data, gint64 request);
guint32 comparison_key_call(ComparisonKeyRank *r, const WendCall *call, ComparisonKeyParts parts,
                            ComparisonKeyActive active, gpointer data);

/* Whether CALL is a note about the place of a block of memory, such as wend_device. The
 * communication does not depend on that place. */
gboolean comparison_key_is_place(const WendCall *call);

#endif
