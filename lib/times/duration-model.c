/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-model.c: see duration-model.h. */
#include "duration-model.h"

enum { SEEN_ENOUGH = 2 };

void duration_model_init(DurationModel *m, unsigned symbols)
{
    m->bits = range_coder_length(symbols - 1);
    m->before[DURATION_OF_CALL] = m->before[INTERVAL_BEFORE_CALL] = 0;
    range_contexts_init(m->paired, sizeof m->paired / sizeof *m->paired);
    range_contexts_init(m->placed, sizeof m->placed / sizeof *m->placed);
    range_contexts_init(m->any[0], DURATION_KINDS << DURATION_SYMBOL_BITS);
}

/* The context of node NODE of the tree of bits: different nodes of a place are spread over the
 * table. */
static uint32_t spread(uint64_t place, unsigned node, uint32_t size)
{
    uint64_t product = (place * UINT64_C(0x9e3779b97f4a7c15) ^ node) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(product >> 40) & (size - 1);
}

unsigned duration_model_code(DurationModel *m, const RangeCoder *c, DurationKind kind,
                             uint32_t place, unsigned symbol)
{
    uint64_t here = (uint64_t)place * DURATION_KINDS + kind, pair = (uint64_t)m->before[kind] << 32;
    unsigned node = 1;
    for (unsigned i = m->bits; i-- > 0;) {
        unsigned bit = symbol >> i & 1;
        RangeContext *any = &m->any[kind][node];
        if (m->bits - i <= DURATION_PLACED_BITS) {
            RangeContext *paired = &m->paired[spread(here + pair, node, 2 * DURATION_PLACED)];
            RangeContext *placed = &m->placed[spread(here, node, DURATION_PLACED)];
            RangeContext *used = paired->seen >= SEEN_ENOUGH   ? paired
                                 : placed->seen >= SEEN_ENOUGH ? placed
                                                               : any;
            bit = range_coder_bit(c, bit, used);
            if (used != paired)
                range_context_see(paired, bit);
            if (used != placed)
                range_context_see(placed, bit);
            if (used != any)
                range_context_see(any, bit);
        } else {
            bit = range_coder_bit(c, bit, any);
        }
        node = node << 1 | bit;
    }
    m->before[kind] = place + 1;
    return node - (1u << m->bits);
}
