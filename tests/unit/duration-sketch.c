/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-sketch.c: percentiles of durations of any size, against those of the sorted row. */
#include "config.h"

#include "../../src/read/duration-sketch.h"

#include <glib.h>
#include <math.h>

static GRand *dice;

static gint ascending(gconstpointer a, gconstpointer b)
{
    gdouble x = *(const gdouble *)a, y = *(const gdouble *)b;
    return x < y ? -1 : x > y;
}

/* From under a picosecond to more than a day. */
static gdouble some_duration(void)
{
    return g_rand_int_range(dice, 0, 20) == 0 ? 0 : pow(10, g_rand_double_range(dice, -13, 5));
}

static void check(guint n)
{
    static const gdouble percents[] = {0.001, 1, 50, 90, 99, 99.9, 100};
    g_autofree gdouble *all = g_new(gdouble, n);
    DurationSketch *s = duration_sketch_new();
    for (guint i = 0; i < n; i++)
        duration_sketch_add(s, all[i] = some_duration());
    qsort(all, n, sizeof *all, ascending);
    g_assert_cmpuint(duration_sketch_n(s), ==, n);
    for (guint i = 0; i < G_N_ELEMENTS(percents); i++) {
        guint rank = (guint)CLAMP(ceil(percents[i] / 100 * n), 1, n);
        gdouble exact = all[rank - 1], is = duration_sketch_percentile(s, percents[i]);
        /* durations are rounded to picoseconds */
        g_assert_cmpfloat(fabs(is - exact), <=, DURATION_SKETCH_ERROR * exact + 0.50001e-12);
    }
    duration_sketch_free(s);
}

static void test_random(void)
{
    for (guint i = 0; i < 200; i++)
        check((guint)g_rand_int_range(dice, 1, 3000));
}

static void test_bounds(void)
{
    static const gdouble odd[] = {-1, -INFINITY, NAN, INFINITY, 1e300};
    DurationSketch *s = duration_sketch_new();
    for (guint i = 0; i < G_N_ELEMENTS(odd); i++)
        duration_sketch_add(s, odd[i]);
    g_assert_cmpfloat(duration_sketch_percentile(s, 60), ==, 0);
    g_assert_cmpfloat(duration_sketch_percentile(s, 61), >, 106 * 86400.);
    g_assert_cmpfloat(duration_sketch_percentile(s, 100), <, 107 * 86400.);
    duration_sketch_free(s);
}

/* Each number of picoseconds around each power of two. */
static void test_bins(void)
{
    for (gint bit = 1; bit < 52; bit++) /* a double has them exactly */
        for (gint step = -3; step <= 3; step++) {
            DurationSketch *s = duration_sketch_new();
            gint64 picoseconds = MAX((G_GINT64_CONSTANT(1) << bit) + step, 0);
            duration_sketch_add(s, (gdouble)picoseconds * 1e-12);
            gdouble is = duration_sketch_percentile(s, 50) * 1e12;
            g_assert_cmpfloat(fabs(is - (gdouble)picoseconds), <=,
                              picoseconds < 256 ? 1e-9 : (gdouble)picoseconds / 256);
            duration_sketch_free(s);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dice = g_rand_new_with_seed(34);
    g_test_add_func("/duration-sketch/random", test_random);
    g_test_add_func("/duration-sketch/bounds", test_bounds);
    g_test_add_func("/duration-sketch/bins", test_bins);
    int status = g_test_run();
    g_rand_free(dice);
    return status;
}
