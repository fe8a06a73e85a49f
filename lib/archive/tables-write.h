/* SPDX-License-Identifier: BSD-3-Clause */
/* tables-write.h: values of slots by rank, as tables of the archive (docs/format.md,
 * "Terminals"). */
#ifndef WEND_TABLES_WRITE_H
#define WEND_TABLES_WRITE_H

#include "write-private.h"

/* The tables of a recording, and the sets of ranks that they are of. Each goes once. */
typedef struct SlotTables SlotTables;

/* None yet; WORLD: of how many ranks the recording is. */
SlotTables *slot_tables_new(guint32 world);
/* The number of the table with the values of slot K of S, a delta sequence, on the ranks of S.
 * ITS_OWN: the table has no others, and is as the slot is. */
guint slot_tables_number(Writer *w, SlotTables *t, const Signature *s, guint k, gboolean its_own);
/* The tables that follow are of another slot: only neighbours of one slot are encoded together. */
void slot_tables_next_slot(SlotTables *t);
/* Writes the sets and the tables, and frees T. */
void slot_tables_write(Writer *w, SlotTables *t);

#endif
