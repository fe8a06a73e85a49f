/* SPDX-License-Identifier: BSD-3-Clause */
/* count.h: how often each terminal occurs in a sequence, from the grammar alone: O(rules), not
 * O(calls). */
#ifndef WEND_COUNT_H
#define WEND_COUNT_H

#include <glib.h>

#include "merge/totals.h"
#include "read/program.h"

typedef struct Counts Counts;

Counts *counts_new(const WendProgram *p);
void counts_free(Counts *c);
/* Counts the expansion of RULE. Gives the terminals that occur in it, by no order; valid until the
 * next call. */
const guint32 *counts_of_rule(Counts *c, guint rule, guint *n);
/* The rules that occurred in it, each behind all that it uses; valid as long. */
const guint32 *counts_rules(const Counts *c, guint *n);
guint64 counts_terminal(const Counts *c, guint32 terminal); /* 0: does not occur */

/* Of all classes: what is in all their sequences, unsuccessful polls too. */
WendTotals counts_totals(Counts *c);

#endif
