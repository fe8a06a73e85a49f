/* SPDX-License-Identifier: BSD-3-Clause */
/* function-seconds.h: how long each rank was in each function, by rank and function. */
#ifndef WEND_FUNCTION_SECONDS_H
#define WEND_FUNCTION_SECONDS_H

#include <glib.h>

#include "lib/read/program.h"

typedef struct FunctionSeconds FunctionSeconds;

/* P must outlive the result, which the caller frees. */
FunctionSeconds *function_seconds_new(const WendProgram *p);
void function_seconds_free(FunctionSeconds *s);
/* How long RANK of the job was in FUNCTION, unsuccessful polls and calls in callbacks included, in
 * seconds: off by at most 3 %. Negative: the recording does not have it, as in a world of more than
 * 1,024 ranks. Takes a binary search over the ranks of the world. */
double function_seconds_of(const FunctionSeconds *s, guint rank, const WendFunction *function);

#endif
