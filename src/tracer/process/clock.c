/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c: the clock of calls: the processor's time stamp counter if its rate is constant, else
 * CLOCK_MONOTONIC.
 *
 * The rate is measured against CLOCK_MONOTONIC from the loading of the library on, so no table of
 * processors is needed. After MPI_Init, tens of milliseconds later, the error is a few parts per
 * million. */
#include "clock.h"

#include <time.h>

#if defined __x86_64__
#include <cpuid.h>
#endif

/* What the clocks show at one moment. */
typedef struct {
    uint64_t ticks, nanoseconds;
    int64_t since_epoch; /* by CLOCK_REALTIME */
} Reading;

static Reading opened; /* at clock_open */

enum { ENOUGH = 1000000 }; /* nanoseconds: 50 parts per million */

uint64_t clock_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool tsc_is_invariant(void)
{
#if defined __x86_64__
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#else
    return false;
#endif
}

/* Reads the three clocks. Returns how many ticks that took. */
static uint64_t read_once(Reading *r)
{
    struct timespec now;
    uint64_t before = clock_ticks();
    clock_gettime(CLOCK_REALTIME, &now);
    r->nanoseconds = clock_nanoseconds();
    uint64_t took = clock_ticks() - before;
    r->since_epoch = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    r->ticks = before + took / 2;
    return took;
}

/* Keeps the shortest of several readings: the process may lose its processor within one. */
static Reading read_clocks(void)
{
    enum { READINGS = 8 };
    Reading best;
    uint64_t least = read_once(&best);
    for (int i = 1; i < READINGS; i++) {
        Reading r;
        uint64_t took = read_once(&r);
        if (took <= least) {
            least = took;
            best = r;
        }
    }
    return best;
}

void clock_open(void)
{
    state()->tsc = tsc_is_invariant();
    state()->seconds_per_tick = 1e-9;
    opened = read_clocks();
}

uint64_t clock_opened(int64_t *since_epoch)
{
    *since_epoch = opened.since_epoch;
    return opened.ticks;
}

static double kept_tick; /* 0: none */

void clock_keep_tick(void)
{
    kept_tick = 0;
    kept_tick = clock_tick();
}

double clock_tick(void)
{
    if (kept_tick > 0)
        return kept_tick;
    if (!state()->tsc)
        return 1e-9;
    Reading now = read_clocks();
    uint64_t elapsed = now.nanoseconds - opened.nanoseconds, ticks = now.ticks - opened.ticks;
    return ticks > 0 ? (double)elapsed * 1e-9 / (double)ticks : 1e-9;
}

void clock_calibrate(void)
{
    if (!state()->tsc)
        return;
    while (clock_nanoseconds() - opened.nanoseconds < ENOUGH)
        ;
    state()->seconds_per_tick = clock_tick();
}

double clock_resolution(void)
{
    struct timespec t;
    if (state()->tsc)
        return state()->seconds_per_tick;
    clock_getres(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *clock_source(void)
{
    return state()->tsc ? "tsc" : "CLOCK_MONOTONIC";
}
