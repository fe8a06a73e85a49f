/* SPDX-License-Identifier: BSD-3-Clause */
/* coder.c: an adaptive binary range coder for rows of numbers (docs/format.md, "DeltaSequence"). */
#include "coder.h"

/* A number is coded as its length in bits, then the bits below its highest one. The length and the
 * TOP_BITS highest of these bits are coded highest bit first, each in the context of the bits
 * before it. The remaining bits are coded as equally likely. */
enum { LENGTH_BITS = 7, LENGTHS = 65, TOP_BITS = 2 };

/* The probability of a 1, in units of 2^-16, and the number of bits seen, up to a limit. */
typedef struct {
    guint16 one, seen;
} Context;
enum { EVEN = 1 << 15, LEAST = 1 << 5, SEEN_MOST = 1022 };

typedef struct {
    Context length[1 << LENGTH_BITS], top[LENGTHS][1 << TOP_BITS];
    guint length_bits;
} Model;

static guint bits_of(guint64 number)
{
    return number ? 64 - (guint)__builtin_clzll(number) : 0;
}

static void model_init(Model *m, guint64 most)
{
    const Context even = {EVEN, 0};
    for (guint i = 0; i < G_N_ELEMENTS(m->length); i++)
        m->length[i] = even;
    for (guint i = 0; i < LENGTHS; i++)
        for (guint k = 0; k < G_N_ELEMENTS(m->top[i]); k++)
            m->top[i][k] = even;
    m->length_bits = bits_of(bits_of(most));
}

static void context_see(Context *c, guint bit)
{
    gint32 one = c->one, away = (bit ? (1 << 16) - one : -one) * 2 / (2 * c->seen + 5);
    c->one = (guint16)CLAMP(one + away, LEAST, (1 << 16) - LEAST);
    if (c->seen < SEEN_MOST)
        c->seen++;
}

/* -- the range: an interval of 2^32, which each bit narrows to its part -- */

enum { RANGE_LEAST = 1 << 24, CODE_BYTES = 4 };

/* The number of bytes that identify an interval of length RANGE, whatever bytes follow: the
 * interval contains a number that is zero behind these bytes, and all numbers that begin with
 * them. */
static guint end_bytes(guint32 range)
{
    return range >= 2 * RANGE_LEAST ? 1 : 2;
}

typedef struct {
    WendBuf *out;
    guint64 low;
    guint32 range;
} Encoder;

/* Propagates a carry through bytes of 0xff. It ends at the first byte at the latest, because the
 * coded fraction is less than 1. */
static void take_carry(Encoder *e)
{
    if (e->low >> 32 == 0)
        return;
    e->low &= G_MAXUINT32;
    for (gsize i = e->out->len; i-- > 0 && ++e->out->data[i] == 0;) {
    }
}

static void put_byte(Encoder *e)
{
    guint8 byte = (guint8)(e->low >> 24);
    wend_buf_bytes(e->out, &byte, 1);
    e->low = e->low << 8 & G_MAXUINT32;
    e->range <<= 8;
}

static void put_bit(Encoder *e, guint bit, guint32 one)
{
    guint32 bound = (e->range >> 16) * one;
    if (!bit)
        e->low += bound;
    e->range = bit ? bound : e->range - bound;
    take_carry(e);
    while (e->range < RANGE_LEAST)
        put_byte(e);
}

static void put_end(Encoder *e)
{
    guint n = end_bytes(e->range);
    e->low += ((guint32)1 << 8 * (CODE_BYTES - n)) - 1;
    take_carry(e);
    for (guint i = 0; i < n; i++)
        put_byte(e);
}

/* LAST is the last CODE_BYTES bytes that were read, CODE their distance from the interval's
 * start. */
typedef struct {
    WendCursor *c;
    gsize taken;
    guint32 code, last, range;
} Decoder;

/* Reads a byte; behind the end of the data it is 0. */
static void get_byte(Decoder *d)
{
    gsize left = (gsize)(d->c->end - d->c->p);
    guint8 byte = d->taken < left ? d->c->p[d->taken] : 0;
    d->code = d->code << 8 | byte;
    d->last = d->last << 8 | byte;
    d->range <<= 8;
    d->taken++;
    if (d->taken > left + CODE_BYTES)
        d->c->failed = true;
}

static guint get_bit(Decoder *d, guint32 one)
{
    guint32 bound = (d->range >> 16) * one;
    guint bit = d->code < bound;
    if (!bit)
        d->code -= bound;
    d->range = bit ? bound : d->range - bound;
    while (d->range < RANGE_LEAST)
        get_byte(d);
    return bit;
}

/* Accepts the bytes that put_end wrote and no others of the interval. So the bytes of no row are
 * the beginning of another's. */
static void get_end(Decoder *d)
{
    guint n = end_bytes(d->range);
    guint32 behind = ((guint32)1 << 8 * (CODE_BYTES - n)) - 1, more = d->last & behind;
    wend_read_bytes(d->c, d->taken - CODE_BYTES + n);
    if (d->code < more || d->code - more > behind)
        d->c->failed = true;
}

/* -- numbers: one function for both directions; an encoder gives bits, a decoder returns them -- */

typedef struct {
    Encoder *encoder;
    Decoder *decoder;
} Coder;

static guint code_bit(const Coder *c, guint bit, Context *context)
{
    guint32 one = context ? context->one : EVEN;
    if (c->encoder)
        put_bit(c->encoder, bit, one);
    else
        bit = get_bit(c->decoder, one);
    if (context)
        context_see(context, bit);
    return bit;
}

/* Codes N bits of a number, the highest first, each in the context of those before it. */
static guint64 code_tree(const Coder *c, guint64 bits, guint n, Context *contexts)
{
    guint at = 1;
    for (guint i = n; i-- > 0;)
        at = at << 1 | code_bit(c, bits >> i & 1, &contexts[at]);
    return at - ((guint64)1 << n);
}

static guint64 code_number(const Coder *c, Model *m, guint64 number)
{
    guint length = (guint)code_tree(c, bits_of(number), m->length_bits, m->length);
    if (length <= 1 || length >= LENGTHS)
        return length; /* 0 and 1 are their own lengths; no number is longer than 64 bits */
    guint below = length - 1, top = MIN(below, TOP_BITS);
    below -= top;
    guint64 all =
        (guint64)1 << top | code_tree(c, number >> below & ((1 << top) - 1), top, m->top[length]);
    for (guint i = below; i-- > 0;)
        all = all << 1 | code_bit(c, number >> i & 1, NULL);
    return all;
}

void coder_encode(const guint64 *numbers, guint64 n, guint64 most, WendBuf *out)
{
    Model m;
    Encoder e = {out, 0, G_MAXUINT32};
    model_init(&m, most);
    for (guint64 i = 0; i < n && !out->failed; i++)
        code_number(&(Coder){.encoder = &e}, &m, numbers[i]);
    put_end(&e);
}

gboolean coder_decode(guint64 *numbers, guint64 n, guint64 most, WendCursor *c)
{
    Model m;
    Decoder d = {.c = c};
    model_init(&m, most);
    for (int i = 0; i < CODE_BYTES; i++)
        get_byte(&d);
    d.range = G_MAXUINT32;
    for (guint64 i = 0; i < n && !c->failed; i++) {
        numbers[i] = code_number(&(Coder){.decoder = &d}, &m, 0);
        if (numbers[i] > most || bits_of(numbers[i]) > bits_of(most))
            c->failed = true;
    }
    get_end(&d);
    return !c->failed;
}
