/* SPDX-License-Identifier: BSD-3-Clause */
/* call-stamps.h: when and from where the calls of all sequences were made, while their walks
 * advance together (lib/analysis/matching.h).
 *
 * Memory: for each sequence that has begun and not ended, a row of times (docs/format.md, "Times of
 * calls"), and what a walk keeps. */
#ifndef WEND_CALL_STAMPS_H
#define WEND_CALL_STAMPS_H

#include <glib.h>

#include "lib/analysis/matching.h"
#include "wend/read.h"

typedef struct CallStamps CallStamps;

/* FLAGS: WEND_READ_WITH_TIMES, WEND_READ_WITH_SITES. Returns NULL and sets *STATUS to the error of
 * R if the sites are damaged. The caller frees the result before R. */
CallStamps *call_stamps_new(WendRead *r, unsigned flags, int *status);
void call_stamps_free(CallStamps *s); /* S may be NULL */
/* Stamps PLACE: a MatchingStamp, whose data are a CallStamps. */
void call_stamps_set(gpointer stamps, const WendCall *call, MessagePlace *place);
/* WEND_READ_OK, or the error of R: times turned out to be damaged. Stamps lack them from there
 * on. */
int call_stamps_status(const CallStamps *s);

#endif
