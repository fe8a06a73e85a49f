/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-codings.h: the codings of the folder, and what they share. */
#ifndef WEND_DURATION_CODINGS_H
#define WEND_DURATION_CODINGS_H

#include "duration-model.h"
#include "durations.h"

extern const WendDurationCoding wend_durations_lossless, wend_durations_bins;

/* Codes the interval of CALL, and then its duration, or reads them. False: the bytes are
 * damaged. */
typedef bool (*DurationCode)(void *learned, const RangeCoder coders[DURATION_LANES],
                             WendTimedCall *call);
/* Encodes and decodes rows of calls by CODE. */
void duration_encode(void *learned, DurationCode code, const WendTimedCall *calls, size_t n,
                     WendBuf *durations, WendBuf *intervals);
bool duration_decode(void *learned, DurationCode code, WendTimedCall *calls, size_t n,
                     WendCursor *durations, WendCursor *intervals);

#endif
