/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-order.c: see thread-order.h. */
#include "config.h"

#include "thread-order.h"

#include "base/byte-table.h"

enum { SEQUENCES_MOST = 256, CHANNEL_MEMORY = 192 };

typedef struct {
    ChannelKey channel;
    guint64 sends; /* FALSE or TRUE; of 8 bytes, since keys have no padding */
} UseKey;
/* The last use of a channel. */
typedef struct {
    guint64 step; /* of its sequence, from 1; 0: never used */
    guint sequence;
    gboolean unsure;
} Use;

struct ThreadOrder {
    guint n, most;
    guint64 *clocks; /* N x N: what each sequence knows of each */
    GHashTable *uses;
};

guint64 thread_order_memory(guint n, guint most)
{
    guint64 clocks = n <= SEQUENCES_MOST ? (guint64)n * n * sizeof(guint64) : 0;
    return clocks + (guint64)most * CHANNEL_MEMORY;
}

ThreadOrder *thread_order_new(guint n, guint most)
{
    ThreadOrder *t = g_new0(ThreadOrder, 1);
    t->n = n;
    t->most = most;
    if (n <= SEQUENCES_MOST)
        t->clocks = g_new0(guint64, (gsize)n * n);
    t->uses = wend_byte_entries_new(g_free);
    return t;
}

void thread_order_free(ThreadOrder *t)
{
    if (t == NULL)
        return;
    g_free(t->clocks);
    g_hash_table_destroy(t->uses);
    g_free(t);
}

void thread_order_after(ThreadOrder *t, guint later, guint earlier)
{
    if (t->clocks == NULL || later == earlier)
        return;
    guint64 *to = &t->clocks[(gsize)later * t->n];
    const guint64 *from = &t->clocks[(gsize)earlier * t->n];
    for (guint i = 0; i < t->n; i++)
        to[i] = MAX(to[i], from[i]);
}

gboolean thread_order_use(ThreadOrder *t, guint sequence, const ChannelKey *key, gboolean sends)
{
    const UseKey with = {*key, sends != FALSE};
    if (t->clocks == NULL
        || (g_hash_table_size(t->uses) >= t->most
            && !wend_byte_number_known(t->uses, &with, sizeof with)))
        return FALSE;
    Use *use = wend_byte_entry(t->uses, &with, sizeof with, sizeof *use);
    guint64 *clock = &t->clocks[(gsize)sequence * t->n];
    if (use->step > 0 && use->sequence != sequence && clock[use->sequence] < use->step)
        use->unsure = TRUE;
    use->step = ++clock[sequence];
    use->sequence = sequence;
    return !use->unsure;
}
