/* SPDX-License-Identifier: BSD-3-Clause */
/* call-times.h: the time of every call: wend trace --times. The kind of side stream whose elements
 * are one for each call and unsuccessful poll of the sequence, pseudo-calls included. */
#ifndef WEND_CALL_TIMES_H
#define WEND_CALL_TIMES_H

#include <stdbool.h>

#include "lib/times/clock-points.h"

/* When the library is loaded: from the first call on, times are recorded, if they are to be. */
void call_times_open(void);
/* When MPI has started. */
void call_times_after_start(void);
/* Whether times are recorded. */
bool call_times_on(void);

/* When the clock of this rank was compared with that of rank 0, FIRST, which is on another host.
 * From then on the times in a part have a correction. The first and the last time count. */
void call_times_compared(const WendClockPoint *point, const WendClock *first);

#endif
