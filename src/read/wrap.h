/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.h: a reader over a program that the caller has opened itself, for commands that need more of
 * it than wend/read.h gives. Not installed. */
#ifndef WEND_READ_WRAP_H
#define WEND_READ_WRAP_H

#include "lib/read/program.h"
#include "wend/read.h"

/* A reader of PROGRAM, which stays the caller's and has to outlive it. */
WendRead *wend_read_wrap(const WendProgram *program);

/* CALL of WALK (NULL: of a decoder) as a call of the reader. Valid as long as CALL, and until the
 * next wend_read_wrap_call. */
const WendReadCall *wend_read_wrap_call(WendRead *r, const WendWalk *walk, const WendCall *call);

#endif
