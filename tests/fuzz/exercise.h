/* SPDX-License-Identifier: BSD-3-Clause */
/* exercise.h: what the fuzzer and the tests of damaged archives do with a program that could be
 * opened: all that a reader offers. */
#ifndef WEND_EXERCISE_H
#define WEND_EXERCISE_H

#include "../../lib/read/program.h"

#include <glib.h>
#include "lib/base/error.h"

/* members as members.h has them */
WendProgram *exercise_open(const guint8 *data, gsize n, Error **error);
void exercise(const WendProgram *p);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const guint8 *data, size_t size); /* each fuzzer's own */

#endif
