/* SPDX-License-Identifier: BSD-3-Clause */
/* hashed.h: the calls of a sequence as a string whose parts are compared by hash, without expanding
 * the grammar.
 *
 * An object takes time and memory in proportion to the grammar. A query takes the depth of the
 * grammar times the logarithm of its repetition counts, whatever the number of calls. */
#ifndef WEND_DIFF_HASHED_H
#define WEND_DIFF_HASHED_H

#include <glib.h>

#include "lib/read/program.h"
#include "polynomial.h"

typedef struct Hashed Hashed;

/* The string of the expansion of RULE. KEYS gives a key for each terminal. Calls count as equal if
 * their keys are equal, and a terminal with key 0 is left out and has no position. KEYS belongs to
 * the caller and must outlive the object. Hashes of objects with equal POINTS are comparable. The
 * caller frees it with hashed_free. */
Hashed *hashed_new(const WendProgram *p, guint rule, const guint32 *keys,
                   const guint64 points[POINTS]);
void hashed_free(Hashed *h);
guint64 hashed_length(const Hashed *h);
guint32 hashed_terminal(const Hashed *h, guint64 at);
guint32 hashed_key(const Hashed *h, guint64 at);
/* The number of the call at position AT in its sequence. Calls that are left out have numbers,
 * too. */
guint64 hashed_index(const Hashed *h, guint64 at);
Hash hashed_part(const Hashed *h, guint64 first, guint64 n);
/* The number of calls at the beginning of A from I on and B from J on that are equal, at most
 * MOST. */
guint64 hashed_common(const Hashed *a, guint64 i, const Hashed *b, guint64 j, guint64 most);
/* The number of calls at the end of A up to I and B up to J that are equal, at most MOST. */
guint64 hashed_common_end(const Hashed *a, guint64 i, const Hashed *b, guint64 j, guint64 most);

/* The hash of one call, of TERMINAL. */
Hash hashed_call(const Hashed *h, guint32 terminal);

/* A symbol of the grammar that begins at a position, or has a repetition that does. */
typedef struct {
    guint64 length; /* calls in one repetition */
    guint64 times;  /* repetitions from the position on */
    gboolean is_rule;
    guint32 id;
} HashedSymbol;
/* A way down from the start rule to the call at a position. */
typedef struct {
    guint32 id; /* a rule, and the position in it; or the call's terminal */
    guint64 at;
    gboolean is_terminal;
} HashedPlace;
HashedPlace hashed_place(const Hashed *h, guint64 at);
/* Goes down to the next symbol that begins at the position: from the outermost one to the terminal.
 * Returns FALSE below the terminal. */
gboolean hashed_next_symbol(const Hashed *h, HashedPlace *place, HashedSymbol *symbol);

#endif
