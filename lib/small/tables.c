/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c: hash tables and lists. See glib.h. */
#include "glib.h"

#include "base/shortage.h"

/* The index of a table: hash and entry. So a look-up reads the entry alone that it looks for. */
typedef struct {
    guint hash, entry; /* 1 + entry; 0: an empty slot */
} TableSlot;

/* Entries in the order of insertion, and an index of them by hash: open addressing, at most half
 * full. A removed entry stays, without a key, until all entries are moved. */
typedef struct {
    gpointer key, value;
    guint hash;
    gboolean there;
} TableEntry;

struct GHashTable {
    GHashFunc hash;
    GEqualFunc equal;
    GDestroyNotify free_key, free_value;
    TableEntry *entries;
    guint n_entries, n_there; /* with and without removed entries */
    TableSlot *index;
    guint slots; /* a power of two */
    guint references;
};

enum { LEAST_SLOTS = 8 };

static guint hash_address(gconstpointer p)
{
    guint64 n = (uintptr_t)p;
    return (guint)(n >> 4) ^ (guint)n ^ (guint)(n >> 32);
}

GHashTable *g_hash_table_new_full(GHashFunc hash, GEqualFunc equal, GDestroyNotify key,
                                  GDestroyNotify value)
{
    GHashTable *t = heap_zeroed(1, sizeof *t);
    *t = (GHashTable){.hash = hash ? hash : hash_address, .equal = equal, .references = 1};
    t->free_key = key;
    t->free_value = value;
    return t;
}

GHashTable *g_hash_table_new(GHashFunc hash, GEqualFunc equal)
{
    return g_hash_table_new_full(hash, equal, NULL, NULL);
}

/* Spreads HASH over the slots: hashes of numbers are the numbers, which follow patterns. */
static guint slot_of(const GHashTable *t, guint hash)
{
    return (guint)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->slots - 1);
}

static gboolean is(const GHashTable *t, const TableEntry *e, gconstpointer key)
{
    return e->there && (e->key == key || (t->equal && t->equal(e->key, key)));
}

static TableEntry *find(const GHashTable *t, gconstpointer key, guint hash)
{
    if (t->slots == 0)
        return NULL;
    for (guint at = slot_of(t, hash); t->index[at].entry; at = (at + 1) & (t->slots - 1))
        if (t->index[at].hash == hash && is(t, &t->entries[t->index[at].entry - 1], key))
            return &t->entries[t->index[at].entry - 1];
    return NULL;
}

static void put_index(GHashTable *t, guint entry)
{
    guint at = slot_of(t, t->entries[entry].hash);
    while (t->index[at].entry)
        at = (at + 1) & (t->slots - 1);
    t->index[at] = (TableSlot){t->entries[entry].hash, entry + 1};
}

static guint room(guint slots)
{
    return slots / 2;
}

/* Makes room for one more entry. */
static void reserve(GHashTable *t)
{
    if (t->n_entries < room(t->slots))
        return;
    guint slots = LEAST_SLOTS, kept = 0;
    while (room(slots) < 2 * (guint64)t->n_there)
        if (__builtin_mul_overflow(slots, 2u, &slots))
            wend_shortage();
    if (slots > t->slots)
        t->entries = small_resize(t->entries, room(slots), sizeof *t->entries);
    for (guint i = 0; i < t->n_entries; i++)
        if (t->entries[i].there)
            t->entries[kept++] = t->entries[i];
    heap_free(t->index);
    t->index = NULL;
    t->index = heap_zeroed(slots, sizeof *t->index);
    t->slots = slots;
    t->n_entries = kept;
    for (guint i = 0; i < kept; i++)
        put_index(t, i);
}

static void release(GDestroyNotify destroy, gpointer p)
{
    if (destroy)
        destroy(p);
}

static gboolean put(GHashTable *t, gpointer key, gpointer value, gboolean replace)
{
    guint hash = t->hash(key);
    TableEntry *e = find(t, key, hash);
    if (e) {
        TableEntry before = *e;
        e->key = replace ? key : before.key;
        e->value = value;
        release(t->free_key, replace ? before.key : key);
        release(t->free_value, before.value);
        return FALSE;
    }
    reserve(t);
    t->entries[t->n_entries] = (TableEntry){key, value, hash, TRUE};
    put_index(t, t->n_entries++);
    t->n_there++;
    return TRUE;
}

gboolean g_hash_table_insert(GHashTable *t, gpointer key, gpointer value)
{
    return put(t, key, value, FALSE);
}

gboolean g_hash_table_replace(GHashTable *t, gpointer key, gpointer value)
{
    return put(t, key, value, TRUE);
}

gboolean g_hash_table_add(GHashTable *t, gpointer key)
{
    return put(t, key, key, TRUE);
}

gboolean g_hash_table_steal(GHashTable *t, gconstpointer key)
{
    TableEntry *e = find(t, key, t->hash(key));
    if (!e)
        return FALSE;
    e->there = FALSE;
    t->n_there--;
    return TRUE;
}

gboolean g_hash_table_remove(GHashTable *t, gconstpointer key)
{
    const TableEntry *e = find(t, key, t->hash(key));
    if (!e)
        return FALSE;
    TableEntry before = *e;
    g_hash_table_steal(t, key);
    release(t->free_key, before.key);
    release(t->free_value, before.value);
    return TRUE;
}

void g_hash_table_remove_all(GHashTable *t)
{
    for (guint i = 0; i < t->n_entries; i++) {
        if (!t->entries[i].there)
            continue;
        release(t->free_key, t->entries[i].key);
        release(t->free_value, t->entries[i].value);
    }
    t->n_entries = t->n_there = 0;
    if (t->index)
        memset(t->index, 0, t->slots * sizeof *t->index);
}

void g_hash_table_unref(GHashTable *t)
{
    if (--t->references > 0)
        return;
    g_hash_table_remove_all(t);
    heap_free(t->entries);
    heap_free(t->index);
    heap_free(t);
}

void g_hash_table_destroy(GHashTable *t)
{
    g_hash_table_unref(t);
}

guint g_hash_table_size(GHashTable *t)
{
    return t->n_there;
}

gpointer g_hash_table_lookup(GHashTable *t, gconstpointer key)
{
    const TableEntry *e = find(t, key, t->hash(key));
    return e ? e->value : NULL;
}

gboolean g_hash_table_lookup_extended(GHashTable *t, gconstpointer key, gpointer *stored,
                                      gpointer *value)
{
    const TableEntry *e = find(t, key, t->hash(key));
    if (stored)
        *stored = e ? e->key : NULL;
    if (value)
        *value = e ? e->value : NULL;
    return e != NULL;
}

gboolean g_hash_table_contains(GHashTable *t, gconstpointer key)
{
    return find(t, key, t->hash(key)) != NULL;
}

void g_hash_table_iter_init(GHashTableIter *i, GHashTable *t)
{
    *i = (GHashTableIter){t, 0};
}

gboolean g_hash_table_iter_next(GHashTableIter *i, gpointer *key, gpointer *value)
{
    const GHashTable *t = i->table;
    while (i->at < t->n_entries && !t->entries[i->at].there)
        i->at++;
    if (i->at == t->n_entries)
        return FALSE;
    if (key)
        *key = t->entries[i->at].key;
    if (value)
        *value = t->entries[i->at].value;
    i->at++;
    return TRUE;
}

guint g_str_hash(gconstpointer s)
{
    guint hash = 5381;
    for (const guchar *p = s; *p; p++)
        hash = hash * 33 + *p;
    return hash;
}

gboolean g_str_equal(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b) == 0;
}

guint g_int64_hash(gconstpointer n)
{
    guint64 all = (guint64) * (const gint64 *)n;
    return (guint)(all ^ all >> 32);
}

gboolean g_int64_equal(gconstpointer a, gconstpointer b)
{
    return *(const gint64 *)a == *(const gint64 *)b;
}

/* -- lists -- */

GList *g_hash_table_get_keys(GHashTable *t)
{
    GList *all = NULL;
    for (guint i = t->n_entries; i-- > 0;) {
        if (!t->entries[i].there)
            continue;
        GList *l = heap_new(sizeof *l);
        *l = (GList){t->entries[i].key, all, NULL};
        if (all)
            all->prev = l;
        all = l;
    }
    return all;
}

/* An insertion sort, because lists are short. */
GList *g_list_sort(GList *l, GCompareFunc compare)
{
    GList *sorted = NULL;
    for (GList *rest; l; l = rest) {
        GList **at = &sorted, *before = NULL;
        rest = l->next;
        for (; *at && compare((*at)->data, l->data) <= 0; at = &(*at)->next)
            before = *at;
        *l = (GList){l->data, *at, before};
        if (l->next)
            l->next->prev = l;
        *at = l;
    }
    return sorted;
}

void g_list_free(GList *l)
{
    for (GList *rest; l; l = rest) {
        rest = l->next;
        heap_free(l);
    }
}
