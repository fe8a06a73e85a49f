/* SPDX-License-Identifier: BSD-3-Clause */
/* row_tables.h: calls that differ only in numbers. They have one text with marks in the place of
 * the numbers (expression.c), and each call has a row of numbers. */
#ifndef PROXYGEN_ROW_TABLES_H
#define PROXYGEN_ROW_TABLES_H

#include "emitter.h"

/* A mark: COLUMN_MARK, then "first", or "first,low,width" for numbers by rank, then COLUMN_END. */
enum { COLUMN_MARK = '\001', COLUMN_END = '\002' };
enum { COLUMN_NAME = 32 };
typedef struct {
    guint first; /* index of its first number in a row as it was written */
    gboolean by_rank;
    guint low, width;       /* if by_rank: one number for each rank from LOW on */
    gint place;             /* index of its numbers in a row as it is kept; -1 if all rows agree */
    gboolean kept;          /* FALSE: an earlier column has the same numbers */
    char name[COLUMN_NAME]; /* of its place, a constant in the program; "": none */
} Column;

/* A row that is being written. */
typedef struct ColumnWriter {
    GArray *numbers;  /* of gint64 */
    gboolean by_rank; /* numbers that differ by rank are columns, too */
    /* columns in which all rows are known to agree, which are then no columns; NULL: unknown so
     * far */
    const GArray *known;
    GPtrArray *names; /* by number: the argument that it is for, or NULL; NULL: nobody asks */
} ColumnWriter;

char *column_mark(guint first);
char *column_mark_by_rank(guint first, guint low, guint width);

/* The columns of a text, each once, ordered by their first number. The caller frees the array. */
GArray *row_tables_find(const char *text);
/* Chooses the columns to keep. VALUES has N_NUMBERS for each row. Sets PLACE and KEPT of the
 * columns, and returns the length of a row as it is kept. */
guint row_tables_keep(GArray *columns, const GArray *values, guint n_numbers);
/* Gives the columns the names of their arguments, "COUNT" and "DEST_2", by the NAMES of a
 * ColumnWriter. They are upper case, since variables of the program are lower case. */
void row_tables_name(GArray *columns, const GPtrArray *names);
/* Appends the definition of the names: "enum { COUNT, DEST };". */
void row_tables_define(GString *out, int indent, const GArray *columns);
/* Whether all rows agree in the column that begins with number FIRST. */
gboolean row_tables_agree(const GArray *columns, guint first);
/* Appends TEXT with numbers instead of marks: "ROW[2]" or "ROW[2 + rank]", or the number of the
 * first row if all rows agree. ALONE: a row is a single number, and "ROW" is that number. */
void row_tables_append(GString *out, const Plan *plan, const char *text, const GArray *columns,
                       const GArray *values, const char *row, gboolean alone);

/* While a row is written (e->columns), the mark of a number that may differ in other rows. */
char *column_of_number(Emitter *e, gint64 value);
/* The same by rank. VALUES are of RANKS. NULL if the value is equal in all rows and stays in the
 * text. */
char *column_of_ranks(Emitter *e, RankList ranks, const gint64 *values);
/* An index in one of the proxy's arrays: a number, or its mark while a row is written. */
char *column_index(Emitter *e, gint64 place);

#endif
