/* SPDX-License-Identifier: BSD-3-Clause */
/* byte-table.c: hash tables whose keys are bytes. See byte-table.h. */
#include "byte-table.h"

static void free_key(gpointer key)
{
    g_bytes_unref(key);
}

GHashTable *byte_table_numbers_new(void)
{
    return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, free_key, NULL);
}

guint byte_table_number(GHashTable *numbers, const void *bytes, gsize n, gboolean *new)
{
    /* Keys are looked up much more often than entered. */
    g_autoptr(GBytes) key = g_bytes_new_static(bytes, n);
    gpointer found;
    *new = !g_hash_table_lookup_extended(numbers, key, NULL, &found);
    if (*new) {
        found = GUINT_TO_POINTER(g_hash_table_size(numbers));
        g_hash_table_insert(numbers, g_bytes_new(bytes, n), found);
    }
    return GPOINTER_TO_UINT(found);
}

gboolean byte_table_number_known(GHashTable *numbers, const void *bytes, gsize n)
{
    g_autoptr(GBytes) key = g_bytes_new_static(bytes, n);
    return g_hash_table_contains(numbers, key);
}

GHashTable *byte_table_entries_new(GDestroyNotify destroy)
{
    return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, free_key, destroy);
}

gpointer byte_table_entry(GHashTable *entries, const void *bytes, gsize n, gsize size)
{
    g_autoptr(GBytes) key = g_bytes_new(bytes, n);
    gpointer entry = g_hash_table_lookup(entries, key);
    if (!entry) {
        entry = g_malloc0(size);
        g_hash_table_insert(entries, g_steal_pointer(&key), entry);
    }
    return entry;
}
