/* SPDX-License-Identifier: BSD-3-Clause */
/* gatherings.c: see gatherings.h. */
#include "config.h"

#include "gatherings.h"

#include <string.h>

enum { OPEN_LEAST = 65536, OPEN_PER_RANK = 16 }; /* gatherings at a time */
enum { COUNT_MEMORY = 64 };

typedef struct {
    guint rank, comm, over, zero;
} CountKey;

struct Gatherings {
    const WendMembers *members;
    Allowance *allowance;
    GHashTable *counts; /* CountKey -> guint64: operations that the rank came to */
    GHashTable *open;   /* Gathering, its own key */
    gsize most;
};

static guint bytes_hash(const void *bytes, gsize n)
{
    guint h = 0, word;
    for (gsize i = 0; i < n; i += sizeof word) {
        memcpy(&word, (const char *)bytes + i, sizeof word);
        h = (h ^ h >> 15) * 2246822519u + word;
    }
    return h ^ h >> 13;
}

static guint count_hash(gconstpointer key)
{
    return bytes_hash(key, sizeof(CountKey));
}

static gboolean count_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(CountKey)) == 0;
}

static guint gathering_hash(gconstpointer key)
{
    return bytes_hash(key, sizeof(GatheringKey));
}

static gboolean gathering_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(GatheringKey)) == 0;
}

void gathering_unref(Gathering *gathering)
{
    if (--gathering->refs > 0)
        return;
    g_array_unref(gathering->waiters);
    g_free(gathering);
}

static void unref(gpointer gathering)
{
    gathering_unref(gathering);
}

Gatherings *gatherings_new(const WendMembers *m, Allowance *a)
{
    Gatherings *g = g_new0(Gatherings, 1);
    g->members = m;
    g->allowance = a;
    g->counts = g_hash_table_new_full(count_hash, count_equal, g_free, g_free);
    g->open = g_hash_table_new_full(gathering_hash, gathering_equal, NULL, unref);
    g->most = OPEN_LEAST;
    return g;
}

void gatherings_free(Gatherings *g)
{
    g_hash_table_unref(g->counts);
    g_hash_table_unref(g->open);
    g_free(g);
}

/* The number of the operation that RANK comes to. FALSE: memory is used up. */
static gboolean next_number(Gatherings *g, guint rank, guint comm, guint over, guint64 *number)
{
    const CountKey key = {rank, comm, over, 0};
    guint64 *count = g_hash_table_lookup(g->counts, &key);
    if (count == NULL) {
        if (!allowance_take(g->allowance, 1, COUNT_MEMORY))
            return FALSE;
        count = g_new0(guint64, 1);
        g_hash_table_insert(g->counts, g_memdup2(&key, sizeof key), count);
        g->most += OPEN_PER_RANK;
    }
    *number = (*count)++;
    return TRUE;
}

gboolean gathering_complete(const Gathering *gathering)
{
    return gathering->come >= gathering->members;
}

Gathering *gatherings_come(Gatherings *g, const MessagePlace *place, guint comm, GatheringOver over,
                           gboolean root)
{
    GatheringKey key = {comm, over, 0};
    guint rank = place->rank;
    if (comm == WEND_COMM_UNKNOWN || comm == WEND_COMM_SELF)
        return NULL;
    /* the MPI_COMM_WORLD of each world is another one */
    key.over += GATHERING_OVERS * wend_members_home(g->members, comm, rank);
    guint64 members = wend_members_recorded(g->members, comm, rank);
    if (members <= 1 || !next_number(g, rank, comm, over, &key.number))
        return NULL;
    Gathering *one = g_hash_table_lookup(g->open, &key);
    if (one == NULL) {
        if (g_hash_table_size(g->open) >= g->most)
            return NULL;
        one = g_new0(Gathering, 1);
        *one = (Gathering){.key = key,
                           .refs = 1,
                           .members = members,
                           .waiters = g_array_new(FALSE, FALSE, sizeof(guint)),
                           .last = MESSAGE_NO_PLACE,
                           .root_place = MESSAGE_NO_PLACE};
        g_hash_table_insert(g->open, &one->key, one);
    }
    one->come++;
    one->root |= root;
    if (root)
        one->root_place = *place;
    if (!isnan(place->start) && !(place->start < one->last.start))
        one->last = *place;
    one->refs++;
    if (gathering_complete(one))
        g_hash_table_remove(g->open, &one->key);
    return one;
}
