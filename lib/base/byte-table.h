/* SPDX-License-Identifier: BSD-3-Clause */
/* byte-table.h: hash tables whose keys are bytes, such as those of a struct without padding.
 *
 * A table is a GHashTable with keys of GBytes; free it with g_hash_table_destroy(). */
#ifndef WEND_BYTE_TABLE_H
#define WEND_BYTE_TABLE_H

#include <glib.h>

/* A table that numbers its keys from 0, by first occurrence. */
GHashTable *byte_table_numbers_new(void);
/* The number of the N bytes at BYTES. If they have none they get the next one, and *NEW is TRUE. */
guint byte_table_number(GHashTable *numbers, const void *bytes, gsize n, gboolean *new);
gboolean byte_table_number_known(GHashTable *numbers, const void *bytes, gsize n);

/* A table of entries. DESTROY frees an entry: g_free, or a function that calls it last. */
GHashTable *byte_table_entries_new(GDestroyNotify destroy);
/* The entry of the N bytes at BYTES, valid as long as the table. A new entry is SIZE zero bytes. */
gpointer byte_table_entry(GHashTable *entries, const void *bytes, gsize n, gsize size);

#endif
