/* SPDX-License-Identifier: BSD-3-Clause */
/* clock-points.c: see clock-points.h. */
#include "clock-points.h"

/* No two clocks drift apart faster, relatively. Points that say so are too near to each other for
 * their errors. */
static const double DRIFT_MOST = 1e-3;

/* Nanoseconds from rank 0's tick 0 to the point. */
static double first_at(const WendClockPoint *p, const WendClock *first)
{
    return (double)p->first * first->tick * 1e9;
}

/* Of two points, the length of an own tick in nanoseconds of rank 0. Returns OTHERWISE if they say
 * nothing about it. */
static double measured_tick(const WendClockPoint points[2], const WendClock *first,
                            double otherwise)
{
    double own = (double)(points[1].own - points[0].own);
    double tick = (first_at(&points[1], first) - first_at(&points[0], first)) / own;
    bool likely =
        own > 0 && tick > otherwise * (1 - DRIFT_MOST) && tick < otherwise * (1 + DRIFT_MOST);
    return likely ? tick : otherwise;
}

WendClockCorrection clock_points_correction(const WendClockPoint *points, unsigned n,
                                            const WendClock *own, const WendClock *first)
{
    double own_tick = own->tick * 1e9, tick = own_tick;
    if (n == 0)
        return (WendClockCorrection){0};
    /* No comparison is exact: this is the clock of rank 0. */
    if (n == 2 && points[1].error == 0)
        tick = first->tick * 1e9;
    else if (n == 2)
        tick = measured_tick(points, first, own_tick);
    const WendClockPoint *at = &points[n == 2 && points[1].error < points[0].error];
    bool drifts = n == 2 && (tick < own_tick || tick > own_tick);
    uint64_t error = at->error;
    if (drifts && points[0].error > error)
        error = points[0].error;
    if (drifts && points[1].error > error)
        error = points[1].error;
    double own_zero = first_at(at, first) - (double)at->own * tick;
    return (WendClockCorrection){
        .measured = drifts ? 2 : 1,
        .shift = first->origin - own->origin + (int64_t)(own_zero + (own_zero < 0 ? -0.5 : 0.5)),
        .drift = tick / own_tick - 1,
        .error = error,
    };
}
