/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-sketch.h: percentiles of any number of durations in 59 KB.
 *
 * Durations are counted in bins, 128 for each power of two of a picosecond. So a percentile is off
 * by at most 1/256 of itself, and not at all below 256 ps. */
#ifndef WEND_DURATION_SKETCH_H
#define WEND_DURATION_SKETCH_H

#include <glib.h>

#define DURATION_SKETCH_ERROR (1.0 / 256)

typedef struct DurationSketch DurationSketch;

DurationSketch *duration_sketch_new(void);
void duration_sketch_free(DurationSketch *s); /* S may be NULL */
/* Negative durations count as 0, those beyond 106 days as 106 days. */
void duration_sketch_add(DurationSketch *s, gdouble seconds);
guint64 duration_sketch_n(const DurationSketch *s);
/* The shortest duration that PERCENT of a hundred durations do not exceed (nearest rank), in
 * seconds. There must be a duration; PERCENT is above 0 and at most 100. */
gdouble duration_sketch_percentile(const DurationSketch *s, gdouble percent);

#endif
