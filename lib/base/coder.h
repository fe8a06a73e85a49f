/* SPDX-License-Identifier: BSD-3-Clause */
/* coder.h: an entropy coder for sequences of numbers of any distribution.
 *
 * Each bit of a number is coded in the context of higher bits (range-coder.h).
 * Evenly distributed numbers take as many bits as their range has. Sequences of mostly small
 * numbers, or of few different ones, take less. */
#ifndef WEND_CODER_H
#define WEND_CODER_H

#include "containers.h"
#include "buf.h"

/* Appends the N numbers at NUMBERS to OUT. None may be above MOST. */
void coder_encode(const uint64_t *numbers, uint64_t n, uint64_t most, WendBuf *out);
/* Reads into NUMBERS what coder_encode wrote with the same N and MOST. Returns false, and the
 * cursor has failed, if the bytes are truncated or a number is above MOST. */
bool coder_decode(uint64_t *numbers, uint64_t n, uint64_t most, WendCursor *c);

#endif
