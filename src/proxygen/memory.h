/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: the segments of the application's memory that MPI saw. */
#ifndef PROXYGEN_MEMORY_H
#define PROXYGEN_MEMORY_H

#include "plan.h"

/* NULL when the calls make no use of it. */
const Segment *plan_segment(const Plan *plan, gint64 word);
/* Its place in the proxy's list of segments of its kind. */
gint64 plan_segment_place(const Plan *plan, gint64 word);
/* Of one kind, by id (and so by place); the caller frees the array. */
GPtrArray *plan_segments_of_kind(const Plan *plan, enum wend_segment_kind kind);
/* Whether datatypes lead from blocks of the heap to below their beginning. */
gboolean plan_heap_reaches_below(const Plan *plan);

#endif
