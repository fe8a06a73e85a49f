/* timing.h: statistics that are the same whatever the order in which they are merged.
 *
 * Sums are held as fixed-point integers, so adding is exact and associative (floating-point merging as in Chan, Golub and LeVeque 1979
 * depends on the order in its last bits, and equal recordings would not be equal bytes). */
#ifndef WEND_TIMING_H
#define WEND_TIMING_H

#include <glib.h>

#include "buf.h"
#include "program.h"

typedef struct {
    guint64 count;
    __int128 sum;           /* of seconds, in 2^-60 s: 2^66 s fit */
    unsigned __int128 sum2; /* of squares, in 2^-84 s²: 2^44 s² fit */
    double min, max;        /* seconds; of no use when count is 0 */
} TimingSum;

TimingSum timing_from_moments(guint64 count, double mean, double min, double max, double m2); /* m2: sum of (x - mean)² */
/* Terminals of one shape in a sequence that have times of their own. Where there are more, most are called once, and what times say of them is noise: they share one sum. */
enum { TIMING_APART = 32 };
void timing_add(TimingSum *a, const TimingSum *b);
WendTiming timing_result(const TimingSum *t);

void timing_encode(const TimingSum *t, WendBuf *out);
TimingSum timing_decode(WendCursor *c);

/* A time as a small integer: quarters of a nanosecond, with 11 significant bits (0.05 %). Monotone. */
guint32 timing_code(double seconds);
double timing_seconds(guint32 code);

void buf_double(WendBuf *b, double v);   /* 64-bit IEEE, little-endian */
double cursor_double(WendCursor *c);

#endif
