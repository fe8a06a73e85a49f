/* SPDX-License-Identifier: BSD-3-Clause */
/* hashed.h: the calls of a sequence as a string whose parts are compared by hash, without
 * expanding the grammar.
 *
 * An object takes time and memory in proportion to the grammar. A query takes the depth of the
 * grammar times the logarithm of its repetition counts, whatever the number of calls. */
#ifndef WEND_DIFF_HASHED_H
#define WEND_DIFF_HASHED_H

#include <glib.h>

#include "lib/read/program.h"

/* -- hashes -- */

/* Hashes of strings of symbols. The hash of a string follows from the hashes of its parts:
 * polynomials modulo 2^61 - 1 at two random points (R. M. Karp and M. O. Rabin, "Efficient
 * randomized pattern-matching algorithms", 1987). Different strings of N symbols have equal
 * hashes with a probability below N / 2^120. */

#define MODULUS ((G_GUINT64_CONSTANT(1) << 61) - 1)
#define POINTS 2

/* The hash of a string at each point, and the point to the power of the string's length. */
typedef struct {
    guint64 hash[POINTS], power[POINTS];
} Hash;

static const Hash hash_of_nothing = {{0, 0}, {1, 1}};

static inline guint64 hash_reduce(guint64 x)
{
    x = (x & MODULUS) + (x >> 61);
    return x >= MODULUS ? x - MODULUS : x;
}

static inline guint64 hash_multiply(guint64 a, guint64 b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return hash_reduce((guint64)(product & MODULUS) + (guint64)(product >> 61));
}

/* The hash of A followed by B. */
static inline Hash hash_join(const Hash *a, const Hash *b)
{
    Hash joined;
    for (guint i = 0; i < POINTS; i++) {
        joined.hash[i] = hash_reduce(hash_multiply(a->hash[i], b->power[i]) + b->hash[i]);
        joined.power[i] = hash_multiply(a->power[i], b->power[i]);
    }
    return joined;
}

static inline Hash hash_repeat(Hash base, guint64 times)
{
    Hash result = hash_of_nothing;
    for (; times > 0; times >>= 1) {
        if (times & 1)
            result = hash_join(&result, &base);
        base = hash_join(&base, &base);
    }
    return result;
}

/* Chooses random points. */
static inline void hash_points(guint64 points[POINTS])
{
    for (guint i = 0; i < POINTS; i++)
        points[i] = hash_reduce(((guint64)g_random_int() << 32 | g_random_int()) | 1);
}

/* -- the string of a sequence -- */

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
