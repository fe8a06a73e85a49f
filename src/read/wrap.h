/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.h: a reader over a program that the caller has opened, for commands that need more than
 * wend/read.h has. Not installed. */
#ifndef WEND_READ_WRAP_H
#define WEND_READ_WRAP_H

#include "lib/analysis/analysis.h"
#include "lib/read/program.h"
#include "wend/read.h"

/* A reader of PROGRAM. PROGRAM belongs to the caller and must outlive the reader. */
WendRead *read_wrap(const WendProgram *program);

/* CALL of WALK as a call of the reader; WALK is NULL if a decoder gave CALL. The result is valid as
 * long as CALL, and until the next read_wrap_call. */
const WendReadCall *read_wrap_call(WendRead *r, const WendWalk *walk, const WendCall *call);

/* Lets CALLS keep at most about N decoded signatures (walk_keep), for those who go through
 * many sequences at a time. */
void read_wrap_keep(WendReadCalls *calls, guint n);

/* Begins to match the messages of the recording that R has open. FLAGS are those of matching_new.
 * The caller frees the result with matching_free before R. */
Matching *read_wrap_matching(WendRead *r, guint flags);

#endif
