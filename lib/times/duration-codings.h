/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-codings.h: the codings of the folder, and what they share. */
#ifndef WEND_DURATION_CODINGS_H
#define WEND_DURATION_CODINGS_H

#include "duration-model.h"
#include "durations.h"

extern const WendDurationCoding durations_lossless, durations_bins;

/* Codes TICKS, an interval or a duration of a call at PLACE, or reads it. False: the bytes are
 * damaged. */
typedef bool (*DurationCode)(void *learned, const RangeCoder *c, DurationKind kind, uint32_t place,
                             int64_t *ticks);
/* Encodes and decodes rows of calls by CODE, of each call the interval first. */
void duration_encode(void *learned, DurationCode code, const WendTimedCall *calls, size_t n,
                     WendBuf *durations, WendBuf *intervals);
bool duration_decode(void *learned, DurationCode code, WendTimedCall *calls, size_t n,
                     WendCursor *durations, WendCursor *intervals);

#endif
