/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.h: statistics that do not depend on the order in which they are merged.
 *
 * Sums are fixed-point integers, so addition is exact and associative. With the floating-point sums
 * of Chan, Golub and LeVeque (1979) the last bits would depend on the order, and equal recordings
 * would have different bytes. */
#ifndef WEND_TIMING_H
#define WEND_TIMING_H

#include "base/buf.h"
#include "base/containers.h"
#include "record/types.h"

typedef struct {
    uint64_t count;
    __int128 sum;           /* of seconds, in 2^-60 s: 2^66 s fit */
    unsigned __int128 sum2; /* of squares, in 2^-84 s²: 2^44 s² fit */
    double min, max;        /* seconds; without meaning if count is 0 */
} TimingSum;

/* m2: sum of (x - mean)² */
TimingSum timing_from_moments(uint64_t count, double mean, double min, double max, double m2);
void timing_add(TimingSum *a, const TimingSum *b);
/* May A and B be times of the same calls, so that they can share a row? They may if both their
 * means (Welch 1947) and their standard deviations are close:
 *
 * - at most four and a half standard errors apart (three if one is of a single call), or - so close
 * that a row of its own is not worth its bytes.
 *
 * Both are tried with the longest call of each and without it. Deviations that come from a few far
 * calls do not count. A single call takes the standard deviation of the other; of two single calls
 * it is an eighth of their mean. */
bool timing_alike(const TimingSum *a, const TimingSum *b);
WendTiming timing_result(const TimingSum *t);

void timing_encode(const TimingSum *t, WendBuf *out);
TimingSum timing_decode(WendCursor *c);

/* The times of COUNT > 0 calls as numbers of the archive, rounded to their precision. The extremes
 * and the standard deviation have 4 significant bits, or 5 from 1,000 calls on. The mean has these,
 * and up to 10 more if its standard error supports them (7 for one call). A time of n bits is off
 * by at most 2^-n. MEAN is the mean's code in 4 or 5 bits, FINER its further bits. BELOW and ABOVE
 * are the distances of minimum and maximum from it. DEVIATION, which may be negative, gives the
 * standard deviation. For one call only MEAN and FINER count. All numbers can be decoded. */
enum { TIMING_MEAN, TIMING_BELOW, TIMING_ABOVE, TIMING_DEVIATION, TIMING_FINER, TIMING_NUMBERS };
/* Returns the number of bits of FINER. */
uint32_t timing_to_numbers(const WendTiming *t, int64_t numbers[TIMING_NUMBERS]);
void timing_from_numbers(WendTiming *t,
                         const int64_t numbers[TIMING_NUMBERS]); /* t->count is set */
/* Decodes the numbers before FINER into T, whose count is set. Returns the number of bits of
 * FINER. */
uint32_t timing_finer(WendTiming *t, const int64_t numbers[TIMING_NUMBERS]);
/* The relative errors of the times of T, as the archive has them: of the mean, and of the rest
 * (extremes and standard deviation). */
void timing_error(const WendTiming *t, double *mean, double *rest);
/* Is a number in the archive? It is not if it has no bits, or if there is only one call. */
static inline bool timing_encodes(uint64_t count, uint32_t number, uint32_t finer)
{
    if (number == TIMING_FINER)
        return count > 0 && finer > 0;
    return count > (number != TIMING_MEAN);
}
/* The code of a time: quarters of a nanosecond, rounded to 2 to 32 significant bits. Codes ascend
 * with the times. And the reverse: the middle of the times with this code. */
uint32_t timing_code(double seconds, uint32_t bits);
double timing_seconds(uint32_t code, uint32_t bits);

double timing_read_double(WendCursor *c); /* 0 in place of infinite or not a number */

#endif
