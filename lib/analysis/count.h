/* SPDX-License-Identifier: BSD-3-Clause */
/* count.h: how often each terminal occurs in a sequence. Counts the grammar: time is linear in the
 * rules, not in the calls. */
#ifndef WEND_COUNT_H
#define WEND_COUNT_H

#include <glib.h>

#include "merge/totals.h"
#include "read/program.h"

typedef struct Counts Counts;

Counts *counts_new(const WendProgram *p);
void counts_free(Counts *c);
/* Counts the expansion of RULE. Returns the terminals that occur in it, in no order, valid until
 * the next call. */
const guint32 *counts_of_rule(Counts *c, guint rule, guint *n);
/* The rules that occur in it, each behind all rules that it uses, valid until the next call of
 * counts_of_rule. */
const guint32 *counts_rules(const Counts *c, guint *n);
guint64 counts_terminal(const Counts *c, guint32 terminal); /* 0: it does not occur */

/* The number of entries in all sequences of all classes, unsuccessful polls included. */
WendTotals counts_totals(Counts *c);

#endif
