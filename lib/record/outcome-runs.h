/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome-runs.h: a stream of outcomes as bytes, in a part (part.h) or in an archive
 * (docs/format.md): going through it. */
#ifndef WEND_OUTCOME_RUNS_H
#define WEND_OUTCOME_RUNS_H

#include "rules.h"

typedef struct {
    WendCursor c;            /* has failed: the stream is damaged */
    gboolean in_part;        /* entries may be arithmetic runs */
    const gint64 *constants; /* NULL: words are as in a part */
    guint n_constants;
    /* The piece at hand. */
    guint64 repeats; /* of its entry; 0: rules say the order of its entries */
    guint64 length;  /* entries that it stands for, where none is an arithmetic run */
    /* gint64, those of an arithmetic run with its steps behind them; gsize: by entry where its
     * words begin, and where the last ends */
    GArray *words, *first;
    GArray *counts; /* guint64, by entry: how many an arithmetic run has; 0: it is none */
    RuleRow rules;
    Expansion expansion;
    guint64 again;   /* how often the arithmetic run at hand comes, this one included */
    GArray *reached; /* gint64: its last entry, and */
    guint64 left;    /* how many are still to come, where each is a run by itself */
} OutcomeRuns;

/* of an archive; BYTES stay the caller's */
void outcome_runs_init(OutcomeRuns *p, const void *bytes, gsize n, const gint64 *constants,
                       guint n_constants);
void outcome_runs_init_part(OutcomeRuns *p, const void *bytes, gsize n);
void outcome_runs_clear(OutcomeRuns *p);

/* The next piece, or run of equal entries; FALSE: the end, or it is damaged. Runs that follow each
 * other may be equal. A stream is gone through in one of both ways. */
gboolean outcome_runs_next(OutcomeRuns *p);
/* words until the next call */
gboolean outcome_runs_next_run(OutcomeRuns *p, guint64 *repeats, const gint64 **words, guint *n);
/* Likewise, and an arithmetic run is a run of REPEATS entries of which each is the one before and
 * STEPS; NULL: they are equal. Words that have a step are ordinary from the first to the last. */
gboolean outcome_runs_next_arithmetic(OutcomeRuns *p, guint64 *repeats, const gint64 **words,
                                      guint *n, const gint64 **steps);
/* The entries of the piece. */
guint outcome_runs_entries(const OutcomeRuns *p);
const gint64 *outcome_runs_entry(const OutcomeRuns *p, guint entry, guint *n);
/* how many an arithmetic run has, whose steps are behind its words; 0: it is none */
guint64 outcome_runs_count(const OutcomeRuns *p, guint entry);

#endif
