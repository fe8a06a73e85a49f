/* SPDX-License-Identifier: BSD-3-Clause */
/* range-coder.c: see range-coder.h. */
#include "range-coder.h"

enum { LEAST = 1 << 5, SEEN_MOST = 1022 };

void range_contexts_init(RangeContext *contexts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        contexts[i] = (RangeContext){RANGE_EVEN, 0};
}

void range_context_see(RangeContext *c, unsigned bit)
{
    int32_t one = c->one, away = (bit ? (1 << 16) - one : -one) * 2 / (2 * c->seen + 5);
    one += away;
    c->one = (uint16_t)(one < LEAST ? LEAST : one > (1 << 16) - LEAST ? (1 << 16) - LEAST : one);
    if (c->seen < SEEN_MOST)
        c->seen++;
}

/* -- the range: an interval of 2^32, which each bit narrows to its part -- */

enum { RANGE_LEAST = 1 << 24, CODE_BYTES = 4 };

/* The number of bytes that identify an interval of length RANGE, whatever bytes follow: the
 * interval contains a number that is zero behind these bytes, and all numbers that begin with
 * them. */
static unsigned end_bytes(uint32_t range)
{
    return range >= 2 * RANGE_LEAST ? 1 : 2;
}

void range_encoder_begin(RangeEncoder *e, WendBuf *out)
{
    *e = (RangeEncoder){out, 0, UINT32_MAX};
}

/* Propagates a carry through bytes of 0xff. It ends at the first byte at the latest, because the
 * coded fraction is less than 1. */
static void take_carry(RangeEncoder *e)
{
    if (e->low >> 32 == 0)
        return;
    e->low &= UINT32_MAX;
    for (size_t i = e->out->len; i-- > 0 && ++e->out->data[i] == 0;) {
    }
}

static void put_byte(RangeEncoder *e)
{
    uint8_t byte = (uint8_t)(e->low >> 24);
    buf_bytes(e->out, &byte, 1);
    e->low = e->low << 8 & UINT32_MAX;
    e->range <<= 8;
}

static void put_bit(RangeEncoder *e, unsigned bit, uint32_t one)
{
    uint32_t bound = (e->range >> 16) * one;
    if (!bit)
        e->low += bound;
    e->range = bit ? bound : e->range - bound;
    take_carry(e);
    while (e->range < RANGE_LEAST)
        put_byte(e);
}

void range_encoder_end(RangeEncoder *e)
{
    unsigned n = end_bytes(e->range);
    e->low += ((uint32_t)1 << 8 * (CODE_BYTES - n)) - 1;
    take_carry(e);
    for (unsigned i = 0; i < n; i++)
        put_byte(e);
}

/* Reads a byte; behind the end of the data it is 0. */
static void get_byte(RangeDecoder *d)
{
    size_t left = (size_t)(d->c->end - d->c->p);
    uint8_t byte = d->taken < left ? d->c->p[d->taken] : 0;
    d->code = d->code << 8 | byte;
    d->last = d->last << 8 | byte;
    d->range <<= 8;
    d->taken++;
    if (d->taken > left + CODE_BYTES)
        d->c->failed = true;
}

void range_decoder_begin(RangeDecoder *d, WendCursor *c)
{
    *d = (RangeDecoder){.c = c};
    for (int i = 0; i < CODE_BYTES; i++)
        get_byte(d);
    d->range = UINT32_MAX;
}

static unsigned get_bit(RangeDecoder *d, uint32_t one)
{
    uint32_t bound = (d->range >> 16) * one;
    unsigned bit = d->code < bound;
    if (!bit)
        d->code -= bound;
    d->range = bit ? bound : d->range - bound;
    while (d->range < RANGE_LEAST)
        get_byte(d);
    return bit;
}

/* Accepts the bytes that range_encoder_end wrote and no others of the interval. So the bytes of no
 * row are the beginning of another's. */
void range_decoder_end(RangeDecoder *d)
{
    unsigned n = end_bytes(d->range);
    uint32_t behind = ((uint32_t)1 << 8 * (CODE_BYTES - n)) - 1, more = d->last & behind;
    cursor_bytes(d->c, d->taken - CODE_BYTES + n);
    if (d->code < more || d->code - more > behind)
        d->c->failed = true;
}

/* -- both directions -- */

unsigned range_coder_bit(const RangeCoder *c, unsigned bit, RangeContext *context)
{
    uint32_t one = context ? context->one : RANGE_EVEN;
    if (c->encoder)
        put_bit(c->encoder, bit, one);
    else
        bit = get_bit(c->decoder, one);
    if (context)
        range_context_see(context, bit);
    return bit;
}

uint64_t range_coder_tree(const RangeCoder *c, uint64_t bits, unsigned n, RangeContext *contexts)
{
    uint64_t at = 1;
    for (unsigned i = n; i-- > 0;)
        at = at << 1 | range_coder_bit(c, bits >> i & 1, &contexts[at]);
    return at - (UINT64_C(1) << n);
}

uint64_t range_coder_plain(const RangeCoder *c, uint64_t bits, unsigned n)
{
    uint64_t all = 0;
    for (unsigned i = n; i-- > 0;)
        all = all << 1 | range_coder_bit(c, bits >> i & 1, NULL);
    return all;
}
