/* SPDX-License-Identifier: BSD-3-Clause */
/* hashed.h: the calls of a sequence as a string, any two parts of which are compared by hash,
 * without expanding the grammar.
 *
 * What costs: an object takes the time and memory of the grammar, a question the depth of the
 * grammar times the logarithm of its repetition counts, however many calls there are. */
#ifndef WEND_DIFF_HASHED_H
#define WEND_DIFF_HASHED_H

#include <glib.h>

#include "lib/read/program.h"
#include "polynomial.h"

typedef struct Hashed Hashed;

/* The expansion of RULE. KEYS, by terminal: calls count as equal if their keys are; 0: such a
 * terminal is left out, and has no position. KEYS stays the caller's and must live as long. Hashes
 * are comparable between objects with equal POINTS. */
Hashed *hashed_new(const WendProgram *p, guint rule, const guint32 *keys,
                   const guint64 points[POINTS]);
void hashed_free(Hashed *h);
guint64 hashed_length(const Hashed *h);
guint32 hashed_terminal(const Hashed *h, guint64 at);
guint32 hashed_key(const Hashed *h, guint64 at);
/* The number of the call at position AT in its sequence: terminals that are left out have one, too.
 */
guint64 hashed_index(const Hashed *h, guint64 at);
Hash hashed_part(const Hashed *h, guint64 first, guint64 n);
/* How many calls A from I on and B from J on begin with in common, MOST at most. */
guint64 hashed_common(const Hashed *a, guint64 i, const Hashed *b, guint64 j, guint64 most);
/* How many calls A up to I and B up to J end with in common, MOST at most. */
guint64 hashed_common_end(const Hashed *a, guint64 i, const Hashed *b, guint64 j, guint64 most);

/* A symbol of the grammar in which the call at AT begins, or goes on: the outermost one that begins
 * at AT, or the terminal. */
typedef struct {
    guint64 length; /* calls in one repetition */
    guint64 times;  /* repetitions from here on */
    gboolean is_rule;
    guint32 id;
} HashedSymbol;
/* The symbol at AT, LEVEL levels further down than the outermost that begins there. FALSE: a
 * terminal has been given. */
gboolean hashed_symbol(const Hashed *h, guint64 at, guint level, HashedSymbol *symbol);

#endif
