/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_use.h: the segments of the application's memory that MPI saw. */
#ifndef PROXYGEN_MEMORY_USE_H
#define PROXYGEN_MEMORY_USE_H

#include "src/proxygen/model/model.h"

typedef struct {
    gint64 word;      /* segment word */
    gint64 low, high; /* bytes that MPI touches: offsets low <= o < high, low <= 0 */
    /* in the proxy's list of segments of this kind: the main thread's by number (or one after the
     * other, if numbers are far apart), then the other threads' */
    gint64 place;
} Segment;

/* Finds the segments that calls use, and how many bytes of each. */
void plan_memory(Plan *plan);

/* NULL when the calls make no use of it. */
const Segment *plan_segment(const Plan *plan, gint64 word);
/* Its place in the proxy's list of segments of its kind. */
gint64 plan_segment_place(const Plan *plan, gint64 word);
/* Of one kind, by id (and so by place); the caller frees the array. */
GPtrArray *plan_segments_of_kind(const Plan *plan, enum wend_segment_kind kind);
/* Whether datatypes lead from blocks of the heap to below their beginning. */
gboolean plan_heap_reaches_below(const Plan *plan);

#endif
