/* SPDX-License-Identifier: BSD-3-Clause */
/* types.h: structs of a recording that writers and readers share. */
#ifndef WEND_TYPES_H
#define WEND_TYPES_H

#include <glib.h>

#include "words.h"

typedef struct {
    gboolean is_rule;
    guint32 id; /* rule or terminal */
    guint64 repeats;
} WendSymbol;

typedef struct {
    guint n;
    const WendSymbol *symbols;
    guint64 length; /* terminals in one expansion */
} WendRule;

typedef struct {
    guint64 count;
    double mean, min, max, stddev; /* seconds */
} WendTiming;

typedef enum wend_sequence_kind WendSequenceKind; /* words.h */

#endif
