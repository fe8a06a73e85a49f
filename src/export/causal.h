/* SPDX-License-Identifier: BSD-3-Clause */
/* causal.h: the calls of several ranks in causal order (lib/analysis/matching.h): a call comes
 * after all calls that it depends on. Calls of one sequence are in their order. Memory follows the
 * messages in flight. */
#ifndef WEND_EXPORT_CAUSAL_H
#define WEND_EXPORT_CAUSAL_H

#include <glib.h>

#include "format.h"

typedef struct Causal Causal;

/* Begins with the chosen ranks of E. ORIGIN and FLAGS are those of timeline_calls_new. The caller
 * frees the result with causal_free before the reader of E. */
Causal *causal_new(const Export *e, double origin, unsigned flags);
void causal_free(Causal *c); /* C may be NULL */

/* Gives the next call, and its messages, which are valid until the call after it. Returns 1, 0
 * after the last call, or a negative WendReadResult. Then *ERROR is set, unless a function of
 * wend/read.h failed (wend_read_message). */
int causal_next(Causal *c, TimedCall *next, CallMessages *messages, GError **error);

#endif
