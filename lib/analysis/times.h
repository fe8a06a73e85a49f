/* SPDX-License-Identifier: BSD-3-Clause */
/* times.h: the durations of calls. */
#ifndef WEND_TIMES_H
#define WEND_TIMES_H

#include <glib.h>

#include "read/program.h"

/* As wend_program_timing, but without a duration of MPI_Finalize (count 0): the recording is
 * written in that call. Recordings of older versions have one, which measures only the clock.
 * INTERVAL may be NULL. */
void times_of(const WendProgram *p, guint class_index, guint sequence, guint32 terminal,
              WendTiming *duration, WendTiming *interval);

#endif
