/* SPDX-License-Identifier: BSD-3-Clause */
/* duration-model.h: codes a symbol for each duration and each interval, in the context of where in
 * the program the call is: its place, and the place of the call before. So a loop has a context for
 * each of its calls, and calls that look alike in different loops have different ones, which the
 * Pilgrim paper (section 4.5) asks for. Intervals of neighbours in a loop stay apart, too. */
#ifndef WEND_DURATION_MODEL_H
#define WEND_DURATION_MODEL_H

#include "base/range-coder.h"

typedef enum { DURATION_OF_CALL, INTERVAL_BEFORE_CALL, DURATION_KINDS } DurationKind;

enum {
    DURATION_SYMBOL_BITS = 12, /* of a symbol, at most */
    DURATION_PLACED_BITS = 9,  /* the highest ones have contexts by place */
    DURATION_PLACED = 1 << 14
};

/* A bit of a symbol is coded in the first of these contexts that has seen some calls: by place and
 * place before, by place, by neither. All three learn. */
typedef struct {
    unsigned bits; /* of a symbol */
    uint32_t before[DURATION_KINDS];
    RangeContext paired[2 * DURATION_PLACED], placed[DURATION_PLACED];
    RangeContext any[DURATION_KINDS][1 << DURATION_SYMBOL_BITS];
} DurationModel;

/* Symbols are below SYMBOLS. */
void duration_model_init(DurationModel *m, unsigned symbols);
/* Codes SYMBOL, or reads a symbol, which may be SYMBOLS or more if the bytes are damaged. */
unsigned duration_model_code(DurationModel *m, const RangeCoder *c, DurationKind kind,
                             uint32_t place, unsigned symbol);

#endif
