/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-bins.c: exponential bins: a time becomes the number of a point near it. Each point is
 * the one before and PERCENT percent of it, as in the Pilgrim paper, section 2.3.2 ("CFG-based
 * algorithm"). Long times have more points between them, in equal steps of at most PERCENT percent
 * of 4 usual times. So no time is off by more than PERCENT percent of itself or of 4 usual ones.
 *
 * A time is between two points, and both are within its error. The encoder follows the clock of the
 * decoder, which is the sum of the points, and takes the point that brings it nearer to the clock
 * of the calls. So the error of a start or an end never exceeds that of one time: the errors do not
 * add up. */
#include "duration-codings.h"
#include "duration-model.h"

#include "base/lower-bound.h"

enum {
    UNKNOWN, /* a duration that is not known */
    EXACT,   /* a time that has no point follows as it is: a clock went back */
    FIRST_POINT,
    POINTS = 4050,       /* at 1 % the last one is beyond 2^62 */
    LONG = 4,            /* usual times */
    USUAL_FIRST = 65536, /* ticks */
    USUAL_LEAST = 64,
    OUTLIER = 16, /* usual times */
    WINDOW = 64   /* calls */
};

#define USUAL_MOST (INT64_MAX / OUTLIER / 2)

typedef struct {
    unsigned n;
    int64_t points[POINTS];
    unsigned percent;
    int64_t ahead;                 /* the clock of the decoder minus that of the calls */
    int64_t usual[DURATION_KINDS]; /* the usual time: about the mean of the last ones */
    DurationModel model;
} Bins;

/* PERCENT percent of TICKS, rounded down. */
static int64_t share(int64_t ticks, unsigned percent)
{
    return ticks / 100 * percent + ticks % 100 * percent / 100;
}

static void init(void *learned, unsigned percent)
{
    Bins *b = learned;
    const int64_t most = INT64_C(1) << 62;
    b->percent = percent;
    b->ahead = 0;
    b->usual[DURATION_OF_CALL] = b->usual[INTERVAL_BEFORE_CALL] = USUAL_FIRST;
    b->n = 0;
    for (int64_t at = 0; at < most && b->n < POINTS;) {
        b->points[b->n++] = at;
        int64_t more = share(at, percent);
        at += more > 1 ? more : 1;
    }
    duration_model_init(&b->model, FIRST_POINT + b->n);
}

/* The last point at or below TICKS, which is not negative. */
static unsigned point_below(const Bins *b, int64_t ticks)
{
    return LAST_WHERE(i, b->n, b->points[i] <= ticks);
}

/* -- steps between points -- */

/* The length in bits of a step behind point AT, which has GAP ticks to the next one. */
static unsigned step_bits(const Bins *b, DurationKind kind, int64_t gap)
{
    int64_t most = share(b->usual[kind] * LONG, b->percent);
    if (most >= gap)
        return range_coder_length((uint64_t)gap);
    return most > 1 ? range_coder_length((uint64_t)most) - 1 : 0;
}

/* A long time counts as OUTLIER usual ones, so one alone changes little. */
static void follow_usual(int64_t *usual, int64_t ticks)
{
    int64_t most = *usual * OUTLIER;
    *usual += ((ticks < most ? ticks : most) - *usual) / WINDOW;
    if (*usual > USUAL_MOST)
        *usual = USUAL_MOST;
    if (*usual < USUAL_LEAST)
        *usual = USUAL_LEAST;
}

/* -- times -- */

/* A time as it is coded: a point, and the steps behind it. */
typedef struct {
    unsigned symbol;
    uint64_t steps;
} Coded;

static int64_t distance(int64_t ticks)
{
    return ticks < 0 ? -ticks : ticks;
}

/* Moves the clocks by TICKS. */
static Coded coded_of(Bins *b, DurationKind kind, int64_t ticks)
{
    if (ticks == WEND_DURATION_UNKNOWN)
        return (Coded){UNKNOWN, 0};
    if (ticks < 0 || ticks >= b->points[b->n - 1])
        return (Coded){EXACT, 0};
    unsigned at = point_below(b, ticks);
    int64_t point = b->points[at], next = b->points[at + 1];
    unsigned bits = step_bits(b, kind, next - point);
    int64_t steps = (ticks - point) >> bits, first = point + (int64_t)((uint64_t)steps << bits);
    int64_t second = next - first > INT64_C(1) << bits ? first + (INT64_C(1) << bits) : next;
    int64_t below = b->ahead + first - ticks, above = b->ahead + second - ticks;
    /* The first points are a tick apart, which is more than the error. */
    bool up = second - ticks <= share(ticks, b->percent) && distance(above) < distance(below);
    b->ahead = up ? above : below;
    if (up && second == next)
        return (Coded){FIRST_POINT + at + 1, 0};
    return (Coded){FIRST_POINT + at, (uint64_t)steps + up};
}

/* Codes the steps behind point AT. Sets *TICKS to the sum. */
static bool code_steps(const Bins *b, const RangeCoder *c, DurationKind kind, unsigned at,
                       uint64_t steps, int64_t *ticks)
{
    int64_t point = b->points[at], gap = at + 1 < b->n ? b->points[at + 1] - point : 1;
    unsigned bits = step_bits(b, kind, gap);
    steps = range_coder_plain(c, steps, range_coder_length((uint64_t)(gap - 1) >> bits));
    *ticks = point + (int64_t)(steps << bits);
    return *ticks - point < gap;
}

static bool code_time(void *learned, const RangeCoder *c, DurationKind kind, uint32_t place,
                      int64_t *ticks)
{
    Bins *b = learned;
    Coded coded = c->encoder ? coded_of(b, kind, *ticks) : (Coded){0, 0};
    unsigned symbol = duration_model_code(&b->model, c, kind, place, coded.symbol);
    if (symbol == UNKNOWN) {
        *ticks = WEND_DURATION_UNKNOWN;
        return true;
    }
    if (symbol == EXACT) {
        *ticks = (int64_t)range_coder_plain(c, (uint64_t)*ticks, 64);
        return true;
    }
    if (symbol - FIRST_POINT >= b->n
        || !code_steps(b, c, kind, symbol - FIRST_POINT, coded.steps, ticks))
        return false;
    follow_usual(&b->usual[kind], *ticks);
    return true;
}

static void encode(void *learned, const WendTimedCall *calls, size_t n, WendBuf *durations,
                   WendBuf *intervals)
{
    duration_encode(learned, code_time, calls, n, durations, intervals);
}

static bool decode(void *learned, WendTimedCall *calls, size_t n, WendCursor *durations,
                   WendCursor *intervals)
{
    return duration_decode(learned, code_time, calls, n, durations, intervals);
}

const WendDurationCoding durations_bins = {"bins", true, sizeof(Bins), init, encode, decode};
