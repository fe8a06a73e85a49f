/* SPDX-License-Identifier: BSD-3-Clause */
/* timing-rows.h: which terminals share a row of times. */
#ifndef WEND_TIMING_ROWS_H
#define WEND_TIMING_ROWS_H

#include <glib.h>

#include "record/cst.h"

/* The times of a sequence in the archive: none; one set for all ranks of its class; a set for each
 * variant. */
enum { TIMING_NONE, TIMING_TOGETHER, TIMING_BY_VARIANT };
/* Changes ROWS, the row of times of each of N terminals: if a shape has more than WEND_TIMED_APART
 * terminals, all of them get one row. Rows are numbered by first use. COUNTS (or NULL): the number
 * of terminals that each stands for. Returns the number of rows. */
guint timing_rows(const guint32 *shapes, const guint32 *counts, guint32 *rows, guint n);
/* Rows that sequences share, numbered by first use, in groups. A group has the rows of a function.
 * LIKELY, of a group or of a terminal: 1 + the last row that it had, or 0. */
typedef struct {
    GArray **of_group;
    guint32 *likely_of_group, *likely_of_terminal;
    guint n_groups;
    guint32 n;
} SharedRows;
void shared_rows_init(SharedRows *r, guint n_groups, guint n_terminals);
void shared_rows_clear(SharedRows *r);
guint32 shared_rows_count(const SharedRows *r, guint group);
/* The row that is number I in the group. */
guint32 shared_rows_at(const SharedRows *r, guint group, guint32 i);
/* 1 + the likely row of a terminal: its row in another sequence, else the last row of its group; 0
 * if there is none. */
guint32 shared_rows_likely(const SharedRows *r, guint group, guint32 terminal);
/* The code of a terminal's row: ROW_LIKELY, ROW_NEW (then ROW is the number of all rows), or else
 * its distance from the end of the group's rows. shared_rows_read does the reverse. It returns
 * FALSE if there is no such row. Both add a new row to the group, and make the row the likely
 * one. */
enum { ROW_LIKELY, ROW_NEW };
gint64 shared_rows_encode(SharedRows *r, guint group, guint32 terminal, guint32 row);
gboolean shared_rows_read(SharedRows *r, guint group, guint32 terminal, gint64 told, guint32 *row);

#endif
