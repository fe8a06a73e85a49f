/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-sketch.c: see duration-sketch.h. */
#include "config.h"

#include "duration-sketch.h"

#include <math.h>

/* A duration below 2^8 ps has a bin of its own. Of a longer one, with its highest bit at E, the bin
 * is E and the 7 bits below. */
enum { FINE_BITS = 7, FINE = 1 << FINE_BITS, BINS = (64 - FINE_BITS + 1) * FINE };
#define PICOSECONDS 1e12

struct DurationSketch {
    guint64 n;
    guint64 bins[BINS];
};

DurationSketch *duration_sketch_new(void)
{
    return g_new0(DurationSketch, 1);
}

void duration_sketch_free(DurationSketch *s)
{
    g_free(s);
}

static guint shift_of(guint64 picoseconds)
{
    return picoseconds < 2 * FINE ? 0 : 63 - (guint)__builtin_clzll(picoseconds) - FINE_BITS;
}

void duration_sketch_add(DurationSketch *s, gdouble seconds)
{
    gdouble exact = seconds * PICOSECONDS;
    guint64 picoseconds = !(exact > 0) ? 0 : exact >= 0x1p63 ? G_MAXINT64 : (guint64)(exact + 0.5);
    guint shift = shift_of(picoseconds);
    s->bins[shift * FINE + (guint)(picoseconds >> shift)]++;
    s->n++;
}

guint64 duration_sketch_n(const DurationSketch *s)
{
    return s->n;
}

/* The middle of BIN. */
static gdouble seconds_of(guint bin)
{
    guint shift = bin < 2 * FINE ? 0 : bin / FINE - 1;
    gdouble width = ldexp(1, (int)shift), least = (bin - shift * FINE) * width;
    return (least + (width - 1) / 2) / PICOSECONDS;
}

gdouble duration_sketch_percentile(const DurationSketch *s, gdouble percent)
{
    gdouble exact = ceil(percent / 100 * (gdouble)s->n);
    guint64 wanted = exact < 1 ? 1 : exact >= (gdouble)s->n ? s->n : (guint64)exact, before = 0;
    guint bin = 0;
    while (bin < BINS - 1 && before + s->bins[bin] < wanted)
        before += s->bins[bin++];
    return seconds_of(bin);
}
