/* SPDX-License-Identifier: BSD-3-Clause */
/* explained.h: what differs between a sequence of one class and its counterpart in the other
 * recording, as findings. */
#ifndef WEND_DIFF_EXPLAINED_H
#define WEND_DIFF_EXPLAINED_H

#include <glib.h>

#include "findings.h"
#include "comparison-key.h"
#include "lib/read/program.h"
#include "same.h"

/* Two recordings. */
typedef struct {
    const WendProgram *program[2];
    const char *name[2];
    Same *same;
    ComparisonKey *identity;
    Counts *counts[2];
    Findings *findings;
} Pair;

/* Where two sequences part by the rules: the numbers of the calls, as they are compared. */
typedef struct {
    guint64 index[2];
} Parting;

/* A sequence of a class of each recording, on ranks that are in both classes. */
typedef struct Explained Explained;
Explained *explained_new(const Pair *pair, const guint class[2], const guint sequence[2],
                         const guint *ranks, guint n);
void explained_free(Explained *x);
/* Whether the grammars tell all that is compared: no call completes by choice, none failed, and
 * requests have numbers of their own. */
gboolean explained_is_exact(const Explained *x);
/* Whether RANKS[I] has a difference by the explanation. */
gboolean explained_differs(const Explained *x, guint i);
/* Adds all differences of all ranks. */
void explained_add(Explained *x);
/* Adds the difference that explains why RANKS[0] parts at PARTING, with the rules for completions.
 * FALSE: none does. */
gboolean explained_add_parting(Explained *x, const Parting *parting);

#endif
