/* SPDX-License-Identifier: BSD-3-Clause */
/* row_loops.h: loops over tables. A loop whose calls differ in numbers from one iteration to the
 * next (sizes, tags, partners that a mesh or chance decides) is no loop in the recording: each call
 * is one of its own. Here calls whose text is the same but for numbers become one, the numbers a
 * table, and what is then repeated becomes loops:
 *
 *     for (int i = 0; i < 1000; i++) {
 *         row = rows_1[row_1++];
 *         MPI_Send(buf, row[0], MPI_INT, row[1], 0, MPI_COMM_WORLD);
 *     }
 *
 * That is done for what a thread does, as a whole, where it takes less text. */
#ifndef PROXYGEN_ROW_LOOPS_H
#define PROXYGEN_ROW_LOOPS_H

#include "emitter.h"

/* Rows in the order in which a thread makes the calls. */
typedef struct RowTable {
    guint number;
    GArray *columns;         /* of Column */
    guint n_numbers, n_kept; /* of a row, as it was written and as it is kept */
    GArray *values;          /* of gint64: n_numbers for each row */
} RowTable;

typedef struct RowLoops RowLoops;

/* Gives threads of the plan other bodies. NULL: there are too many calls for it. */
RowLoops *row_loops_new(Emitter *e);
/* Characters, about, that these bodies and their tables take. */
gdouble row_loops_text(const RowLoops *s);
/* Gives them back those they had. */
void row_loops_undo(Emitter *e, RowLoops *s);
void row_loops_free(RowLoops *s);
/* The tables, and how far each has been gone through. */
void row_loops_emit(Emitter *e, const RowLoops *s, GString *declarations, GString *definitions);
/* Appends the call of a symbol that has a stream. */
void row_loops_call(Emitter *e, GString *out, int indent, const WendSymbol *symbol,
                    const RowSymbol *s);

#endif
