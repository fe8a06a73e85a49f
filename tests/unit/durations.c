/* SPDX-License-Identifier: BSD-3-Clause */
/* durations.c: codings of the times of calls: what is decoded is within the error of what was
 * coded, errors do not add up, and damage is found. */
#include "config.h"

#include "../../lib/times/clock-points.h"
#include "../../bench/times-codings.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static GRand *dice;

/* -- calls -- */

/* Ticks of any size, up to some hours; often 0 or 1. */
static gint64 some_ticks(void)
{
    if (g_rand_int_range(dice, 0, 8) == 0)
        return g_rand_int_range(dice, 0, 2);
    guint64 bits = (guint64)g_rand_int(dice) << 32 | g_rand_int(dice);
    return (gint64)(bits >> g_rand_int_range(dice, 19, 64));
}

/* BACKWARDS: clocks may go back, and durations may be unknown. */
static void some_calls(WendTimedCall *calls, gsize n, gboolean backwards)
{
    for (gsize i = 0; i < n; i++) {
        calls[i] =
            (WendTimedCall){(guint32)g_rand_int_range(dice, 0, 5), some_ticks(), some_ticks()};
        if (backwards && g_rand_int_range(dice, 0, 10) == 0)
            calls[i].interval = -calls[i].interval;
        if (backwards && g_rand_int_range(dice, 0, 10) == 0)
            calls[i].duration = WEND_DURATION_UNKNOWN;
    }
}

/* A loop of four calls, whose times vary by about 30 %. */
static void loop_calls(WendTimedCall *calls, gsize n)
{
    static const gint64 usual[4][2] = {{300, 900}, {5000, 120000}, {300, 800}, {20000, 3000000}};
    for (gsize i = 0; i < n; i++)
        calls[i] = (WendTimedCall){
            (guint32)(i % 4),
            (gint64)((double)usual[i % 4][0] * g_rand_double_range(dice, 0.85, 1.15)),
            (gint64)((double)usual[i % 4][1] * g_rand_double_range(dice, 0.85, 1.15))};
}

/* -- coding -- */

typedef struct {
    const WendDurationCoding *coding;
    gboolean clusters;
    guint percent;
    gpointer to, from;
    WendBuf bytes[2];
} Coder;

static Coder *coder_new(const WendDurationCoding *coding, gboolean clusters, guint percent)
{
    Coder *c = g_new0(Coder, 1);
    *c = (Coder){coding,
                 clusters,
                 percent,
                 g_malloc0(coding->memory),
                 g_malloc0(coding->memory),
                 {WEND_BUF_INIT, WEND_BUF_INIT}};
    coding->init(c->to, percent);
    coding->init(c->from, percent);
    return c;
}

static void coder_free(Coder *c)
{
    g_free(c->to);
    g_free(c->from);
    buf_clear(&c->bytes[0]);
    buf_clear(&c->bytes[1]);
    g_free(c);
}

static gboolean decode(Coder *c, WendTimedCall *decoded, gsize n, const gsize bytes[2])
{
    WendCursor in[2] = {cursor_of(c->bytes[0].data, bytes[0]),
                        cursor_of(c->bytes[1].data, bytes[1])};
    bool good = c->clusters ? times_decode_clustered(c->coding, c->from, decoded, n, &in[0], &in[1])
                            : c->coding->decode(c->from, decoded, n, &in[0], &in[1]);
    return good && in[0].p == in[0].end && in[1].p == in[1].end;
}

/* Codes a row, and decodes it into DECODED. */
static void there_and_back(Coder *c, const WendTimedCall *calls, gsize n, WendTimedCall *decoded)
{
    for (gsize i = 0; i < n; i++)
        decoded[i] = (WendTimedCall){calls[i].place, -1, -1};
    c->bytes[0].len = c->bytes[1].len = 0;
    if (c->clusters)
        times_encode_clustered(c->coding, c->to, calls, n, &c->bytes[0], &c->bytes[1]);
    else
        c->coding->encode(c->to, calls, n, &c->bytes[0], &c->bytes[1]);
    g_assert_false(c->bytes[0].failed || c->bytes[1].failed);
    g_assert_true(decode(c, decoded, n, (gsize[]){c->bytes[0].len, c->bytes[1].len}));
}

static void assert_near(gint64 value, gint64 decoded, guint percent)
{
    if (value <= 0) /* unknown, or a clock that went back */
        g_assert_cmpint(decoded, ==, value);
    else
        g_assert_cmpfloat(ABS((double)(decoded - value)), <=,
                          (double)value * percent / 100.0 + (percent > 0 ? 0.5 : 0));
}

/* -- tests -- */

typedef struct {
    gint64 now, decoded, longest;
} Clock;

/* Follows both clocks. The decoded one is off by the error of one time at most. */
static void assert_no_drift(Clock *clock, const WendTimedCall *call, const WendTimedCall *decoded,
                            guint percent)
{
    clock->longest = MAX(clock->longest, call->interval);
    clock->now += call->interval;
    clock->decoded += decoded->interval;
    g_assert_cmpint(ABS(clock->decoded - clock->now) * 100, <=, clock->longest * percent + 100);
    if (call->duration == WEND_DURATION_UNKNOWN)
        return;
    clock->longest = MAX(clock->longest, call->duration);
    clock->now += call->duration;
    clock->decoded += decoded->duration;
    g_assert_cmpint(ABS(clock->decoded - clock->now) * 100, <=, clock->longest * percent + 100);
}

static void test_errors(void)
{
    enum { N = 3000, ROWS = 4 };
    static WendTimedCall calls[N], decoded[N];
    for (guint i = 0; i < WEND_DURATIONS; i++) {
        const WendDurationCoding *coding = durations_coding(i);
        for (guint percent = coding->lossy ? 1 : 0; percent <= (coding->lossy ? 50u : 0u);
             percent += 7) {
            Coder *c = coder_new(coding, FALSE, percent);
            Clock clock = {0, 0, 0};
            for (int row = 0; row < ROWS; row++) {
                if (row % 2 == 0)
                    some_calls(calls, N, TRUE);
                else
                    loop_calls(calls, N);
                there_and_back(c, calls, N, decoded);
                for (gsize k = 0; k < N; k++) {
                    assert_near(calls[k].interval, decoded[k].interval, percent);
                    assert_near(calls[k].duration, decoded[k].duration, percent);
                    assert_no_drift(&clock, &calls[k], &decoded[k], percent);
                }
            }
            coder_free(c);
        }
    }
}

/* The same time again and again is rounded to the same side, unless somebody looks at the clock. */
static void test_drift(void)
{
    enum { N = 5000 };
    static WendTimedCall calls[N], decoded[N];
    for (gint64 ticks = 1000; ticks < 1000000; ticks += ticks / 3) {
        Coder *c = coder_new(durations_coding(WEND_DURATIONS_BINS), FALSE, 10);
        Clock clock = {0, 0, 0};
        for (gsize i = 0; i < N; i++)
            calls[i] = (WendTimedCall){0, ticks, ticks * 2};
        there_and_back(c, calls, N, decoded);
        for (gsize i = 0; i < N; i++)
            assert_no_drift(&clock, &calls[i], &decoded[i], 10);
        coder_free(c);
    }
}

/* The codings to compare with keep to their errors, too. */
static void test_others(void)
{
    enum { N = 2000 };
    static const WendDurationCoding *const others[] = {&times_cfg, &times_hist3, &times_hist8,
                                                       &times_sz};
    static WendTimedCall calls[N], decoded[N];
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        for (int clusters = 0; clusters < 2; clusters++) {
            Coder *c = coder_new(others[i], clusters, 10);
            for (int row = 0; row < 3; row++) {
                some_calls(calls, N, FALSE);
                there_and_back(c, calls, N, decoded);
                for (gsize k = 0; k < N; k++) {
                    assert_near(calls[k].interval, decoded[k].interval, 10);
                    assert_near(calls[k].duration, decoded[k].duration, 10);
                }
            }
            coder_free(c);
        }
    }
}

#ifdef HAVE_ZFP
static void test_zfp(void)
{
    enum { N = 2000 };
    static WendTimedCall calls[N], decoded[N];
    for (int clusters = 0; clusters < 2; clusters++) {
        Coder *c = coder_new(&times_zfp_tight, clusters, 0);
        loop_calls(calls, N);
        there_and_back(c, calls, N, decoded);
        for (gsize k = 0; k < N; k++) {
            g_assert_cmpint(ABS(decoded[k].interval - calls[k].interval), <=, 10001);
            g_assert_cmpint(ABS(decoded[k].duration - calls[k].duration), <=, 10001);
        }
        coder_free(c);
    }
}
#endif

/* Times that vary by 30 % in a loop take less than three bits. Without loss, noise is what it
 * is. */
static void test_size(void)
{
    enum { N = 20000 };
    static WendTimedCall calls[N], decoded[N];
    Coder *c = coder_new(durations_coding(WEND_DURATIONS_BINS), FALSE, 10);
    loop_calls(calls, N);
    there_and_back(c, calls, N, decoded);
    g_assert_cmpuint(c->bytes[0].len + c->bytes[1].len, <, 2 * N * 3 / 8);
    coder_free(c);
    gsize bytes[2];
    for (int i = 0; i < 2; i++) {
        c = coder_new(durations_coding(WEND_DURATIONS_LOSSLESS), FALSE, 0);
        for (gsize k = 0; k < N; k++) { /* in the second turn of a clock that counts in fours */
            calls[k].interval &= i == 0 ? -1 : -4;
            calls[k].duration &= i == 0 ? -1 : -4;
        }
        there_and_back(c, calls, N, decoded);
        bytes[i] = c->bytes[0].len + c->bytes[1].len;
        coder_free(c);
    }
    g_assert_cmpuint(bytes[0], <, 2 * N * 14 / 8);
    g_assert_cmpuint(bytes[1] + 2 * N * 3 / 2 / 8, <, bytes[0]);
}

/* Bytes that are cut off or changed are found, or are other times. */
static void test_damage(void)
{
    enum { N = 300 };
    static WendTimedCall calls[N], decoded[N];
    guint found = 0, tried = 0;
    for (guint i = 0; i < WEND_DURATIONS; i++) {
        const WendDurationCoding *coding = durations_coding(i);
        Coder *c = coder_new(coding, FALSE, coding->lossy ? 10 : 0);
        some_calls(calls, N, TRUE);
        there_and_back(c, calls, N, decoded);
        const gsize whole[2] = {c->bytes[0].len, c->bytes[1].len};
        for (gsize n = 0; n < whole[0]; n += 13, tried++) {
            coding->init(c->from, c->percent);
            found += !decode(c, decoded, N, (gsize[]){n, whole[1]});
        }
        for (gsize at = 0; at < whole[1]; at += 11, tried++) {
            c->bytes[1].data[at] ^= 0x55;
            coding->init(c->from, c->percent);
            found += !decode(c, decoded, N, whole);
            c->bytes[1].data[at] ^= 0x55;
        }
        coder_free(c);
    }
    g_assert_cmpuint(tried, >, 20);
    g_assert_cmpuint(found * 10, >, tried * 9);
}

static void test_names(void)
{
    static const struct {
        const char *text;
        gboolean good;
        WendDurationsForm form;
    } names[] = {
        {"lossless", TRUE, {WEND_DURATIONS_LOSSLESS, 0}},
        {"bins", TRUE, {WEND_DURATIONS_BINS, 10}},
        {"bins:1%", TRUE, {WEND_DURATIONS_BINS, 1}},
        {"50%", TRUE, {WEND_DURATIONS_BINS, 50}},
        {"10%", TRUE, {WEND_DURATIONS_BINS, 10}},
        {"", FALSE, {0, 0}},
        {"10", FALSE, {0, 0}},
        {"0%", FALSE, {0, 0}},
        {"51%", FALSE, {0, 0}},
        {"-1%", FALSE, {0, 0}},
        {"99999999999999999999%", FALSE, {0, 0}},
        {"lossless:1%", FALSE, {0, 0}},
        {"bin", FALSE, {0, 0}},
        {"bins:", FALSE, {0, 0}},
        {"bins:10", FALSE, {0, 0}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        WendDurationsForm form;
        gboolean good = durations_parse(names[i].text, &form);
        if (good != names[i].good)
            g_error("%s", names[i].text);
        if (good) {
            g_assert_cmpuint(form.coding, ==, names[i].form.coding);
            g_assert_cmpuint(form.percent, ==, names[i].form.percent);
        }
    }
}

/* The head of a stream, and what is none. */
static void test_head(void)
{
    static const WendClockCorrection none = {0};
    const WendDurationsHead head = {{WEND_DURATIONS_BINS, 10}, 1e-9 / 3, -5, none};
    static const WendDurationsHead bad[] = {
        {{WEND_DURATIONS, 10}, 1e-9, 0, {0}},
        {{WEND_DURATIONS_BINS, 0}, 1e-9, 0, {0}},
        {{WEND_DURATIONS_BINS, 51}, 1e-9, 0, {0}},
        {{WEND_DURATIONS_LOSSLESS, 10}, 1e-9, 0, {0}},
        {{WEND_DURATIONS_LOSSLESS, 0}, 0, 0, {0}},
        {{WEND_DURATIONS_LOSSLESS, 0}, -1, 0, {0}},
        {{WEND_DURATIONS_LOSSLESS, 0}, 1e-9, 0, {3, 0, 0, 0}},
        {{WEND_DURATIONS_LOSSLESS, 0}, 1e-9, 0, {1, 0, 0.6, 0}},
        {{WEND_DURATIONS_LOSSLESS, 0}, 1e-9, 0, {1, 0, -0.6, 0}},
        {{WEND_DURATIONS_LOSSLESS, 0}, 1e-9, 0, {2, 0, NAN, 0}},
        {{WEND_DURATIONS_LOSSLESS, 0}, 1e-9, 2, {1, G_MAXINT64 - 1, 0, 0}},
    };
    WendDurationsHead again;
    WendBuf b = WEND_BUF_INIT;
    durations_put_head(&b, &head);
    WendCursor c = cursor_of(b.data, b.len);
    g_assert_true(durations_read_head(&c, &again));
    g_assert_cmpfloat(again.tick, ==, head.tick);
    g_assert_cmpint(again.origin, ==, head.origin);
    g_assert_cmpuint(again.form.coding, ==, head.form.coding);
    g_assert_cmpuint(again.form.percent, ==, head.form.percent);
    c = cursor_of(b.data, b.len - 1);
    g_assert_false(durations_read_head(&c, &again));
    g_assert_cmpuint(again.clock.measured, ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        b.len = 0;
        durations_put_head(&b, &bad[i]);
        c = cursor_of(b.data, b.len);
        g_assert_false(durations_read_head(&c, &again));
    }
    buf_clear(&b);
}

/* The correction of a clock is read again, applied, and no byte of it may be missing. */
static void test_correction(void)
{
    const WendDurationsHead head = {
        {WEND_DURATIONS_LOSSLESS, 0}, 1e-9, 1000, {2, -3000000000, 1e-4, 700}};
    WendDurationsHead again;
    WendBuf b = WEND_BUF_INIT;
    durations_put_head(&b, &head);
    WendCursor c = cursor_of(b.data, b.len);
    g_assert_true(durations_read_head(&c, &again));
    g_assert_cmpuint(again.clock.measured, ==, 2);
    g_assert_cmpuint(again.clock.error, ==, 700);
    durations_correct(&again);
    g_assert_cmpint(again.origin, ==, -2999999000);
    g_assert_cmpfloat_with_epsilon(again.tick, 1.0001e-9, 1e-18);
    for (gsize n = 1; n < 12; n++) {
        c = cursor_of(b.data, b.len - n);
        g_assert_false(durations_read_head(&c, &again));
    }
    buf_unsigned(&b, 0);
    c = cursor_of(b.data, b.len);
    g_assert_false(durations_read_head(&c, &again));
    buf_clear(&b);
}

/* A clock of 3 ticks a nanosecond, which began SHIFT nanoseconds of rank 0 after rank 0's, and runs
 * too fast by DRIFT. Rank 0's has 2 ticks a nanosecond. */
typedef struct {
    gdouble shift, drift;
} OtherClock;

static WendClockPoint compare(const OtherClock *other, gdouble at, guint64 error)
{
    gdouble own = (at - other->shift) * 3 * (1 + other->drift);
    return (WendClockPoint){(gint64)own, (gint64)(at * 2), error};
}

/* The nanoseconds after rank 0's start at which the other clock shows what it does AT, if the
 * correction C is applied. */
static gdouble corrected(const OtherClock *other, const WendClockCorrection *c, gdouble at)
{
    const gint64 origin = 5000;
    WendDurationsHead head = {{WEND_DURATIONS_LOSSLESS, 0}, 1e-9 / 3, origin, *c};
    durations_correct(&head);
    return (gdouble)compare(other, at, 0).own * head.tick * 1e9 + (gdouble)head.origin;
}

static void test_points(void)
{
    const WendClock own = {1e-9 / 3, 5000}, first = {1e-9 / 2, 0};
    const OtherClock others[] = {{0, 0}, {123456789, 0}, {-5e9, 3e-5}, {1e12, -2e-4}};
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        const OtherClock *o = &others[i];
        const WendClockPoint points[] = {compare(o, o->shift + 1e8, 40),
                                         compare(o, o->shift + 1e12, 30)};
        WendClockCorrection c = clock_points_correction(points, 2, &own, &first);
        g_assert_cmpuint(c.measured, ==, o->drift != 0 ? 2 : 1);
        g_assert_cmpuint(c.error, ==, o->drift != 0 ? 40 : 30);
        for (gdouble at = o->shift; at < o->shift + 1e12; at += 1e11)
            g_assert_cmpfloat_with_epsilon(corrected(o, &c, at), at, 3);
        /* at the only point it is right, and it drifts from there on */
        c = clock_points_correction(points, 1, &own, &first);
        g_assert_cmpuint(c.measured, ==, 1);
        g_assert_cmpuint(c.error, ==, 40);
        g_assert_cmpfloat_with_epsilon(corrected(o, &c, o->shift + 1e8), o->shift + 1e8, 3);
        g_assert_cmpfloat_with_epsilon(corrected(o, &c, o->shift + 1e9) - o->shift - 1e9,
                                       9e8 * o->drift, 3);
    }
    g_assert_cmpuint(clock_points_correction(NULL, 0, &own, &first).measured, ==, 0);
    /* Two points within the errors of each other say nothing about the drift: the better one
     * counts. */
    const WendClockPoint near[] = {{3000, 2000, 50}, {3300, 2600, 20}};
    WendClockCorrection c = clock_points_correction(near, 2, &own, &first);
    g_assert_cmpuint(c.measured, ==, 1);
    g_assert_cmpuint(c.error, ==, 20);
    g_assert_cmpint(c.shift, ==, 1300 - 1100 - 5000);
    /* A rank that has rank 0's clock, and began 1000 of its ticks after it: the length of a tick is
     * what rank 0 measured, whatever the rank itself measured. */
    const WendClockPoint same[] = {{-1000, 0, 0}, {-1000, 0, 0}};
    const WendClock wrong = {1e-9 / 2 * (1 + 2e-5), 5000};
    c = clock_points_correction(same, 2, &wrong, &first);
    g_assert_cmpuint(c.error, ==, 0);
    WendDurationsHead head = {{WEND_DURATIONS_LOSSLESS, 0}, wrong.tick, wrong.origin, c};
    durations_correct(&head);
    g_assert_cmpfloat_with_epsilon(head.tick, first.tick, 1e-20);
    g_assert_cmpint(head.origin, ==, 500);
}

int main(void)
{
    dice = g_rand_new_with_seed(11);
    test_errors();
    test_drift();
    test_others();
#ifdef HAVE_ZFP
    test_zfp();
#endif
    test_size();
    test_damage();
    test_names();
    test_head();
    test_correction();
    test_points();
    g_rand_free(dice);
    return 0;
}
