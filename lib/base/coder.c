/* SPDX-License-Identifier: BSD-3-Clause */
/* coder.c: an adaptive binary range coder for sequences of numbers (docs/format.md, "Notation"). */
#include "coder.h"

#include "range-coder.h"

/* A number is coded as its length in bits, then the bits below its highest one. The length and the
 * TOP_BITS highest of these bits are coded highest bit first, each in the context of the bits
 * before it. The remaining bits are coded as equally likely. */
enum { LENGTH_BITS = 7, LENGTHS = 65, TOP_BITS = 2 };

typedef struct {
    RangeContext length[1 << LENGTH_BITS], top[LENGTHS][1 << TOP_BITS];
    uint32_t length_bits;
} Model;

static void model_init(Model *m, uint64_t most)
{
    range_contexts_init(m->length, COUNT_OF(m->length));
    range_contexts_init(m->top[0], LENGTHS * COUNT_OF(m->top[0]));
    m->length_bits = range_coder_length(range_coder_length(most));
}

static uint64_t code_number(const RangeCoder *c, Model *m, uint64_t number)
{
    uint32_t length =
        (uint32_t)range_coder_tree(c, range_coder_length(number), m->length_bits, m->length);
    if (length <= 1 || length >= LENGTHS)
        return length; /* 0 and 1 are their own lengths; no number is longer than 64 bits */
    uint32_t below = length - 1, top = MIN(below, TOP_BITS);
    below -= top;
    uint64_t all = (uint64_t)1 << top
                   | range_coder_tree(c, number >> below & ((1 << top) - 1), top, m->top[length]);
    return all << below | range_coder_plain(c, number, below);
}

void coder_encode(const uint64_t *numbers, uint64_t n, uint64_t most, WendBuf *out)
{
    Model m;
    RangeEncoder e;
    model_init(&m, most);
    range_encoder_begin(&e, out);
    for (uint64_t i = 0; i < n && !out->failed; i++)
        code_number(&(RangeCoder){.encoder = &e}, &m, numbers[i]);
    range_encoder_end(&e);
}

bool coder_decode(uint64_t *numbers, uint64_t n, uint64_t most, WendCursor *c)
{
    Model m;
    RangeDecoder d;
    model_init(&m, most);
    range_decoder_begin(&d, c);
    for (uint64_t i = 0; i < n && !c->failed; i++) {
        numbers[i] = code_number(&(RangeCoder){.decoder = &d}, &m, 0);
        if (numbers[i] > most || range_coder_length(numbers[i]) > range_coder_length(most))
            c->failed = true;
    }
    range_decoder_end(&d);
    return !c->failed;
}
