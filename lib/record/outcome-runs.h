/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome-runs.h: reads a stream of outcomes, of a part (part.h) or of an archive
 * (docs/format.md). */
#ifndef WEND_OUTCOME_RUNS_H
#define WEND_OUTCOME_RUNS_H

#include "rules.h"

typedef struct {
    WendCursor c;            /* has failed: the stream is damaged */
    gboolean in_part;        /* entries may be arithmetic runs */
    const gint64 *constants; /* NULL: words are as in a part */
    guint n_constants;
    /* The current piece. */
    guint64 repeats; /* of its entry; 0: rules give the order of its entries */
    guint64 length;  /* entries that it stands for, if none is an arithmetic run */
    /* gint64, those of an arithmetic run with its steps behind them; gsize: by entry where its
     * words begin, and where the last ends */
    GArray *words, *first;
    GArray *counts; /* guint64, by entry: how many an arithmetic run has; 0: it is none */
    RuleRow rules;
    Expansion expansion;
    guint64 again;   /* how often the current arithmetic run comes from here on */
    GArray *reached; /* gint64: its last entry, and */
    guint64 left;    /* its remaining entries, if each is a run by itself */
} OutcomeRuns;

/* Begins with a stream of an archive. BYTES stay the caller's. */
void outcome_runs_init(OutcomeRuns *p, const void *bytes, gsize n, const gint64 *constants,
                       guint n_constants);
void outcome_runs_init_part(OutcomeRuns *p, const void *bytes, gsize n);
void outcome_runs_clear(OutcomeRuns *p);

/* Go to the next piece, or to the next run of equal entries. FALSE: the end, or the stream is
 * damaged (c.failed). Runs that follow each other may be equal. Only one of both functions may be
 * used for a stream. */
gboolean outcome_runs_next(OutcomeRuns *p);
/* words until the next call */
gboolean outcome_runs_next_run(OutcomeRuns *p, guint64 *repeats, const gint64 **words, guint *n);
/* The same, with an arithmetic run as a run of REPEATS entries, each of which is the one before
 * plus STEPS. STEPS NULL: the entries are equal. Words with a step are never special values. */
gboolean outcome_runs_next_arithmetic(OutcomeRuns *p, guint64 *repeats, const gint64 **words,
                                      guint *n, const gint64 **steps);
/* The entries of the piece. */
guint outcome_runs_entries(const OutcomeRuns *p);
const gint64 *outcome_runs_entry(const OutcomeRuns *p, guint entry, guint *n);
/* The number of entries if entry is an arithmetic run, whose steps are behind its words; else 0. */
guint64 outcome_runs_count(const OutcomeRuns *p, guint entry);

#endif
