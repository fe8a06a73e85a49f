/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-lossless.c: ticks as they are. The length of the number and the bits below its highest
 * one are a symbol, which is predicted. The other bits are noise, and coded as equally likely,
 * except for the lowest ones: counters of some processors go up in larger steps. */
#include "duration-codings.h"
#include "duration-model.h"

enum {
    UNKNOWN,  /* a duration that is not known */
    NEGATIVE, /* a clock went back: the number follows */
    FIRST,
    TOP_BITS = 3, /* in the symbol, below the highest bit */
    LOW_BITS = 2,
    SYMBOLS = FIRST + ((64 - TOP_BITS) << TOP_BITS)
};

typedef struct {
    DurationModel model;
    RangeContext low[DURATION_KINDS][1 << LOW_BITS];
} Lossless;

static void init(void *learned, unsigned percent)
{
    Lossless *l = learned;
    (void)percent;
    duration_model_init(&l->model, SYMBOLS);
    range_contexts_init(l->low[0], DURATION_KINDS << LOW_BITS);
}

/* How many bits of TICKS are not in its symbol. */
static unsigned bits_below(uint64_t ticks)
{
    unsigned length = range_coder_length(ticks);
    return length > TOP_BITS + 1 ? length - TOP_BITS - 1 : 0;
}

static unsigned symbol_of(int64_t ticks)
{
    if (ticks == WEND_DURATION_UNKNOWN)
        return UNKNOWN;
    if (ticks < 0)
        return NEGATIVE;
    unsigned below = bits_below((uint64_t)ticks);
    return FIRST + (below << TOP_BITS) + (unsigned)((uint64_t)ticks >> below);
}

/* Codes the lowest N bits of TICKS. */
static uint64_t code_bits(Lossless *l, const RangeCoder *c, DurationKind kind, uint64_t ticks,
                          unsigned n)
{
    unsigned low = n < LOW_BITS ? 0 : LOW_BITS;
    uint64_t high = range_coder_plain(c, ticks >> low & ((UINT64_C(1) << (n - low)) - 1), n - low);
    return low ? high << low | range_coder_tree(c, ticks & ((1 << low) - 1), low, l->low[kind])
               : high;
}

static bool code_time(void *learned, const RangeCoder *c, DurationKind kind, uint32_t place,
                      int64_t *ticks)
{
    Lossless *l = learned;
    unsigned symbol = c->encoder ? symbol_of(*ticks) : 0;
    symbol = duration_model_code(&l->model, c, kind, place, symbol);
    if (symbol >= SYMBOLS)
        return false;
    if (symbol == UNKNOWN) {
        *ticks = WEND_DURATION_UNKNOWN;
    } else if (symbol == NEGATIVE) {
        *ticks = (int64_t)range_coder_plain(c, (uint64_t)*ticks, 64);
    } else {
        unsigned number = symbol - FIRST, below = number >> TOP_BITS;
        below = below > 0 ? below - 1 : 0;
        uint64_t top = number - (below << TOP_BITS);
        *ticks = (int64_t)(top << below | code_bits(l, c, kind, (uint64_t)*ticks, below));
    }
    return true;
}

static void encode(void *learned, const WendTimedCall *calls, size_t n, WendBuf *durations,
                   WendBuf *intervals)
{
    duration_encode(learned, code_time, calls, n, durations, intervals);
}

static bool decode(void *learned, WendTimedCall *calls, size_t n, WendCursor *durations,
                   WendCursor *intervals)
{
    return duration_decode(learned, code_time, calls, n, durations, intervals);
}

const WendDurationCoding durations_lossless = {"lossless", false,  sizeof(Lossless),
                                               init,       encode, decode};
