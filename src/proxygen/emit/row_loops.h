/* SPDX-License-Identifier: BSD-3-Clause */
/* row_loops.h: loops over tables. The calls of a loop may have other numbers in each iteration:
 * sizes, tags, or partners that a mesh or random data decides. Then each call has a terminal of its
 * own, and the recording has no loop. Here calls whose text is equal except for numbers become one
 * call. Their numbers become a table, and the repeated calls become loops:
 *
 *     for (int i = 0; i < 1000; i++) {
 *         row = rows_1[row_1++];
 *         MPI_Send(buf, row[0], MPI_INT, row[1], 0, MPI_COMM_WORLD);
 *     }
 *
 * This is done for the whole of a thread, if it takes less text. */
#ifndef PROXYGEN_ROW_LOOPS_H
#define PROXYGEN_ROW_LOOPS_H

#include "emitter.h"

/* A table of rows, in the order in which a thread makes the calls. */
typedef struct RowTable {
    guint number;
    GArray *columns;         /* of Column */
    guint n_numbers, n_kept; /* length of a row as it was written, and as it is kept */
    GArray *values;          /* of gint64: n_numbers for each row */
    GArray *symbols;         /* of WendSymbol: whose numbers they are, each once */
} RowTable;

typedef struct RowLoops RowLoops;

/* Gives the threads of the plan such bodies. Returns NULL if there are too many calls. The caller
 * frees it with row_loops_free. */
RowLoops *row_loops_new(Emitter *e);
/* The approximate number of characters of these bodies and their tables. */
gdouble row_loops_text(const RowLoops *s);
/* Restores the bodies that the threads had before. */
void row_loops_undo(Emitter *e, RowLoops *s);
void row_loops_free(RowLoops *s);
/* Appends the tables, and the variables that hold the position in each. */
void row_loops_emit(Emitter *e, const RowLoops *s, GString *declarations, GString *definitions);
/* Appends the call of a symbol that has a row table. */
void row_loops_call(Emitter *e, Statements *out, const WendSymbol *symbol, const RowSymbol *s);

#endif
