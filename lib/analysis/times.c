/* SPDX-License-Identifier: BSD-3-Clause */
/* times.c: see times.h. */
#include "config.h"

#include "times.h"

#include <string.h>

void times_of(const WendProgram *p, guint class_index, guint sequence, guint32 terminal,
              WendTiming *duration, WendTiming *interval)
{
    wend_program_timing(p, class_index, sequence, terminal, duration, interval);
    if (wend_program_shape(p, wend_program_terminal(p, terminal)->shape)->function->id
        == WEND_FN_MPI_Finalize)
        *duration = (WendTiming){0};
}
