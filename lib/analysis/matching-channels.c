/* SPDX-License-Identifier: BSD-3-Clause */
/* matching-channels.c: see matching-channels.h. */
#include "config.h"

#include "matching-channels.h"

#include <string.h>

#include "record/words.h"

struct Channels {
    GHashTable *table; /* Channel, its own key */
    Allowance *allowance;
    guint64 in_flight, most;
};

/* Bytes, with the blocks of the heap and of the tables around them. */
enum {
    CHANNEL_MEMORY = sizeof(Channel) + 64,
    SENT_MEMORY = sizeof(Sent) + 48,
    RECEIVE_MEMORY = sizeof(Receive) + 48
};

static guint key_hash(gconstpointer key)
{
    const ChannelKey *k = key;
    guint h = k->from;
    const guint words[] = {k->to, k->comm, k->lane, (guint)k->tag, (guint)((guint64)k->tag >> 32)};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        h = (h ^ h >> 15) * 2246822519u + words[i];
    return h ^ h >> 13;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(ChannelKey)) == 0;
}

static void channel_free(gpointer data)
{
    Channel *channel = data;
    g_queue_clear(&channel->sends);
    g_queue_clear(&channel->receives);
    g_clear_pointer(&channel->probes, g_array_unref);
    g_free(channel);
}

Channels *channels_new(Allowance *a)
{
    Channels *c = g_new0(Channels, 1);
    c->table = g_hash_table_new_full(key_hash, key_equal, NULL, channel_free);
    c->allowance = a;
    return c;
}

static void free_contents(gpointer data, Channel *channel)
{
    Sent *sent;
    Receive *r;
    while ((sent = g_queue_pop_head(&channel->sends)) != NULL)
        g_free(sent);
    while ((r = g_queue_pop_head(&channel->receives)) != NULL)
        receive_unref(data, r);
}

void channels_free(Channels *c)
{
    channels_each(c, free_contents, c);
    g_hash_table_unref(c->table);
    g_free(c);
}

Channel *channels_at(Channels *c, const ChannelKey *key, gboolean make)
{
    Channel *channel = g_hash_table_lookup(c->table, key);
    if (channel != NULL || !make || !allowance_take(c->allowance, 1, CHANNEL_MEMORY))
        return channel;
    channel = g_new0(Channel, 1);
    channel->key = *key;
    g_hash_table_insert(c->table, &channel->key, channel);
    return channel;
}

void channels_tidy(Channels *c, Channel *channel)
{
    if (channel->sends.length > 0 || channel->receives.length > 0
        || (channel->probes != NULL && channel->probes->len > 0))
        return;
    g_hash_table_remove(c->table, &channel->key);
    allowance_give(c->allowance, CHANNEL_MEMORY);
}

Receive *receive_new(Channels *c)
{
    if (!allowance_take(c->allowance, 1, RECEIVE_MEMORY))
        return NULL;
    Receive *r = g_new0(Receive, 1);
    r->refs = 1;
    r->bytes = WEND_UNKNOWN;
    r->completed.call = MESSAGE_NO_CALL;
    return r;
}

void receive_unref(Channels *c, Receive *r)
{
    if (--r->refs > 0)
        return;
    g_free(r);
    allowance_give(c->allowance, RECEIVE_MEMORY);
}

Receive *channels_send(Channels *c, const ChannelKey *key, const Sent *sent, gboolean *full)
{
    Channel *channel = channels_at(c, key, TRUE);
    if (channel == NULL || !allowance_take(c->allowance, 1, SENT_MEMORY)) {
        *full = TRUE;
        return NULL;
    }
    Receive *r = g_queue_pop_head(&channel->receives);
    if (r == NULL) {
        g_queue_push_tail(&channel->sends, g_memdup2(sent, sizeof *sent));
        c->in_flight++;
        c->most = MAX(c->most, c->in_flight);
        return NULL;
    }
    allowance_give(c->allowance, SENT_MEMORY);
    r->sent = *sent;
    r->paired = TRUE;
    r->in_channel = FALSE;
    channels_tidy(c, channel);
    return r;
}

gboolean channels_receive(Channels *c, Receive *r, gboolean *full)
{
    Channel *channel = channels_at(c, &r->channel, TRUE);
    if (channel == NULL) {
        *full = TRUE;
        return FALSE;
    }
    Sent *sent = g_queue_pop_head(&channel->sends);
    if (sent == NULL) {
        g_queue_push_tail(&channel->receives, r);
        r->in_channel = TRUE;
        r->refs++;
        return FALSE;
    }
    r->sent = *sent;
    r->paired = TRUE;
    g_free(sent);
    allowance_give(c->allowance, SENT_MEMORY);
    c->in_flight--;
    channels_tidy(c, channel);
    return TRUE;
}

void channels_withdraw(Channels *c, Receive *r)
{
    Channel *channel = r->in_channel ? channels_at(c, &r->channel, FALSE) : NULL;
    if (channel == NULL)
        return;
    g_queue_remove(&channel->receives, r);
    r->in_channel = FALSE;
    channels_tidy(c, channel);
    receive_unref(c, r);
}

void channels_each(Channels *c, void (*visit)(gpointer data, Channel *channel), gpointer data)
{
    GHashTableIter i;
    gpointer value;
    g_hash_table_iter_init(&i, c->table);
    while (g_hash_table_iter_next(&i, NULL, &value))
        visit(data, value);
}

guint64 channels_in_flight(const Channels *c)
{
    return c->in_flight;
}

guint64 channels_most_in_flight(const Channels *c)
{
    return c->most;
}
