/* SPDX-License-Identifier: BSD-3-Clause */
/* explained.h: finds the differences between a sequence of one class and its counterpart in the
 * other recording, and adds them to the findings. */
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
    ComparisonKey *comparison_key;
    Counts *counts[2];
    Findings *findings;
    /* Appends from where call INDEX of a sequence of RANK came. NULL: nothing is appended. */
    void (*put_site)(GString *out, gpointer sites, guint input, guint rank, guint sequence,
                     guint64 index);
    gpointer sites;
} RecordingPair;

/* The numbers of the calls at which two sequences part. */
typedef struct {
    guint64 index[2];
} FirstDifference;

/* A sequence of one class of each recording, for N ranks that are in both classes. RANKS must
 * outlive it. */
typedef struct Explained Explained;
Explained *explained_new(const RecordingPair *pair, const guint class[2], const guint sequence[2],
                         const guint *ranks, guint n);
void explained_free(Explained *x);
/* Whether the grammars determine the whole comparison: no call completes by choice, no call failed,
 * and each request has a number of its own. */
gboolean explained_is_exact(const Explained *x);
/* Whether RANKS[I] has a difference. */
gboolean explained_differs(const Explained *x, guint i);
/* Adds all differences of all ranks to the findings. */
void explained_add(Explained *x);
/* Adds the difference that explains why RANKS[0] parts at PARTING, if the rules for completions are
 * applied. Returns FALSE if no difference explains it. */
gboolean explained_add_first(Explained *x, const FirstDifference *difference);

#endif
