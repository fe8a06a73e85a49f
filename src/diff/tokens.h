/* SPDX-License-Identifier: BSD-3-Clause */
/* tokens.h: a string of calls as a list of single calls and loops. */
#ifndef WEND_DIFF_TOKENS_H
#define WEND_DIFF_TOKENS_H

#include <glib.h>

#include "hashed.h"

typedef struct {
    /* TIMES repetitions of the PERIOD calls from AT on; a single call has 1 and 1 */
    guint64 at, period, times;
    Hash hash;        /* of one repetition */
    guint32 terminal; /* of a single call */
} Token;

/* The tokens of the calls from FROM up to TO, without gaps. A loop begins as early as possible and
 * has the shortest period, so equal calls give equal tokens, however the grammar represents them.
 * Of nested loops the outermost one is the token. NULL if there would be too many tokens. The
 * caller frees the array. */
GArray *tokens_of(const Hashed *h, guint64 from, guint64 to);

/* How often the calls from FROM up to TO contain the N calls with the hash BLOCK, whose first call
 * has the hash FIRST. It counts iterations of loops at any depth, and single occurrences. 0 if
 * tokens_of returns NULL. */
guint64 tokens_count(const Hashed *h, guint64 from, guint64 to, guint64 n, const Hash *first,
                     const Hash *block);

/* The shortest period of the N calls from AT on that divides PERIOD. PERIOD is a period of them. */
guint64 tokens_primitive(const Hashed *h, guint64 at, guint64 period, guint64 n);

#endif
