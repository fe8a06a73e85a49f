/* SPDX-License-Identifier: BSD-3-Clause */
/* clock-points.h: brings the clock of a rank to that of rank 0 of its world
 * (docs/side-streams.md, "Clocks of several hosts"). No GLib. */
#ifndef WEND_CLOCK_POINTS_H
#define WEND_CLOCK_POINTS_H

#include "durations.h"

/* A point of time on two clocks, each in its own ticks from the time at which the recorder was
 * loaded in its process. */
typedef struct {
    int64_t own, first; /* of the rank, and of rank 0 */
    uint64_t error;     /* FIRST may be off by so many nanoseconds */
} WendClockPoint;

/* The clock of rank 0. */
typedef struct {
    double tick;    /* its length in seconds, as rank 0 has measured it */
    int64_t origin; /* nanoseconds from the epoch to its tick 0 */
} WendClock;

/* What brings the clock OWN to FIRST. N points are known, at most 2, in the order of time. With
 * two, the clocks are taken to drift apart evenly between them and beyond. */
WendClockCorrection clock_points_correction(const WendClockPoint *points, unsigned n,
                                            const WendClock *own, const WendClock *first);

#endif
