/* SPDX-License-Identifier: BSD-3-Clause */
/* side-codec.h: codes the elements of a side stream (docs/side-streams.md, "Side streams").
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
 * - data, byte by byte, from the last data at this place, or from the number before in the data;
 * - a symbol, a small number that names something, from what came after the last elements.
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
    /* Elements are symbols: each has one number, which is below 2^31, and no sub-code. An element
     * of code 0 has the step 0. Symbols are numbered by first occurrence, or nearly so. */
    bool symbols;
    /* What the symbols mean is in a table before the rows (side-stream.h). */
    bool tabled;
    /* Ranks that run the same code have the same streams, which the archive has once
     * (merge/shared-sides.h). Larger streams of a rank than so many bytes are seldom those of
     * another rank, and become a member of its own, as those of all other kinds (0). */
    size_t shared_most;
    bool replayed; /* wend replay gives the elements back */
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
    WEND_SIDE_DATA = 8,       /* data whose last bytes are known */
    WEND_SIDE_COLUMNS = 8,    /* bytes of the longest number in data */
    WEND_SIDE_RECENT = 3,     /* symbols that one is predicted from */
    WEND_SIDE_GUESSES = 1024, /* predicted symbols, and steps */
    WEND_SIDE_TRUST = 4       /* levels of trust in a prediction */
};

/* A predicted symbol or step. */
typedef struct {
    uint64_t value;
    bool known;
    uint8_t trust; /* how often it was right lately */
} WendSideGuess;

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
                      [WEND_SIDE_COLUMNS]; /* by guess, whether the one before was right, column */
    RangeContext byte[WEND_SIDE_COLUMNS][256];
    WendSideNumber length;
} WendSideData;

/* What an encoder or a decoder has learned. About 230 KB, without pointers to other memory of its
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
    /* Of a kind with symbols. */
    struct {
        uint64_t
            recent[WEND_SIDE_RECENT]; /* the last symbols, with their codes; the last is first */
        uint64_t seen;                /* one more than the largest symbol */
        uint64_t last;
        WendSideGuess far[WEND_SIDE_GUESSES], steps[WEND_SIDE_GUESSES];
        WendSideGuess near[WEND_SIDE_GUESSES], older[WEND_SIDE_GUESSES];
        RangeContext is_first[WEND_SIDE_TRUST], is_next, is_new;
        RangeContext far_holds[WEND_SIDE_TRUST], near_holds[WEND_SIDE_TRUST];
        RangeContext older_holds[WEND_SIDE_TRUST];
        RangeContext step_holds[WEND_SIDE_TRUST];
        WendSideNumber distance;
    } symbols;
} WendSideCodec;

void side_number_init(WendSideNumber *n);
/* Codes NUMBER with the model, or returns the number that was coded. */
uint64_t side_number(const RangeCoder *c, WendSideNumber *model, uint64_t number);
/* Codes whether the prediction G holds for *VALUE, with one of WEND_SIDE_TRUST contexts HOLDS. A
 * decoder gets *VALUE if it does. False: it does not hold, or there is none; the caller codes the
 * value and then notes it. */
bool side_guess_holds(const RangeCoder *c, WendSideGuess *g, RangeContext *holds, uint64_t *value);
void side_guess_note(WendSideGuess *g, uint64_t value);
/* A number below N, a power of two, for two numbers. */
unsigned side_codec_hash(uint64_t a, uint64_t b, unsigned n);
void side_codec_init(WendSideCodec *k, const WendSideKind *kind);
/* Makes K what FROM is. */
void side_codec_copy(WendSideCodec *k, const WendSideCodec *from);
/* Another stream of symbols begins: what was learned stays. */
void side_codec_again(WendSideCodec *k);
/* Appends E, whose code and lengths are within the bounds above. E stays as it is. */
void side_codec_encode(WendSideCodec *k, RangeEncoder *to, WendSideElement *e);
/* Reads an element. False: there is no such element, so the bytes are damaged. */
bool side_codec_decode(WendSideCodec *k, RangeDecoder *from, WendSideElement *e);

#endif
