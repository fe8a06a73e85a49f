/* SPDX-License-Identifier: BSD-3-Clause */
/* tokens.h: a string of calls as a row of single calls and loops. */
#ifndef WEND_DIFF_TOKENS_H
#define WEND_DIFF_TOKENS_H

#include <glib.h>

#include "hashed.h"

typedef struct {
    guint64 at, period, times; /* TIMES repetitions of the PERIOD calls from AT on; a call: 1, 1 */
    Hash hash;                 /* of one repetition */
} Token;

/* Those of the calls from FROM up to TO: they follow each other without gaps. A loop begins as
 * early as it can and has no shorter period, so that equal calls give equal tokens however the
 * grammar has them. Of nested loops the outermost is one. NULL: there would be too many. */
GArray *tokens_of(const Hashed *h, guint64 from, guint64 to);

/* How often the calls from FROM up to TO have the N calls that hash to BLOCK, the first of which
 * hashes to FIRST: as iterations of loops, at any depth, and by themselves. 0 where tokens_of gives
 * NULL. */
guint64 tokens_count(const Hashed *h, guint64 from, guint64 to, guint64 n, const Hash *first,
                     const Hash *block);

/* The shortest period of the N calls from AT on that have PERIOD, of those by which PERIOD can be
 * divided. */
guint64 tokens_primitive(const Hashed *h, guint64 at, guint64 period, guint64 n);

#endif
