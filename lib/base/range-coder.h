/* SPDX-License-Identifier: BSD-3-Clause */
/* range-coder.h: an adaptive binary range coder. It codes bit by bit, each bit in a context, or as
 * one of two equally likely ones.
 *
 * Martin, "Range encoding" (1979), with the estimate of Krichevsky and Trofimov (1981) for each
 * context. docs/format.md, "Coded numbers", has the arithmetic. No GLib: the recorder uses it. */
#ifndef WEND_RANGE_CODER_H
#define WEND_RANGE_CODER_H

#include "buf.h"

/* The probability that a bit is 1, in units of 2^-16, and how many bits the context has seen, up to
 * a limit. */
typedef struct {
    uint16_t one, seen;
} RangeContext;
enum { RANGE_EVEN = 1 << 15 };

/* Makes N contexts that have seen nothing. */
void range_contexts_init(RangeContext *contexts, size_t n);

/* Adjusts the probability to BIT, as range_coder_bit does. For contexts that did not code the
 * bit. */
void range_context_see(RangeContext *c, unsigned bit);

/* The interval of an encoder is [low, low + range). */
typedef struct {
    WendBuf *out;
    uint64_t low;
    uint32_t range;
} RangeEncoder;

/* The decoder has read TAKEN bytes; LAST are the last four, and CODE is their distance from the
 * start of the interval. */
typedef struct {
    WendCursor *c;
    size_t taken;
    uint32_t code, last, range;
} RangeDecoder;

/* Begins and ends a row of bits, which is appended to OUT. */
void range_encoder_begin(RangeEncoder *e, WendBuf *out);
void range_encoder_end(RangeEncoder *e);
/* Begins and ends a row of bits at C. The cursor has failed if the row is truncated, or if its end
 * is another than an encoder writes. */
void range_decoder_begin(RangeDecoder *d, WendCursor *c);
void range_decoder_end(RangeDecoder *d);

/* One direction: of encoder and decoder one is NULL. So one function describes both directions. */
typedef struct {
    RangeEncoder *encoder;
    RangeDecoder *decoder;
} RangeCoder;

/* Codes BIT, or reads a bit, and returns it. CONTEXT NULL: both are equally likely. */
unsigned range_coder_bit(const RangeCoder *c, unsigned bit, RangeContext *context);
/* Codes the lowest N bits of BITS, the highest first, each in the context of those before it.
 * CONTEXTS has 2^N. Returns the bits. */
uint64_t range_coder_tree(const RangeCoder *c, uint64_t bits, unsigned n, RangeContext *contexts);
/* The same with N equally likely bits, up to 64. */
uint64_t range_coder_plain(const RangeCoder *c, uint64_t bits, unsigned n);

/* The number of bits of NUMBER without leading zeros. */
static inline unsigned range_coder_length(uint64_t number)
{
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

#endif
