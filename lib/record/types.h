/* SPDX-License-Identifier: BSD-3-Clause */
/* types.h: structs of a recording that writers and readers share. */
#ifndef WEND_TYPES_H
#define WEND_TYPES_H

#include "base/containers.h"
#include "words.h"

typedef struct {
    bool is_rule;
    uint32_t id; /* rule or terminal */
    uint64_t repeats;
} WendSymbol;

typedef struct {
    uint32_t n;
    const WendSymbol *symbols;
    uint64_t length; /* terminals in one expansion */
} WendRule;

typedef struct {
    uint64_t count;
    double mean, min, max, stddev; /* seconds */
} WendTiming;

typedef enum sequence_kind WendSequenceKind; /* words.h */

#endif
