/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: sorts numbers by keys of bytes, digit by digit. */
#include "order.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

void order_begin(guint32 *order, guint n)
{
    for (guint i = 0; i < n; i++)
        order[i] = i;
}

/* Sorts the N indices at FROM by the eight bits of their keys from bit SHIFT on, into TO. */
static void pass(const guint32 *from, guint32 *to, const guint32 *keys, guint n, guint shift)
{
    guint32 start[DIGITS] = {0}, sum = 0;
    for (guint i = 0; i < n; i++)
        start[keys[from[i]] >> shift & (DIGITS - 1)]++;
    for (guint d = 0; d < DIGITS; d++) {
        guint32 count = start[d];
        start[d] = sum;
        sum += count;
    }
    for (guint i = 0; i < n; i++)
        to[start[keys[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

void order_by_keys(guint32 *order, const guint32 *keys, guint n)
{
    guint32 largest = 0;
    gboolean ascends = TRUE;
    for (guint i = 0; i < n; i++) {
        if (keys[order[i]] < largest)
            ascends = FALSE;
        largest = MAX(largest, keys[order[i]]);
    }
    if (ascends)
        return;
    g_autofree guint32 *other = g_new(guint32, n);
    guint32 *from = order, *to = other;
    for (guint shift = 0; shift < 32 && largest >> shift; shift += DIGIT_BITS) {
        pass(from, to, keys, n, shift);
        guint32 *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != order)
        memcpy(order, from, n * sizeof *order);
}
