/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h: the merge (merge.h) in steps that the tracer takes inside the application.
 *
 * There is one recording at a time. Its memory is separate from the application's (small/heap.h)
 * and is freed as a whole. No step ends the process, whatever fails.
 *
 * A step that fails returns false, and wend_step_problem gives the reason. All that was merged so
 * far is then freed, and each rank still has its part.
 *
 * libwendmerge.so has these functions and no others. It needs neither GLib nor libarchive. */
#ifndef WEND_STEPS_H
#define WEND_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits the memory of the steps that follow to BYTES beyond what they hold now. HAS_ROOM, if not
 * NULL, is asked each time that memory is taken from the system. */
void wend_step_limit(uint64_t bytes, bool (*has_room)(uint64_t bytes));
/* The first step, and the next ones if this rank reads parts for others: reads the part of a rank,
 * of N bytes. The rank's own side streams that become members are compressed at once. */
bool wend_step_part(const void *part, size_t n);
/* Merges what wend_step_encode gave on another rank. */
bool wend_step_absorb(const void *encoded, size_t n);
/* Encodes the merge for another rank. *ENCODED is valid until wend_step_end. */
bool wend_step_encode(const void **encoded, size_t *n);
/* Makes a shard of what was merged so far if it is due (write_make_shard; LEAST is a
 * number of ranks) and this rank has none. wend_step_frame then gives the frame of the shard. */
bool wend_step_shard(uint32_t least);
/* Memory for N bytes that another rank sends, valid until the next step. NULL if there is too
 * little. */
void *wend_step_memory(size_t n);

/* Where a frame that a rank writes belongs in the file, and what it is: WEND_STEP_SHARD, or 1 + the
 * kind of side stream. The rank of a shard is its first rank. */
typedef struct {
    uint64_t offset, bytes;
    uint32_t rank, what;
} WendStepPlace;
enum { WEND_STEP_SHARD };

/* How the ranks with frames find the file (SharedFileKey). It is sent as bytes. */
typedef struct {
    uint64_t mark;
    char temporary[32];
} WendStepKey;

typedef struct {
    /* The frames of ranks (WendFramePlace); the array is valid until wend_step_end. If there are
     * any, the file has no name yet. */
    uint32_t n_places;
    const WendStepPlace *places;
    WendStepKey key;
    uint64_t bytes;   /* as in WendArchiveResult */
    char totals[160]; /* totals_text */
    unsigned stopped; /* ranks whose recording stopped, and calls (merge_stopped) */
    uint64_t stopped_after;
    unsigned cut; /* ranks without all of their side streams, and kinds (merge_cut) */
    char cut_kinds[64];
    uint64_t left_out;    /* merge_left_out */
    char unrecorded[256]; /* merge_unrecorded, or "" */
} WendStepResult;
/* Writes the archive (write_archive). If ranks have frames, it only begins the archive
 * (write_archive_begin), and wend_step_finish is the last step. */
bool wend_step_write(const char *directory, const char *file, WendStepResult *result);
/* The rank of PLACE writes its frame there, in the file in DIRECTORY. Returns false if it cannot,
 * which is no failure of the step. The rank that writes the archive must then write the frame. */
bool wend_step_contribute(const char *directory, const WendStepKey *key,
                          const WendStepPlace *place);
/* The frame for PLACE, which is of this rank, valid until wend_step_end. Returns false if there is
 * none. */
bool wend_step_frame(const WendStepPlace *place, const void **frame, size_t *n);
/* Writes the frame of another rank, of N bytes, at OFFSET of the file. */
bool wend_step_fill(const void *frame, size_t n, uint64_t offset);
/* Gives the file its name. */
bool wend_step_finish(void);

const char *wend_step_problem(void); /* why a step failed */
uint64_t wend_step_held(void);       /* bytes that the steps hold */
void wend_step_end(void);            /* frees all; removes a file that has no name yet */

#endif
