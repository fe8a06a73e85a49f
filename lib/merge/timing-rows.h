/* SPDX-License-Identifier: BSD-3-Clause */
/* timing-rows.h: which terminals have one row of times. */
#ifndef WEND_TIMING_ROWS_H
#define WEND_TIMING_ROWS_H

#include <glib.h>

#include "record/cst.h"

/* How a sequence has its times in the archive: not; those of all ranks of its class; those of each
 * variant by itself. */
enum { TIMING_NONE, TIMING_TOGETHER, TIMING_BY_VARIANT };
/* N terminals with their shapes have ROWS of times: before, each one or some together; after, all
 * of a shape together if they are more than WEND_TIMED_APART, and rows numbered by first use.
 * COUNTS: how many each of them stands for; NULL: one. Returns how many rows there are. */
guint timing_rows(const guint32 *shapes, const guint32 *counts, guint32 *rows, guint n);
/* Rows that sequences share, in groups, which are functions: which of all, numbered by first use,
 * are of one. LIKELY, of a group or of a terminal: 1 + the row of all that it had last, 0: none
 * yet. */
typedef struct {
    GArray **of_group;
    guint32 *likely_of_group, *likely_of_terminal;
    guint n_groups;
    guint32 n;
} SharedRows;
void shared_rows_init(SharedRows *r, guint n_groups, guint n_terminals);
void shared_rows_clear(SharedRows *r);
guint32 shared_rows_count(const SharedRows *r, guint group);
/* the number among all of the group's Ith */
guint32 shared_rows_at(const SharedRows *r, guint group, guint32 i);
/* 1 + the row that a terminal may well have: its own of another sequence, else the one that its
 * group had last; 0: none. */
guint32 shared_rows_likely(const SharedRows *r, guint group, guint32 terminal);
/* The row that a terminal has, one of the group's or a new one (ROW: how many there are in all):
 * how that is told, which is the likely one, a new one, or how many of the group there are from it
 * on. And back; FALSE: there is no such row. A new one is added, and after either it is the likely
 * one. */
enum { ROW_LIKELY, ROW_NEW };
gint64 shared_rows_encode(SharedRows *r, guint group, guint32 terminal, guint32 row);
gboolean shared_rows_read(SharedRows *r, guint group, guint32 terminal, gint64 told, guint32 *row);

#endif
