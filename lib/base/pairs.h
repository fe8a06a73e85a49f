/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h: terminals of two sequences that meet, numbered by first meeting. */
#ifndef WEND_PAIRS_H
#define WEND_PAIRS_H

#include <glib.h>

/* To walk over two sequences takes about 50 ns a call, at each step of the merge: longer ones stay
 * as they are. */
enum { PAIRS_LENGTH_MAX = 1 << 22 };

#define PAIR_NONE G_MAXUINT32 /* in place of a terminal: the other one's call is not made there */

typedef struct {
    GHashTable *numbers; /* a << 32 | b -> number + 1 */
    GArray *of[2];       /* guint32, by number */
    /* by terminal of a, and behind them by PAIR_NONE: its pair that came last, + 1 */
    guint32 n_a, *last;
} Pairs;

Pairs pairs_new(guint32 n_a); /* a has so many terminals */
guint32 pairs_number(Pairs *p, guint32 a, guint32 b);
static inline guint pairs_count(const Pairs *p)
{
    return p->of[0]->len;
}
void pairs_clear(Pairs *p);

#endif
