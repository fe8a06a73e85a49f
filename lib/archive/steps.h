/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h: the merge (merge.h) as the tracer takes it, in the process of an application: one
 * recording at a time, whose memory is apart from the application's (small/heap.h) and is
 * given back as a whole. Nothing here ends the process, whatever fails.
 *
 * A step that fails says why, and what was merged so far is gone: each rank still has its part.
 * libwendmerge.so has this and no more, and needs neither GLib nor libarchive. */
#ifndef WEND_STEPS_H
#define WEND_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes the steps from now on may take beside what they have, and who is asked each
 * time that the system is to give some (NULL: nobody). */
void wend_step_limit(uint64_t bytes, bool (*has_room)(uint64_t bytes));
/* The first step: one rank's part. */
bool wend_step_part(const void *part, size_t n);
bool wend_step_absorb(const void *encoded, size_t n); /* what wend_step_encode gave another rank */
/* for that one; it is there until the end */
bool wend_step_encode(const void **encoded, size_t *n);
/* for what another rank sends; NULL: there is not so much. Until the next step */
void *wend_step_memory(size_t n);

typedef struct {
    uint64_t bytes;   /* as in WendMergeResult */
    char totals[160]; /* wend_merge_totals_text */
    unsigned stopped; /* ranks, and calls: wend_merge_stopped */
    uint64_t stopped_after;
    char unrecorded[256]; /* wend_merge_unrecorded; "": nothing */
} WendStepResult;
/* wend_merge_write */
bool wend_step_write(const char *directory, const char *file, WendStepResult *result);

const char *wend_step_problem(void); /* of the step that failed */
uint64_t wend_step_held(void);       /* bytes from the system */
void wend_step_end(void);            /* all is given back */

#endif
