/* SPDX-License-Identifier: BSD-3-Clause */
/* exercise-read.h: asks a reader for everything, through wend/read.h alone, within bounds. */
#ifndef EXERCISE_READ_H
#define EXERCISE_READ_H

#include "wend/read.h"

/* All that an open reader gives. Gives a number that depends on all of it: equal for equal
 * recordings. MATRIX: also what may go through all calls. */
uint64_t exercise_read(WendRead *r, bool matrix);

#endif
