/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.h: statistics that are the same whatever the order in which they are merged.
 *
 * Sums are held as fixed-point integers, so adding is exact and associative (floating-point merging
 * as in Chan, Golub and LeVeque 1979 depends on the order in its last bits, and equal recordings
 * would not be equal bytes). */
#ifndef WEND_TIMING_H
#define WEND_TIMING_H

#include <glib.h>

#include "base/buf.h"
#include "record/types.h"

typedef struct {
    guint64 count;
    __int128 sum;           /* of seconds, in 2^-60 s: 2^66 s fit */
    unsigned __int128 sum2; /* of squares, in 2^-84 s²: 2^44 s² fit */
    double min, max;        /* seconds; of no use when count is 0 */
} TimingSum;

/* m2: sum of (x - mean)² */
TimingSum timing_from_moments(guint64 count, double mean, double min, double max, double m2);
void timing_add(TimingSum *a, const TimingSum *b);
/* Whether A and B may well be times of the same: their means (Welch 1947) and their deviations are
 * no further apart than four and a half standard errors (three, if one is a single call), or than
 * is worth a row, be it with the longest of each or without it; and deviations do not count that
 * are of a few calls which are far from all others. Of one call alone the deviation is taken from
 * the other, and of two such is an eighth of their mean. */
gboolean timing_alike(const TimingSum *a, const TimingSum *b);
WendTiming timing_result(const TimingSum *t);

void timing_encode(const TimingSum *t, WendBuf *out);
TimingSum timing_decode(WendCursor *c);

/* What the archive has of the times of COUNT > 0 calls, rounded as far as they are known. Extremes,
 * which are one call each, and the standard deviation have 4 significant bits, or 5 from 1,000
 * calls on; the mean has that, and as many more, up to 10, as its standard error supports (of one
 * call: 7). n bits are at most 2^-n of the time off. MEAN is its code in 4 or 5 bits, BELOW and
 * ABOVE how far from it minimum and maximum are, DEVIATION, which may be negative, says the
 * standard deviation, FINER the further bits of the mean; of one call, MEAN and FINER alone count.
 * Any numbers can be turned back. */
enum { TIMING_MEAN, TIMING_BELOW, TIMING_ABOVE, TIMING_DEVIATION, TIMING_FINER, TIMING_NUMBERS };
/* returns how many bits FINER has */
guint timing_to_numbers(const WendTiming *t, gint64 numbers[TIMING_NUMBERS]);
void timing_from_numbers(WendTiming *t, const gint64 numbers[TIMING_NUMBERS]); /* t->count is set */
/* By the numbers before it, how many bits FINER has. T, of which the count is set, becomes what
 * they say. */
guint timing_finer(WendTiming *t, const gint64 numbers[TIMING_NUMBERS]);
/* Whether it is told: not if there are no bits of it, or no more than one call. */
static inline gboolean timing_encodes(guint64 count, guint number, guint finer)
{
    if (number == TIMING_FINER)
        return count > 0 && finer > 0;
    return count > (number != TIMING_MEAN);
}
/* A time as a small integer, quarters of a nanosecond to so many significant bits (2 to 32):
 * monotone. And the middle of what has a code. */
guint32 timing_code(double seconds, guint bits);
double timing_seconds(guint32 code, guint bits);

void buf_double(WendBuf *b, double v); /* 64-bit IEEE, little-endian */
double cursor_double(WendCursor *c);

#endif
