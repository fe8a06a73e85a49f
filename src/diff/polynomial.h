/* SPDX-License-Identifier: BSD-3-Clause */
/* polynomial.h: hashes of strings of symbols. The hash of a string follows from the hashes of its
 * parts: polynomials modulo 2^61 - 1 at two random points (R. M. Karp and M. O. Rabin, "Efficient
 * randomized pattern-matching algorithms", 1987). Different strings of N symbols have equal hashes
 * with a probability below N / 2^120. */
#ifndef WEND_DIFF_POLYNOMIAL_H
#define WEND_DIFF_POLYNOMIAL_H

#include <glib.h>

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

#endif
