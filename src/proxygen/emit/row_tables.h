/* SPDX-License-Identifier: BSD-3-Clause */
/* row_tables.h: calls that differ in numbers alone: one text with marks where the numbers are
 * (expression.c), and a row of numbers for each. */
#ifndef PROXYGEN_ROW_TABLES_H
#define PROXYGEN_ROW_TABLES_H

#include "emitter.h"

/* A mark: COLUMN_MARK, then "first", or "first,low,width" of numbers by rank, then COLUMN_END. */
enum { COLUMN_MARK = '\001', COLUMN_END = '\002' };
typedef struct {
    guint first; /* of its numbers, in a row as it was written */
    gboolean by_rank;
    guint low, width; /* then: a number for each of the ranks LOW and on */
    gint place;       /* of its numbers in a row as it is kept; -1: all rows agree */
    gboolean kept;    /* FALSE: they are those of a column before it */
} Column;

/* A row that is being written. */
typedef struct ColumnWriter {
    GArray *numbers;  /* of gint64 */
    gboolean by_rank; /* numbers that differ by rank are columns, too, */
    /* but for those in which, as is known of these columns, all rows agree; NULL: that is not known
     * yet */
    const GArray *known;
} ColumnWriter;

char *column_mark(guint first);
char *column_mark_by_rank(guint first, guint low, guint width);

/* Of Column, by their first number: those of a text, each once. The array is the caller's. */
GArray *row_tables_find(const char *text);
/* VALUES: of gint64, N_NUMBERS for each row. Sets place and kept; gives the length of a row as it
 * is kept. */
guint row_tables_keep(GArray *columns, const GArray *values, guint n_numbers);
/* Do all rows agree in the column that begins with number FIRST? */
gboolean row_tables_agree(const GArray *columns, guint first);
/* Appends TEXT with numbers for marks: "ROW[2]", "ROW[2 + rank]" (ALONE: "ROW", which is the number
 * itself), or the first row's where all agree. */
void row_tables_append(GString *out, const Plan *plan, const char *text, const GArray *columns,
                       const GArray *values, const char *row, gboolean alone);

/* While a row is being written (e->columns): the mark of a number that may be another one in other
 * rows. */
char *column_of_number(Emitter *e, gint64 value);
/* Likewise by rank, VALUES being of RANKS; NULL: it is the same in all rows, and stands in the
 * text. */
char *column_of_ranks(Emitter *e, RankList ranks, const gint64 *values);
/* A place in one of the proxy's arrays: a number, or its mark while a row is being written. */
char *column_index(Emitter *e, gint64 place);

#endif
