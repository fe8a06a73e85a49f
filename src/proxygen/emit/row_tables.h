/* SPDX-License-Identifier: BSD-3-Clause */
/* row_tables.h: calls that differ only in numbers, each with a row of numbers. Such calls are
 * written twice. The first time finds the columns of the row: each number is then "$3$" in the
 * text, so that texts can be compared. The second time each number is "row[2]": the rows of all
 * calls are then known, and with them the columns to keep. */
#ifndef PROXYGEN_ROW_TABLES_H
#define PROXYGEN_ROW_TABLES_H

#include "emitter.h"

enum { COLUMN_NAME = 32 };
typedef struct {
    guint first; /* index of its first number in a row as it was written */
    gboolean by_rank;
    guint low, width;       /* if by_rank: one number for each rank from LOW on */
    const char *argument;   /* the parameter that it is for; NULL: none */
    gint place;             /* index of its numbers in a row as it is kept; -1 if all rows agree */
    gboolean kept;          /* FALSE: an earlier column has the same numbers */
    char name[COLUMN_NAME]; /* of its place, a constant in the program; "": none */
} Column;

/* A row that is being written. */
typedef struct ColumnWriter {
    gboolean by_rank; /* numbers that differ by rank are columns, too */
    GArray *columns;  /* of Column: appended the first time, else looked up */
    GArray *numbers;  /* of gint64 */
    const char *row;  /* the variable of the proxy that has the row; NULL: the first time */
    gboolean alone;   /* a row is a single number, which ROW is */
} ColumnWriter;

/* Chooses the columns to keep. VALUES has N_NUMBERS for each row. Sets PLACE and KEPT of the
 * columns, and returns the length of a row as it is kept. */
guint row_tables_keep(GArray *columns, const GArray *values, guint n_numbers);
/* Gives the columns the names of their arguments, "COUNT" and "DEST_2". They are upper case, since
 * variables of the program are lower case. */
void row_tables_name(GArray *columns);
/* Appends the definition of the names: "enum { COUNT, DEST };". */
void row_tables_define(Statements *out, const GArray *columns);

/* While a row is written (e->columns), a number that may differ in other rows. NULL: it is equal in
 * all rows, and stays in the text. */
char *column_of_number(Emitter *e, gint64 value);
/* The same by rank. VALUES are of RANKS. */
char *column_of_ranks(Emitter *e, RankList ranks, const gint64 *values);
/* An index in one of the proxy's arrays: a number, or that of a row while one is written. */
char *column_index(Emitter *e, gint64 place);

#endif
