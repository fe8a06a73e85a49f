/* SPDX-License-Identifier: BSD-3-Clause */
/* part-table.h: a table of part.h, read back. Nothing is taken from the reader that is in lib/. */
#ifndef WEND_TEST_PART_TABLE_H
#define WEND_TEST_PART_TABLE_H

#include <glib.h>

#include "../../lib/record/cst.h"

typedef struct {
    guint64 count;
    double mean, min, max, m2;
} Stat;
typedef struct {
    /* GArray of gint64; a stream is a GPtrArray of its entries. VALUES: by terminal; empty if it is
     * no elastic shape's */
    GPtrArray *shapes, *slots, *values, *streams;
    GArray *shape_of, *stats; /* of terminals: guint64; duration and interval by turns */
} Table;

Table read_table(WendCursor *c); /* it has to be whole */
void table_clear(Table *t);

#endif
