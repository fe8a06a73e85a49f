/* timing.c: merging and coding of durations. */
#include "timing.h"

#include <math.h>
#include <string.h>

#define SUM_BITS 60
#define SUM2_BITS 84

void buf_double(WendBuf *b, double v)
{
    guint64 bits;
    memcpy(&bits, &v, sizeof bits);
    bits = GUINT64_TO_LE(bits);
    wend_buf_bytes(b, &bits, sizeof bits);
}

double cursor_double(WendCursor *c)
{
    guint64 bits;
    double v;
    const uint8_t *p = wend_read_bytes(c, sizeof bits);
    if (!p) return 0;
    memcpy(&bits, p, sizeof bits);
    bits = GUINT64_FROM_LE(bits);
    memcpy(&v, &bits, sizeof v);
    return isfinite(v) ? v : 0;
}

/* v * 2^bits as an integer, within what 126 bits hold. */
static __int128 fixed(long double v, int bits)
{
    long double limit = ldexpl(1, 125), scaled = ldexpl(v, bits);
    if (scaled > limit) scaled = limit;
    if (scaled < -limit) scaled = -limit;
    return (__int128)(scaled < 0 ? scaled - 0.5L : scaled + 0.5L);
}

TimingSum timing_from_moments(guint64 count, double mean, double min, double max, double m2)
{
    TimingSum t = {.count = count};
    if (count == 0) return t;
    t.sum = fixed((long double)count * mean, SUM_BITS);
    long double squares = m2 + (long double)count * mean * mean;
    t.sum2 = squares > 0 ? (unsigned __int128)fixed(squares, SUM2_BITS) : 0;
    t.min = min;
    t.max = max;
    return t;
}

void timing_add(TimingSum *a, const TimingSum *b)
{
    if (b->count == 0) return;
    if (a->count == 0) {
        *a = *b;
        return;
    }
    a->count += b->count;
    a->sum += b->sum;
    if (__builtin_add_overflow(a->sum2, b->sum2, &a->sum2)) a->sum2 = ~(unsigned __int128)0;
    a->min = MIN(a->min, b->min);
    a->max = MAX(a->max, b->max);
}

WendTiming timing_result(const TimingSum *t)
{
    WendTiming r = {.count = t->count};
    if (t->count == 0) return r;
    long double mean = ldexpl((long double)t->sum, -SUM_BITS) / t->count;
    long double variance = ldexpl((long double)t->sum2, -SUM2_BITS) / t->count - mean * mean;
    r.mean = mean;
    r.min = t->min;
    r.max = t->max;
    r.stddev = variance > 0 ? sqrtl(variance) : 0;
    return r;
}

void timing_encode(const TimingSum *t, WendBuf *out)
{
    wend_buf_unsigned(out, t->count);
    if (t->count == 0) return;
    wend_buf_unsigned(out, (guint64)t->sum);
    wend_buf_unsigned(out, (guint64)((unsigned __int128)t->sum >> 64));
    wend_buf_unsigned(out, (guint64)t->sum2);
    wend_buf_unsigned(out, (guint64)(t->sum2 >> 64));
    buf_double(out, t->min);
    buf_double(out, t->max);
}

TimingSum timing_decode(WendCursor *c)
{
    TimingSum t = {.count = wend_read_unsigned(c)};
    if (t.count == 0) return t;
    guint64 low = wend_read_unsigned(c), high = wend_read_unsigned(c);
    t.sum = (__int128)((unsigned __int128)high << 64 | low);
    low = wend_read_unsigned(c);
    high = wend_read_unsigned(c);
    t.sum2 = (unsigned __int128)high << 64 | low;
    t.min = cursor_double(c);
    t.max = cursor_double(c);
    return t;
}

/* Codes below 2048 are the number itself; above, each 1024 codes double it. */
guint32 timing_code(double seconds)
{
    double quarters = seconds * 4e9;
    if (!(quarters > 0)) return 0;
    if (quarters >= 0x1p62) quarters = 0x1p62;
    guint64 n = (guint64)(quarters + 0.5);
    guint32 shift = 0;
    while (n >> shift >= 2048) shift++;
    return (shift << 10) + (guint32)(n >> shift);
}

double timing_seconds(guint32 code)
{
    guint32 shift = code < 2048 ? 0 : (code >> 10) - 1;
    if (shift > 53) shift = 53;
    guint64 n = code < 2048 ? code : (guint64)(code - (shift << 10));
    /* the middle of what has this code */
    return ldexp((double)n + (shift ? 0.5 : 0), (int)shift) / 4e9;
}
