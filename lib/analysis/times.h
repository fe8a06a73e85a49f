/* SPDX-License-Identifier: BSD-3-Clause */
/* times.h: how long calls took, as far as that is known. */
#ifndef WEND_TIMES_H
#define WEND_TIMES_H

#include <glib.h>

#include "read/program.h"

/* As wend_program_timing, but without the duration of MPI_Finalize (count 0): a recording is
 * written in it, and recorders that gave it one all the same measured nothing but their clock.
 * INTERVAL may be NULL. */
void times_of(const WendProgram *p, guint class_index, guint sequence, guint32 terminal,
              WendTiming *duration, WendTiming *interval);

#endif
