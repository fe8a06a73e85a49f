/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h: the order of places by what is at each, in time linear in their number. */
#ifndef WEND_ORDER_H
#define WEND_ORDER_H

#include <glib.h>

/* ORDER: 0, 1, …, N - 1. */
void order_begin(guint32 *order, guint n);

/* Rearranges ORDER, N indices into KEYS, so that their keys ascend; places of equal keys stay in
 * the order they have. A radix sort, the lowest eight bits first (Knuth, The Art of Computer
 * Programming 3, 5.2.5): as many passes as the largest key has bytes, none over what is in
 * order. */
void order_by_keys(guint32 *order, const guint32 *keys, guint n);

#endif
