/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h: the clock for the times of calls. */
#ifndef WEND_CLOCK_H
#define WEND_CLOCK_H

#include <stdint.h>

#include "process.h"

void clock_open(void);         /* when the library is loaded */
void clock_calibrate(void);    /* at the first MPI call, and after MPI_Init */
double clock_resolution(void); /* seconds */
/* The length of a tick in seconds, as measured since the library was loaded. It takes some
 * readings of the clocks, so about a microsecond. */
double clock_tick(void);
/* From now on clock_tick returns what it returns now. */
void clock_keep_tick(void);
/* The ticks when the library was loaded, and the time then, in nanoseconds since the epoch. */
uint64_t clock_opened(int64_t *since_epoch);
uint64_t clock_nanoseconds(void);
const char *clock_source(void);

#if defined __x86_64__
/* The builtin, because <x86intrin.h> would bring 45,000 lines to each file of the tracer. */
static inline uint64_t clock_ticks(void)
{
    return __builtin_expect(state()->tsc, 1) ? __builtin_ia32_rdtsc() : clock_nanoseconds();
}
#else
static inline uint64_t clock_ticks(void)
{
    return clock_nanoseconds();
}
#endif

#endif
