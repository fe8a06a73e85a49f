/* SPDX-License-Identifier: BSD-3-Clause */
/* timing-rows.h: which terminals share a row of times. */
#ifndef WEND_TIMING_ROWS_H
#define WEND_TIMING_ROWS_H

#include "base/containers.h"
#include "record/cst.h"

/* The times of a sequence in the archive: none; one set for all ranks of its class; a set for each
 * variant. */
enum { TIMING_NONE, TIMING_TOGETHER, TIMING_BY_VARIANT };
/* Changes ROWS, the row of times of each of N terminals: if a shape has more than WEND_TIMED_APART
 * terminals, all of them get one row. Rows are numbered by first use. Returns the number of
 * rows. */
uint32_t timing_rows(const uint32_t *shapes, uint32_t *rows, uint32_t n);
/* Rows that sequences share, numbered by first use, in groups. A group has the rows of a function.
 * LIKELY, of a group or of a terminal: 1 + the last row that it had, or 0. */
typedef struct {
    Vector **of_group;
    uint32_t *likely_of_group, *likely_of_terminal;
    uint32_t n_groups;
    uint32_t n;
} SharedRows;
void shared_rows_init(SharedRows *r, uint32_t n_groups, uint32_t n_terminals);
void shared_rows_clear(SharedRows *r);
uint32_t shared_rows_count(const SharedRows *r, uint32_t group);
/* The row that is number I in the group. */
uint32_t shared_rows_at(const SharedRows *r, uint32_t group, uint32_t i);
/* 1 + the likely row of a terminal: its row in another sequence, else the last row of its group; 0
 * if there is none. */
uint32_t shared_rows_likely(const SharedRows *r, uint32_t group, uint32_t terminal);
/* The code of a terminal's row: ROW_LIKELY, ROW_NEW (then ROW is the number of all rows), or else
 * its distance from the end of the group's rows. shared_rows_read does the reverse. It returns
 * false if there is no such row. Both add a new row to the group, and make the row the likely
 * one. */
enum { ROW_LIKELY, ROW_NEW };
int64_t shared_rows_encode(SharedRows *r, uint32_t group, uint32_t terminal, uint32_t row);
bool shared_rows_read(SharedRows *r, uint32_t group, uint32_t terminal, int64_t told,
                      uint32_t *row);

#endif
