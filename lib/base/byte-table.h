/* SPDX-License-Identifier: BSD-3-Clause */
/* byte-table.h: hash tables whose keys are bytes, such as those of a struct without padding.
 *
 * A table is a GHashTable with keys of GBytes; free it with g_hash_table_destroy(). */
#ifndef WEND_BYTE_TABLE_H
#define WEND_BYTE_TABLE_H

#include <glib.h>

/* A table that numbers its keys from 0, in the order in which they come. */
GHashTable *wend_byte_numbers_new(void);
/* The number of N bytes. *NEW: they had none, and got the next. */
guint wend_byte_number(GHashTable *numbers, const void *bytes, gsize n, gboolean *new);
gboolean wend_byte_number_known(GHashTable *numbers, const void *bytes, gsize n);

/* A table of entries. DESTROY is given each in the end; it is g_free, or calls that. */
GHashTable *wend_byte_entries_new(GDestroyNotify destroy);
/* The entry of N bytes, valid as long as the table. It begins as SIZE zeros. */
gpointer wend_byte_entry(GHashTable *entries, const void *bytes, gsize n, gsize size);

#endif
