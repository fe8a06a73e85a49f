/* SPDX-License-Identifier: BSD-3-Clause */
/* side-codec.c: see side-codec.h. One function for both directions: with an encoder the element
 * has what is coded, with a decoder it gets it. */
#include "side-codec.h"

#include <stddef.h>
#include <string.h>

enum { LENGTH_BITS = 7, TOP_BITS = 3, WHICH_BITS = 9, UNIT_BITS = 3 };
_Static_assert(WEND_SIDE_WHICH == 1 << WHICH_BITS, "number of bits");

void side_number_init(WendSideNumber *n)
{
    range_contexts_init(n->length, sizeof n->length / sizeof *n->length);
    range_contexts_init(n->top[0], sizeof n->top / sizeof n->top[0][0]);
}

static void init_symbols(WendSideCodec *k)
{
    memset(&k->symbols, 0, sizeof k->symbols);
    range_contexts_init(k->symbols.is_first, WEND_SIDE_TRUST);
    range_contexts_init(&k->symbols.is_next, 1);
    range_contexts_init(&k->symbols.is_new, 1);
    range_contexts_init(k->symbols.far_holds, WEND_SIDE_TRUST);
    range_contexts_init(k->symbols.near_holds, WEND_SIDE_TRUST);
    range_contexts_init(k->symbols.older_holds, WEND_SIDE_TRUST);
    range_contexts_init(k->symbols.step_holds, WEND_SIDE_TRUST);
    side_number_init(&k->symbols.distance);
}

/* Touches no memory that the kind does not use. */
void side_codec_init(WendSideCodec *k, const WendSideKind *kind)
{
    if (kind->symbols) {
        k->kind = kind;
        side_number_init(&k->step_number);
        init_symbols(k);
        return;
    }
    memset(k, 0, offsetof(WendSideCodec, symbols));
    k->kind = kind;
    for (size_t i = 0; i < WEND_SIDE_PLACES; i++) {
        range_contexts_init(&k->steps[i].same, 1);
        range_contexts_init(&k->follows[i].same, 1);
    }
    range_contexts_init(k->which, WEND_SIDE_WHICH);
    side_number_init(&k->step_number);
    for (size_t i = 0; i < WEND_SIDE_MODELS; i++)
        side_number_init(&k->numbers[i]);
    for (size_t i = 0; i < WEND_SIDE_CODES; i++)
        range_contexts_init(&k->units[i].same, 1);
    for (size_t i = 0; i < WEND_SIDE_TEXTS; i++)
        range_contexts_init(&k->texts[i].same, 1);
    side_number_init(&k->text_length);
    side_number_init(&k->data.length);
    range_contexts_init(k->data.right[0][0], 4 * WEND_SIDE_COLUMNS);
    range_contexts_init(k->data.byte[0], WEND_SIDE_COLUMNS * 256);
}

void side_codec_copy(WendSideCodec *k, const WendSideCodec *from)
{
    if (from->kind->symbols) {
        k->kind = from->kind;
        k->step_number = from->step_number;
        k->symbols = from->symbols;
    } else {
        memcpy(k, from, offsetof(WendSideCodec, symbols));
    }
}

void side_codec_again(WendSideCodec *k)
{
    memset(k->symbols.recent, 0, sizeof k->symbols.recent);
}

/* A number below N, a power of 2, for two keys. */
unsigned side_codec_hash(uint64_t a, uint64_t b, unsigned n)
{
    uint64_t mixed = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xd6e8feb86659fd93);
    return (unsigned)(mixed >> 40) & (n - 1);
}

uint64_t side_number(const RangeCoder *c, WendSideNumber *m, uint64_t number)
{
    unsigned length =
        (unsigned)range_coder_tree(c, range_coder_length(number), LENGTH_BITS, m->length);
    if (length <= 1 || length > 64)
        return length & 1; /* longer than 64 bits: damaged, and as good as any */
    unsigned below = length - 1, top = below < TOP_BITS ? below : TOP_BITS;
    below -= top;
    uint64_t high = UINT64_C(1) << top
                    | range_coder_tree(c, number >> below & ((1u << top) - 1), top, m->top[length]);
    return high << below | range_coder_plain(c, number, below);
}

/* -- where it comes, and what it is -- */

static uint64_t code_step(WendSideCodec *k, const RangeCoder *c, uint64_t step)
{
    unsigned place = side_codec_hash(k->before[0], k->before[1], WEND_SIDE_PLACES);
    if (range_coder_bit(c, step == k->steps[place].step, &k->steps[place].same))
        return k->steps[place].step;
    return k->steps[place].step = side_number(c, &k->step_number, step);
}

static unsigned code_which(WendSideCodec *k, const RangeCoder *c, uint64_t step, unsigned which)
{
    unsigned place = side_codec_hash(k->before[0], step, WEND_SIDE_PLACES);
    if (range_coder_bit(c, which == k->follows[place].which, &k->follows[place].same))
        return k->follows[place].which;
    return k->follows[place].which = (uint32_t)range_coder_tree(c, which, WHICH_BITS, k->which);
}

/* -- numbers -- */

static void note_bits(uint32_t *bits, uint64_t number)
{
    *bits += range_coder_length(number) - *bits / 16;
}

/* Codes a number of element WHICH at the place KEY. */
static uint64_t code_value(WendSideCodec *k, const RangeCoder *c, unsigned which, unsigned column,
                           uint64_t key, uint64_t value)
{
    uint64_t *last = &k->last[which][column];
    unsigned place = side_codec_hash(key, column, WEND_SIDE_PLACES);
    uint64_t before = k->trends[place].difference, difference = value - *last;
    uint32_t *bits = k->trends[place].bits;
    bool trend = bits[1] < bits[0];
    WendSideNumber *model = &k->numbers[side_codec_hash(key, column + 8 * trend, WEND_SIDE_MODELS)];
    uint64_t left =
        side_number(c, model, buf_zigzag((int64_t)(trend ? difference - before : difference)));
    difference = (uint64_t)buf_unzigzag(left) + (trend ? before : 0);
    note_bits(&bits[0], buf_zigzag((int64_t)difference));
    note_bits(&bits[1], buf_zigzag((int64_t)(difference - before)));
    k->trends[place].difference = difference;
    return *last += difference;
}

/* -- seconds -- */

/* What MPI libraries make of the time: the number n stands for … */
typedef enum {
    UNIT_PRODUCT,     /* n / 10^9 + n % 10^9 * 1e-9 */
    UNIT_QUOTIENT,    /* n / 10^9 + n % 10^9 / 1e9 */
    UNIT_NANOSECONDS, /* n / 1e9 */
    UNIT_SCALED,      /* n * 1e-9 */
    UNIT_MICRO,       /* n / 1e6 */
    UNIT_MICRO_SUM,   /* n / 10^6 + n % 10^6 * 1e-6 */
    UNIT_RAW,         /* the double with the bits n */
    UNITS
} Unit;
_Static_assert(UNITS <= 1 << UNIT_BITS, "number of bits");

static double bits_to_seconds(uint64_t n)
{
    double seconds;
    memcpy(&seconds, &n, sizeof seconds);
    return seconds;
}

static double seconds_of(Unit unit, uint64_t n)
{
    const uint64_t billion = 1000000000, million = 1000000;
    volatile double part; /* is rounded before it is added, also where products can be fused */
    switch (unit) {
    case UNIT_PRODUCT:
        part = (double)(n % billion) * 1e-9;
        return (double)(n / billion) + part;
    case UNIT_QUOTIENT:
        part = (double)(n % billion) / 1e9;
        return (double)(n / billion) + part;
    case UNIT_NANOSECONDS:
        return (double)n / 1e9;
    case UNIT_SCALED:
        return (double)n * 1e-9;
    case UNIT_MICRO:
        return (double)n / 1e6;
    case UNIT_MICRO_SUM:
        part = (double)(n % million) * 1e-6;
        return (double)(n / million) + part;
    default:
        return bits_to_seconds(n);
    }
}

/* Sets *N to the number that stands for SECONDS in UNIT. False: there is none. */
static bool number_of(Unit unit, double seconds, uint64_t *n)
{
    const double most = 9e9; /* nanoseconds then fit into 63 bits */
    if (unit == UNIT_RAW) {
        memcpy(n, &seconds, sizeof *n);
        return true;
    }
    if (!(seconds >= 0 && seconds < most))
        return false;
    uint64_t whole = (uint64_t)seconds;
    double part = seconds - (double)whole;
    *n = unit == UNIT_MICRO || unit == UNIT_MICRO_SUM
             ? whole * 1000000 + (uint64_t)(part * 1e6 + 0.5)
             : whole * 1000000000 + (uint64_t)(part * 1e9 + 0.5);
    double again = seconds_of(unit, *n);
    return memcmp(&again, &seconds, sizeof again) == 0;
}

static double code_seconds(WendSideCodec *k, const RangeCoder *c, unsigned which, uint64_t key,
                           double seconds)
{
    unsigned code = which / WEND_SIDE_SUBS;
    uint32_t *unit = &k->units[code].form;
    uint64_t n = 0;
    uint32_t wanted = *unit;
    if (c->encoder && !number_of((Unit)wanted, seconds, &n))
        for (wanted = 0; !number_of((Unit)wanted, seconds, &n);)
            wanted++;
    if (!range_coder_bit(c, wanted == *unit, &k->units[code].same)) {
        *unit = (uint32_t)range_coder_plain(c, wanted, UNIT_BITS);
        if (*unit >= UNITS)
            *unit = UNIT_RAW; /* damaged */
    }
    return seconds_of((Unit)*unit, code_value(k, c, which, 0, key, n));
}

/* -- bytes -- */

static void code_bytes(WendSideCodec *k, const RangeCoder *c, WendSideElement *e)
{
    unsigned text = e->code % WEND_SIDE_TEXTS;
    uint32_t *n = &k->texts[text].n;
    uint8_t *last = k->texts[text].bytes;
    bool same = c->encoder && e->n_bytes == *n && memcmp(e->bytes, last, *n) == 0;
    if (range_coder_bit(c, same, &k->texts[text].same)) {
        e->n_bytes = *n;
        memcpy(e->bytes, last, *n);
        return;
    }
    uint64_t length = side_number(c, &k->text_length, e->n_bytes);
    e->n_bytes = length < WEND_SIDE_BYTES ? (unsigned)length : WEND_SIDE_BYTES;
    for (unsigned i = 0; i < e->n_bytes; i++)
        e->bytes[i] = (uint8_t)range_coder_plain(c, e->bytes[i], 8);
    if (e->n_bytes <= WEND_SIDE_TEXT)
        memcpy(last, e->bytes, *n = e->n_bytes);
}

/* -- data -- */

/* Codes a byte that is guessed to be GUESS. */
static uint8_t code_guessed(const RangeCoder *c, uint8_t byte, uint8_t guess, RangeContext *right,
                            RangeContext *contexts)
{
    if (range_coder_bit(c, byte == guess, right))
        return guess;
    return (uint8_t)range_coder_tree(c, byte, 8, contexts);
}

/* Two guesses: the byte at the same place of the last data, and the one LANES before. The one that
 * was right more often lately counts. */
static void code_data(WendSideCodec *k, const RangeCoder *c, WendSideElement *e, uint64_t key)
{
    enum { SCORE = 1 << 12, FADE = 4 };
    WendSideData *d = &k->data;
    unsigned place = side_codec_hash(key, k->before[0], WEND_SIDE_DATA),
             score[2] = {SCORE / 2, SCORE / 2};
    uint8_t *last = d->last[place].bytes;
    uint64_t n = d->last[place].n
                 + (uint64_t)buf_unzigzag(side_number(
                     c, &d->length, buf_zigzag((int64_t)e->n_bytes - d->last[place].n)));
    e->n_bytes = n < WEND_SIDE_BYTES ? (unsigned)n : WEND_SIDE_BYTES;
    bool hit = false;
    for (unsigned i = 0; i < e->n_bytes; i++) {
        unsigned column = i % WEND_SIDE_COLUMNS;
        uint8_t guess[2] = {last[i], i < WEND_SIDE_COLUMNS ? 0 : e->bytes[i - WEND_SIDE_COLUMNS]};
        unsigned way = score[1] > score[0];
        e->bytes[i] =
            code_guessed(c, e->bytes[i], guess[way], &d->right[way][hit][column], d->byte[column]);
        hit = e->bytes[i] == guess[way];
        for (unsigned g = 0; g < 2; g++)
            score[g] += (e->bytes[i] == guess[g] ? SCORE >> FADE : 0) - (score[g] >> FADE);
    }
    memcpy(last, e->bytes, e->n_bytes);
    d->last[place].n = e->n_bytes;
}

/* -- symbols -- */

bool side_guess_holds(const RangeCoder *c, WendSideGuess *g, RangeContext *holds, uint64_t *value)
{
    if (!g->known || !range_coder_bit(c, *value == g->value, &holds[g->trust])) {
        g->trust = 0;
        return false;
    }
    *value = g->value;
    g->trust += g->trust + 1 < WEND_SIDE_TRUST;
    return true;
}

void side_guess_note(WendSideGuess *g, uint64_t value)
{
    if (g->known && g->value == value)
        return;
    g->known = true;
    g->value = value;
}

/* Codes a symbol without a prediction. */
static uint64_t code_new_symbol(WendSideCodec *k, const RangeCoder *c, uint64_t symbol)
{
    if (range_coder_bit(c, symbol == k->symbols.seen, &k->symbols.is_new))
        return k->symbols.seen;
    uint64_t distance = buf_zigzag((int64_t)(symbol - k->symbols.last));
    return k->symbols.last + (uint64_t)buf_unzigzag(side_number(c, &k->symbols.distance, distance));
}

/* Whether G predicts something that A and B do not. */
static bool is_other(const WendSideGuess *g, const WendSideGuess *a, const WendSideGuess *b)
{
    return g->known && !(a->known && a->value == g->value) && !(b->known && b->value == g->value);
}

/* Codes a symbol by what came after the last three symbols, then by the last two that came after
 * the last symbol. A prediction that has failed already is not made again. */
static uint64_t code_symbol(WendSideCodec *k, const RangeCoder *c, unsigned code, uint64_t symbol)
{
    const uint64_t *recent = k->symbols.recent;
    const WendSideGuess none = {0, false, 0};
    uint64_t behind = recent[1] + recent[2] * UINT64_C(0xff51afd7ed558ccd);
    unsigned at = side_codec_hash(recent[0], code, WEND_SIDE_GUESSES);
    WendSideGuess *far =
        &k->symbols.far[side_codec_hash(recent[0] + behind * 31, code, WEND_SIDE_GUESSES)];
    WendSideGuess *near = &k->symbols.near[at], *older = &k->symbols.older[at];
    bool held =
        side_guess_holds(c, far, k->symbols.far_holds, &symbol)
        || (is_other(near, far, &none) && side_guess_holds(c, near, k->symbols.near_holds, &symbol))
        || (is_other(older, far, near)
            && side_guess_holds(c, older, k->symbols.older_holds, &symbol));
    if (!held)
        symbol = code_new_symbol(k, c, symbol);
    side_guess_note(far, symbol);
    if (near->known && near->value != symbol)
        side_guess_note(older, near->value);
    side_guess_note(near, symbol);
    return symbol;
}

static uint64_t code_symbol_step(WendSideCodec *k, const RangeCoder *c, uint64_t key, uint64_t step)
{
    WendSideGuess *guess =
        &k->symbols.steps[side_codec_hash(key, k->symbols.recent[0], WEND_SIDE_GUESSES)];
    if (!side_guess_holds(c, guess, k->symbols.step_holds, &step))
        step = side_number(c, &k->step_number, step);
    side_guess_note(guess, step);
    return step;
}

/* Codes an element that is a symbol: its code, the symbol, the step. */
static bool code_symbol_element(WendSideCodec *k, const RangeCoder *c, WendSideElement *e)
{
    enum { SYMBOL_BITS = 31, CODE_BITS = 2 };
    uint64_t *recent = k->symbols.recent;
    RangeContext *is_first = &k->symbols.is_first[recent[0] & (WEND_SIDE_TRUST - 1)];
    if (range_coder_bit(c, e->code == 0, is_first))
        e->code = 0;
    else
        e->code = range_coder_bit(c, e->code == 1, &k->symbols.is_next) ? 1 : 2;
    uint64_t symbol = code_symbol(k, c, e->code, (uint64_t)e->numbers[0]);
    if (e->code >= k->kind->n_forms || symbol >> SYMBOL_BITS)
        return false;
    uint64_t key = symbol << CODE_BITS | (e->code + 1);
    e->numbers[0] = (int64_t)symbol;
    e->step = e->code == 0 ? 0 : code_symbol_step(k, c, key, e->step);
    if (symbol >= k->symbols.seen)
        k->symbols.seen = symbol + 1;
    k->symbols.last = symbol;
    memmove(recent + 1, recent, (WEND_SIDE_RECENT - 1) * sizeof *recent);
    recent[0] = key;
    return true;
}

/* -- elements -- */

static bool code_element(WendSideCodec *k, const RangeCoder *c, WendSideElement *e)
{
    if (k->kind->symbols)
        return code_symbol_element(k, c, e);
    e->step = code_step(k, c, e->step);
    unsigned which = code_which(k, c, e->step, e->code * WEND_SIDE_SUBS + e->sub);
    e->code = which / WEND_SIDE_SUBS;
    e->sub = which % WEND_SIDE_SUBS;
    if (e->code >= k->kind->n_forms)
        return false;
    const WendSideForm *form = &k->kind->forms[e->code];
    uint64_t key = which | e->step << WHICH_BITS;
    if (form->seconds)
        e->seconds = code_seconds(k, c, which, key, e->seconds);
    else if (form->data)
        code_data(k, c, e, key);
    else if (form->numbers == 0)
        code_bytes(k, c, e);
    else
        for (unsigned i = 0; i < form->numbers; i++)
            e->numbers[i] = (int64_t)code_value(k, c, which, i, key, (uint64_t)e->numbers[i]);
    k->before[1] = k->before[0];
    k->before[0] = key;
    return true;
}

void side_codec_encode(WendSideCodec *k, RangeEncoder *to, WendSideElement *e)
{
    code_element(k, &(RangeCoder){.encoder = to}, e);
}

bool side_codec_decode(WendSideCodec *k, RangeDecoder *from, WendSideElement *e)
{
    e->step = e->code = e->sub = e->n_bytes = 0;
    memset(e->numbers, 0, sizeof e->numbers);
    return code_element(k, &(RangeCoder){.decoder = from}, e) && !from->c->failed;
}
