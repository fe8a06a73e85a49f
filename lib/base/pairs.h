/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h: numbers for pairs of terminals, one of each of two sequences, by first occurrence. */
#ifndef WEND_PAIRS_H
#define WEND_PAIRS_H

#include <glib.h>

/* Sequences with more calls than this are not paired: a walk over two sequences takes about 50 ns
 * a call in each step of the merge. */
enum { PAIRS_LENGTH_MAX = 1 << 22 };

#define PAIR_NONE G_MAXUINT32 /* in place of a terminal: only the other sequence makes the call */

typedef struct {
    GHashTable *numbers; /* a << 32 | b -> number + 1 */
    GArray *of[2];       /* guint32, the terminal of a and that of b, by number */
    /* by terminal of a, with PAIR_NONE as number n_a: 1 + its last pair, or 0 */
    guint32 n_a, *last;
} Pairs;

Pairs pairs_new(guint32 n_a); /* N_A: the number of terminals of a */
guint32 pairs_number(Pairs *p, guint32 a, guint32 b);
static inline guint pairs_count(const Pairs *p)
{
    return p->of[0]->len;
}
void pairs_clear(Pairs *p);

#endif
