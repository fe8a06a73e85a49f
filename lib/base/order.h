/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h: sorts indices by their keys, in time linear in their number. */
#ifndef WEND_ORDER_H
#define WEND_ORDER_H

#include <glib.h>

/* Sets ORDER to 0, 1, …, N - 1. */
void order_begin(guint32 *order, guint n);

/* Sorts ORDER, N indices into KEYS, by ascending keys; the sort is stable. A radix sort, the lowest
 * eight bits first (Knuth, The Art of Computer Programming 3, 5.2.5). It takes as many passes as
 * the largest key has bytes, and none if ORDER is sorted. */
void order_by_keys(guint32 *order, const guint32 *keys, guint n);

#endif
