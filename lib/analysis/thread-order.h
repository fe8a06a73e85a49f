/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-order.h: whether the operations of a rank's threads on a channel have a known order.
 *
 * The recording has the order of each thread's calls, and where threads start and are joined, but
 * not how their calls interleave. Vector clocks over the threads of a rank (Fidge, Mattern) tell
 * which operations are ordered all the same. */
#ifndef WEND_THREAD_ORDER_H
#define WEND_THREAD_ORDER_H

#include <glib.h>

#include "matching-channels.h"

typedef struct ThreadOrder ThreadOrder;

/* Of a rank with N sequences. It remembers at most MOST channels. */
ThreadOrder *thread_order_new(guint n, guint most);
guint64 thread_order_memory(guint n, guint most); /* that it may take, in bytes */
void thread_order_free(ThreadOrder *t);           /* T may be NULL */

/* Sequence LATER goes on after what sequence EARLIER has done so far. */
void thread_order_after(ThreadOrder *t, guint later, guint earlier);
/* SEQUENCE sends or, if SENDS is FALSE, receives on the channel KEY. FALSE: another thread used the
 * channel before, and it is not known that it was before. Also FALSE if there are too many channels
 * to remember. */
gboolean thread_order_use(ThreadOrder *t, guint sequence, const ChannelKey *key, gboolean sends);

#endif
