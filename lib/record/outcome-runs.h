/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome-runs.h: reads a stream of outcomes, of a part (part.h) or of an archive
 * (docs/format.md). */
#ifndef WEND_OUTCOME_RUNS_H
#define WEND_OUTCOME_RUNS_H

#include "rules.h"

typedef struct {
    WendCursor c;             /* has failed: the stream is damaged */
    bool in_part;             /* entries may be arithmetic runs */
    const int64_t *constants; /* NULL: words are as in a part */
    uint32_t n_constants;
    /* The current piece. */
    uint64_t repeats; /* of its entry; 0: rules give the order of its entries */
    uint64_t length;  /* entries that it stands for, if none is an arithmetic run */
    /* int64_t, those of an arithmetic run with its steps behind them; size_t: by entry where its
     * words begin, and where the last ends */
    Vector *words, *first;
    Vector *counts; /* uint64_t, by entry: how many an arithmetic run has; 0: it is none */
    RuleRow rules;
    Expansion expansion;
    uint64_t again;  /* how often the current arithmetic run comes from here on */
    Vector *reached; /* int64_t: its last entry, and */
    uint64_t left;   /* its remaining entries, if each is a run by itself */
} OutcomeRuns;

/* Begins with a stream of an archive. BYTES stay the caller's. */
void outcome_runs_init(OutcomeRuns *p, const void *bytes, size_t n, const int64_t *constants,
                       uint32_t n_constants);
void outcome_runs_init_part(OutcomeRuns *p, const void *bytes, size_t n);
void outcome_runs_clear(OutcomeRuns *p);

/* Go to the next piece, or to the next run of equal entries. false: the end, or the stream is
 * damaged (c.failed). Runs that follow each other may be equal. Only one of both functions may be
 * used for a stream. */
bool outcome_runs_next(OutcomeRuns *p);
/* words until the next call */
bool outcome_runs_next_run(OutcomeRuns *p, uint64_t *repeats, const int64_t **words, uint32_t *n);
/* The same, with an arithmetic run as a run of REPEATS entries, each of which is the one before
 * plus STEPS. STEPS NULL: the entries are equal. Words with a step are never special values. */
bool outcome_runs_next_arithmetic(OutcomeRuns *p, uint64_t *repeats, const int64_t **words,
                                  uint32_t *n, const int64_t **steps);
/* The entries of the piece. */
uint32_t outcome_runs_entries(const OutcomeRuns *p);
const int64_t *outcome_runs_entry(const OutcomeRuns *p, uint32_t entry, uint32_t *n);
/* The number of entries if entry is an arithmetic run, whose steps are behind its words; else 0. */
uint64_t outcome_runs_count(const OutcomeRuns *p, uint32_t entry);

#endif
