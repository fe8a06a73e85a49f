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
/* Makes a shard of what was merged so far if it is one of LEAST ranks and more
 * (wend_merge_make_shard), and this rank has none. Then this rank has its frame. */
bool wend_step_shard(uint32_t least);
/* for what another rank sends; NULL: there is not so much. Until the next step */
void *wend_step_memory(size_t n);

/* Where a shard belongs: its first rank, and the place of its frame in the file. */
typedef struct {
    uint64_t offset, bytes;
    uint32_t rank;
} WendStepPlace;

/* How the ranks with shards find the file. It is sent as bytes. */
typedef struct {
    uint64_t mark;
    char temporary[32];
} WendStepKey;

typedef struct {
    /* if there are shards, the file has no name yet. Until the end */
    uint32_t n_places;
    const WendStepPlace *places; /* by ascending rank */
    WendStepKey key;
    uint64_t bytes;   /* as in WendMergeResult */
    char totals[160]; /* wend_merge_totals_text */
    unsigned stopped; /* ranks, and calls: wend_merge_stopped */
    uint64_t stopped_after;
    char unrecorded[256]; /* wend_merge_unrecorded; "": nothing */
} WendStepResult;
/* wend_merge_write or, if there are shards, wend_merge_begin: then wend_step_finish is the last
 * step. */
bool wend_step_write(const char *directory, const char *file, WendStepResult *result);
/* A rank with a shard writes its frame to the file in DIRECTORY. False: it cannot, and the rank
 * that writes the archive must have the frame. That is no failure of a step. */
bool wend_step_contribute(const char *directory, const WendStepKey *key, uint64_t offset);
/* The frame of this rank's shard; until the end. False: it has none. */
bool wend_step_frame(const void **frame, size_t *n);
/* Writes the frame of another rank to the file. */
bool wend_step_fill(const void *frame, size_t n, uint64_t offset);
/* Gives the file its name. */
bool wend_step_finish(void);

const char *wend_step_problem(void); /* of the step that failed */
uint64_t wend_step_held(void);       /* bytes from the system */
void wend_step_end(void);            /* all is given back; a file without a name is removed */

#endif
