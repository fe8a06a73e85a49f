/* exercise.h: what the fuzzer and the tests of damaged archives do with a program that could be opened: all that a reader offers. */
#ifndef WEND_EXERCISE_H
#define WEND_EXERCISE_H

#include "../../lib/program.h"

void exercise(const WendProgram *p);

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size); /* each fuzzer's own */

#endif
