/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.c: see timing.h. */
#include "timing.h"

#include <math.h>
#include <string.h>

/* The units of sums and of sums of squares. They are powers of two, so products with them are
 * exact. */
#define SUM_UNIT 0x1p-60L
#define SUM2_UNIT 0x1p-84L

double timing_read_double(WendCursor *c)
{
    double v = cursor_double(c);
    return isfinite(v) ? v : 0;
}

/* V without its fraction; 0 <= V < 2^126. The compiler's conversion takes many times as long. */
static __int128 whole(long double v)
{
    uint64_t high = (uint64_t)(v * 0x1p-64L);
    return (__int128)high << 64 | (uint64_t)(v - (long double)high * 0x1p64L);
}

/* V in the given units as an integer, limited to 126 bits. */
static __int128 fixed(long double v, long double unit)
{
    static const long double limit = 0x1p125L;
    long double scaled = v / unit;
    if (scaled > limit)
        scaled = limit;
    if (scaled < -limit)
        scaled = -limit;
    return scaled < 0 ? -whole(0.5L - scaled) : whole(scaled + 0.5L);
}

TimingSum timing_from_moments(uint64_t count, double mean, double min, double max, double m2)
{
    TimingSum t = {.count = count};
    if (count == 0)
        return t;
    t.sum = fixed((long double)count * mean, SUM_UNIT);
    long double squares = m2 + (long double)count * mean * mean;
    t.sum2 = squares > 0 ? (unsigned __int128)fixed(squares, SUM2_UNIT) : 0;
    t.min = min;
    t.max = max;
    return t;
}

void timing_add(TimingSum *a, const TimingSum *b)
{
    if (b->count == 0)
        return;
    if (a->count == 0) {
        *a = *b;
        return;
    }
    a->count += b->count;
    /* only in a damaged part */
    if (__builtin_add_overflow(a->sum, b->sum, &a->sum))
        a->sum = (__int128)(~(unsigned __int128)0 >> 1);
    if (__builtin_add_overflow(a->sum2, b->sum2, &a->sum2))
        a->sum2 = ~(unsigned __int128)0;
    a->min = MIN(a->min, b->min);
    a->max = MAX(a->max, b->max);
}

WendTiming timing_result(const TimingSum *t)
{
    WendTiming r = {.count = t->count};
    if (t->count == 0)
        return r;
    long double mean = (long double)t->sum * SUM_UNIT / t->count;
    long double variance = (long double)t->sum2 * SUM2_UNIT / t->count - mean * mean;
    r.mean = mean;
    r.min = t->min;
    r.max = t->max;
    r.stddev = variance > 0 ? sqrtl(variance) : 0;
    return r;
}

/* A sample without its longest call. A call during which the process did not run takes a thousand
 * times the time of the others. It would be most of the standard deviation, and of the mean's
 * standard error. */
static WendTiming without_longest(const TimingSum *t)
{
    TimingSum rest = *t;
    __int128 longest = fixed(t->max, SUM_UNIT);
    /* in a damaged part it may be negative, or exceed the sum */
    if (t->count <= 2 || longest < 0 || longest > t->sum)
        return timing_result(t);
    rest.count--;
    rest.sum -= longest;
    rest.sum2 -= MIN(rest.sum2, (unsigned __int128)fixed((long double)t->max * t->max, SUM2_UNIT));
    return timing_result(&rest);
}

/* A lower bound of the kurtosis of both samples together, from one of their extremes. It is at
 * least 9, that of the exponential distribution, because times have long tails. */
static double kurtosis(const TimingSum *a, const TimingSum *b)
{
    TimingSum both = *a;
    timing_add(&both, b);
    WendTiming t = timing_result(&both);
    if (!(t.stddev > 0))
        return 9;
    double far = MAX(t.max - t.mean, t.mean - t.min) / t.stddev;
    return MAX(9, far * far * far * far / (double)t.count);
}

/* KURTOSIS: of both samples together. */
static bool alike(WendTiming x, WendTiming y, double kurtosis)
{
    double least = 0.005 * MIN(x.mean, y.mean) + 1e-10; /* less is not worth a row */
    /* Neither is a difference that is small compared with the standard deviations ("small" effects:
     * J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988), however many calls
     * there are. */
    double small = 0.25;
    /* Hundreds of rows are compared with each other. With three standard errors one in a few
     * hundred would get a row of its own by accident. The standard deviation of a single call is a
     * guess anyway. */
    double of_x = 1 / (double)x.count, of_y = 1 / (double)y.count, sigma = 4.5;
    if (x.count == 1 || y.count == 1) {
        small = 0;
        sigma = 3;
    }
    if (x.count == 1 && y.count == 1)
        x.stddev = y.stddev = (x.mean + y.mean) / 16;
    else if (x.count == 1)
        x.stddev = y.stddev;
    else if (y.count == 1)
        y.stddev = x.stddev;
    /* The logarithm of a deviation has a standard error of √((kurtosis - 1) / 4 n). */
    if (fabs(log((x.stddev + least) / (y.stddev + least)))
        > MAX(sigma * sqrt((kurtosis - 1) / 4 * (of_x + of_y)), small))
        return false;
    /* If the standard deviations are equal, both samples together estimate it. A few calls alone
     * may give too small a value. */
    double n = (double)x.count + (double)y.count,
           variance = (double)x.count / n * x.stddev * x.stddev
                      + (double)y.count / n * y.stddev * y.stddev;
    return fabs(x.mean - y.mean) <= MAX(
               MAX(sigma * sqrt(variance * (of_x + of_y)), small * MIN(x.stddev, y.stddev)), least);
}

bool timing_alike(const TimingSum *a, const TimingSum *b)
{
    if (a->count == 0 || b->count == 0)
        return a->count == b->count;
    double of_both = kurtosis(a, b);
    /* With few calls the longest has a large part of the standard deviation. */
    return alike(without_longest(a), without_longest(b), of_both)
           || alike(timing_result(a), timing_result(b), of_both);
}

void timing_encode(const TimingSum *t, WendBuf *out)
{
    buf_unsigned(out, t->count);
    if (t->count == 0)
        return;
    buf_unsigned(out, (uint64_t)t->sum);
    buf_unsigned(out, (uint64_t)((unsigned __int128)t->sum >> 64));
    buf_unsigned(out, (uint64_t)t->sum2);
    buf_unsigned(out, (uint64_t)(t->sum2 >> 64));
    buf_double(out, t->min);
    buf_double(out, t->max);
}

TimingSum timing_decode(WendCursor *c)
{
    TimingSum t = {.count = cursor_unsigned(c)};
    if (t.count == 0)
        return t;
    uint64_t low = cursor_unsigned(c), high = cursor_unsigned(c);
    t.sum = (__int128)((unsigned __int128)high << 64 | low);
    low = cursor_unsigned(c);
    high = cursor_unsigned(c);
    t.sum2 = (unsigned __int128)high << 64 | low;
    t.min = timing_read_double(c);
    t.max = timing_read_double(c);
    return t;
}

/* Codes below 2^bits are the number itself; above, each 2^(bits - 1) codes double it. */
uint32_t timing_code(double seconds, uint32_t bits)
{
    double quarters = seconds * 4e9;
    if (!(quarters > 0))
        return 0;
    if (quarters >= 0x1p62)
        quarters = 0x1p62;
    uint64_t n = (uint64_t)(quarters + 0.5);
    uint32_t shift = 0;
    while (n >> shift >> bits)
        shift++;
    return (shift << (bits - 1)) + (uint32_t)(n >> shift);
}

double timing_seconds(uint32_t code, uint32_t bits)
{
    uint32_t shift = code >> bits ? (code >> (bits - 1)) - 1 : 0;
    if (shift > 64)
        return ldexp(1, 64 + (int)bits) / 4e9;
    uint64_t n = code - (shift << (bits - 1));
    return ldexp((double)n + (shift ? 0.5 : 0), (int)shift) / 4e9;
}

/* The largest possible standard deviation (Bhatia and Davis 2000). With two times it is reached,
 * and with few it is nearly reached. An extreme that has the mean's code counts as half a code
 * away. */
static uint32_t spread(const WendTiming *t, uint32_t bits)
{
    double least = ldexp(t->mean, -(int)bits);
    return timing_code(sqrt(MAX(t->mean - t->min, least) * MAX(t->max - t->mean, least)), bits);
}

/* Encodes the extremes and the standard deviation in codes of BITS bits, by their distances from
 * the mean. */
static void rest_from_numbers(WendTiming *t, const int64_t numbers[TIMING_NUMBERS], uint32_t bits)
{
    t->min = t->max = t->mean;
    t->stddev = 0;
    if (t->count == 1)
        return;
    int64_t mean = timing_code(t->mean, bits);
    if (numbers[TIMING_BELOW] > 0)
        t->min = timing_seconds((uint32_t)CLAMP(mean - numbers[TIMING_BELOW], 0, INT32_MAX), bits);
    if (numbers[TIMING_ABOVE] > 0)
        t->max = timing_seconds(
            (uint32_t)CLAMP(mean + MIN(numbers[TIMING_ABOVE], INT32_MAX), 0, INT32_MAX), bits);
    t->stddev = timing_seconds(
        (uint32_t)CLAMP(spread(t, bits) - CLAMP(numbers[TIMING_DEVIATION], -INT32_MAX, INT32_MAX),
                        0, INT32_MAX),
        bits);
}

enum { MEAN_OF_ONE = 7, MEAN_MOST = 10 };

/* The number of bits of the extremes and of the standard deviation, and the least number of bits of
 * the mean. */
static uint32_t bits_of(uint64_t count)
{
    return count < 1000 ? 4 : 5;
}

/* The number of further bits of the mean: so many that the rounding is less than its standard
 * error. Only products and comparisons are used, which give the same result on all machines. */
static uint32_t finer_bits(const WendTiming *t)
{
    uint32_t coarse = bits_of(t->count), bits = coarse;
    if (t->count == 1)
        return MEAN_OF_ONE - coarse;
    while (bits < MEAN_MOST
           && ldexp(t->stddev * t->stddev, 2 * (int)bits) < t->mean * t->mean * (double)t->count)
        bits++;
    return bits - coarse;
}

void timing_error(const WendTiming *t, double *mean, double *rest)
{
    *rest = ldexp(1, -(int)bits_of(t->count));
    *mean = ldexp(*rest, -(int)finer_bits(t));
}

/* The first value of a code. The code has a width of 2^SHIFT. */
static uint64_t first_of(uint32_t code, uint32_t bits, uint32_t *shift)
{
    *shift = code >> bits ? (code >> (bits - 1)) - 1 : 0;
    *shift = MIN(*shift, 58); /* a damaged archive may have any code */
    return (uint64_t)((code - (*shift << (bits - 1))) & ((1u << bits) - 1)) << *shift;
}

uint32_t timing_finer(WendTiming *t, const int64_t numbers[TIMING_NUMBERS])
{
    uint32_t code = (uint32_t)CLAMP(numbers[TIMING_MEAN], 0, INT32_MAX), shift;
    t->mean = timing_seconds(code, bits_of(t->count));
    rest_from_numbers(t, numbers, bits_of(t->count));
    first_of(code, bits_of(t->count), &shift);
    return MIN(finer_bits(t), shift);
}

void timing_from_numbers(WendTiming *t, const int64_t numbers[TIMING_NUMBERS])
{
    uint32_t finer = timing_finer(t, numbers);
    uint32_t shift;
    uint64_t first = first_of((uint32_t)CLAMP(numbers[TIMING_MEAN], 0, INT32_MAX),
                              bits_of(t->count), &shift),
             part = (uint64_t)CLAMP(numbers[TIMING_FINER], 0, (1 << finer) - 1);
    if (finer == 0)
        return;
    shift -= finer;
    double mean = t->mean;
    t->mean = ((double)(first + (part << shift)) + (shift ? ldexp(0.5, (int)shift) : 0)) / 4e9;
    if (t->min == mean)
        t->min = t->mean;
    if (t->max == mean)
        t->max = t->mean;
}

static int nearest(double x, double a, double b)
{
    return fabs(x - b) < fabs(x - a);
}

uint32_t timing_to_numbers(const WendTiming *t, int64_t numbers[TIMING_NUMBERS])
{
    uint32_t bits = bits_of(t->count);
    WendTiming read = {.count = t->count};
    memset(numbers, 0, TIMING_NUMBERS * sizeof *numbers);
    int64_t mean = numbers[TIMING_MEAN] = timing_code(t->mean, bits);
    if (t->count > 1) {
        numbers[TIMING_BELOW] = MAX(mean - timing_code(t->min, bits), 0);
        numbers[TIMING_ABOVE] = MAX(timing_code(t->max, bits) - mean, 0);
        /* 0 is the mean itself, but the middle of the next code may be nearer */
        if (numbers[TIMING_BELOW] == 0 && mean > 0)
            numbers[TIMING_BELOW] =
                nearest(t->min, t->mean, timing_seconds((uint32_t)mean - 1, bits));
        if (numbers[TIMING_ABOVE] == 0)
            numbers[TIMING_ABOVE] =
                nearest(t->max, t->mean, timing_seconds((uint32_t)mean + 1, bits));
        read.mean = timing_seconds((uint32_t)mean, bits);
        rest_from_numbers(&read, numbers, bits);
        numbers[TIMING_DEVIATION] = (int64_t)spread(&read, bits) - timing_code(t->stddev, bits);
    }
    uint32_t finer = timing_finer(&read, numbers);
    uint32_t shift;
    /* a damaged part may have any numbers */
    uint64_t first = first_of((uint32_t)mean, bits, &shift),
             quarters = (uint64_t)(CLAMP(t->mean * 4e9, 0, 0x1p62) + 0.5);
    if (finer)
        numbers[TIMING_FINER] =
            (int64_t)MIN((MAX(quarters, first) - first) >> (shift - finer), (1u << finer) - 1);
    return finer;
}
