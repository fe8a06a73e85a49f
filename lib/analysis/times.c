/* SPDX-License-Identifier: BSD-3-Clause */
/* times.c: see times.h. */
#include "config.h"

#include "times.h"

#include <string.h>

void times_of(const WendProgram *p, guint class_index, guint sequence, guint32 terminal,
              WendTiming *duration, WendTiming *interval)
{
    wend_program_timing(p, class_index, sequence, terminal, duration, interval);
    if (strcmp(wend_program_shape(p, wend_program_terminal(p, terminal)->shape)->function->name,
               "MPI_Finalize")
        == 0)
        *duration = (WendTiming){0};
}
