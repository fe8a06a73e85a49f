/* SPDX-License-Identifier: BSD-3-Clause */
/* side-codec.h: codes the elements of a side stream (docs/recording.md, "Side streams").
 *
 * Each part of an element is predicted from the elements before it, and only what differs costs
 * more than a fraction of a bit:
 *
 * - where it comes (step) and what it is (code), from the two elements before: a loop of the
 *   program asks the same in the same places;
 * - a number, from the last number of the same code, and from the last difference at this place;
 * - the seconds of a clock, as the whole number of nanoseconds or microseconds that an MPI library
 *   made them of;
 * - bytes, from the last bytes of the same code;
 * - data, byte by byte, from the last data at this place, or from the number before in the data.
 *
 * What is left is entropy-coded in the context of the place (range-coder.h). Encoder and decoder
 * learn alike, so an element can be decoded only after all elements before it. No GLib. */
#ifndef WEND_SIDE_CODEC_H
#define WEND_SIDE_CODEC_H

#include "base/range-coder.h"

enum {
    WEND_SIDE_CODES = 32,   /* codes are below it */
    WEND_SIDE_SUBS = 16,    /* likewise */
    WEND_SIDE_NUMBERS = 5,  /* most numbers of an element */
    WEND_SIDE_BYTES = 1024, /* most bytes of an element */
};

/* What the elements of one code are. */
typedef struct {
    const char *name;
    unsigned numbers; /* how many an element has; 0: it has bytes */
    bool seconds;     /* the only number is a double: the seconds of a clock */
    bool data;        /* the bytes are those of an array of numbers */
} WendSideForm;

/* A kind of side stream. */
typedef struct {
    const char *name;          /* of its members in the archive, before the rank */
    const WendSideForm *forms; /* by code */
    unsigned n_forms;
} WendSideKind;

typedef struct {
    uint64_t step; /* calls and polls of the sequence between the element before and this one */
    unsigned code;
    unsigned sub;     /* which of several of the code, such as the number of a clock */
    unsigned n_bytes; /* of an element with bytes */
    union {
        int64_t numbers[WEND_SIDE_NUMBERS];
        double seconds;
        uint8_t bytes[WEND_SIDE_BYTES];
    };
} WendSideElement;

enum {
    WEND_SIDE_PLACES = 256,
    WEND_SIDE_WHICH = WEND_SIDE_CODES * WEND_SIDE_SUBS,
    WEND_SIDE_MODELS = 32,
    WEND_SIDE_TEXTS = 8,
    WEND_SIDE_TEXT = 256,
    WEND_SIDE_DATA = 8, /* data whose last bytes are known */
    WEND_SIDE_LANES = 8 /* bytes of the longest number in data */
};

/* The distribution of a number: of its length in bits, and of the bits below its highest one. */
typedef struct {
    RangeContext length[128], top[65][8];
} WendSideNumber;

/* What is learned of data. A byte is guessed in one of two ways. */
typedef struct {
    struct {
        uint32_t n;
        uint8_t bytes[WEND_SIDE_BYTES];
    } last[WEND_SIDE_DATA];
    RangeContext right[2][2]
                      [WEND_SIDE_LANES]; /* by guess, whether the one before was right, lane */
    RangeContext byte[WEND_SIDE_LANES][256];
    WendSideNumber length;
} WendSideData;

/* What an encoder or a decoder has learned. About 150 KB, without pointers to other memory of its
 * own, so that it can be copied. */
typedef struct {
    const WendSideKind *kind;
    uint64_t before[2]; /* the last two elements, as keys */
    struct {
        uint64_t step;
        RangeContext same;
    } steps[WEND_SIDE_PLACES];
    struct {
        uint32_t which;
        RangeContext same;
    } follows[WEND_SIDE_PLACES];
    RangeContext which[WEND_SIDE_WHICH];
    WendSideNumber step_number;
    uint64_t last[WEND_SIDE_WHICH][WEND_SIDE_NUMBERS];
    struct {
        uint64_t difference; /* the last one at this place */
        uint32_t bits[2];    /* what it cost lately without and with that, in 1/16 */
    } trends[WEND_SIDE_PLACES];
    WendSideNumber numbers[WEND_SIDE_MODELS];
    struct {
        uint32_t form;
        RangeContext same;
    } units[WEND_SIDE_CODES]; /* of seconds */
    struct {
        uint32_t n;
        RangeContext same;
        uint8_t bytes[WEND_SIDE_TEXT];
    } texts[WEND_SIDE_TEXTS];
    WendSideNumber text_length;
    WendSideData data;
} WendSideCodec;

void wend_side_codec_init(WendSideCodec *k, const WendSideKind *kind);
/* Appends E, whose code and lengths are within the bounds above. E stays as it is. */
void wend_side_encode(WendSideCodec *k, RangeEncoder *to, WendSideElement *e);
/* Reads an element. False: there is no such element, so the bytes are damaged. */
bool wend_side_decode(WendSideCodec *k, RangeDecoder *from, WendSideElement *e);

#endif
