/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_use.h: the segments of the application's memory that MPI calls used. */
#ifndef PROXYGEN_MEMORY_USE_H
#define PROXYGEN_MEMORY_USE_H

#include "src/proxygen/model/model.h"

typedef struct {
    gint64 word;      /* segment word */
    gint64 low, high; /* the bytes that MPI touches: offsets low <= o < high, low <= 0 */
    /* index in the proxy's list of segments of this kind. The main thread's segments come first, by
     * number (or consecutively, if numbers are far apart), then those of other threads */
    gint64 place;
} Segment;

/* Finds the segments that calls use, and the bytes of each. */
void memory_use_find(Plan *plan);

/* The segment of that word. NULL if the calls do not use it. */
const Segment *memory_use_segment(const Plan *plan, gint64 word);
/* The index of the segment in the proxy's list of its kind. */
gint64 memory_use_segment_place(const Plan *plan, gint64 word);
/* All segments of one kind, by id and so by place. The caller frees the array. */
GPtrArray *memory_use_segments_of_kind(const Plan *plan, enum wend_segment_kind kind);
/* Whether a thread uses static data of several modules. */
gboolean memory_use_has_modules(const Plan *plan);
/* Whether datatypes reach below the beginning of heap blocks. */
gboolean memory_use_heap_reaches_below(const Plan *plan);

#endif
