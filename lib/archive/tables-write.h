/* SPDX-License-Identifier: BSD-3-Clause */
/* tables-write.h: the slots that vary by rank, as tables of the archive (docs/format.md,
 * "Terminals"). */
#ifndef WEND_TABLES_WRITE_H
#define WEND_TABLES_WRITE_H

#include "write-private.h"

/* The tables of a recording and their rank sets. Equal tables are stored once, and so are equal
 * sets. */
typedef struct SlotTables SlotTables;

/* No tables yet. WORLD: the number of ranks of the recording. */
SlotTables *slot_tables_new(uint32_t world);
/* Adds the table of slot K of S, which is a delta sequence over the ranks of S, and returns its
 * number. ITS_OWN: the table must have the values of these ranks alone. */
uint32_t slot_tables_number(Writer *w, SlotTables *t, const Signature *s, uint32_t k, bool its_own);
/* Says that the tables that follow are of another slot. Only successive tables of one slot are
 * encoded together. */
void slot_tables_next_slot(SlotTables *t);
/* Writes the sets and the tables, and frees T. */
void slot_tables_write(Writer *w, SlotTables *t);

#endif
