/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h: one sequence of one rank as the items that wend diff compares, in order.
 *
 * An item is a call, or what a call by choice (Test*, Waitany, Waitsome) completed: one item for
 * each request, for Testall one in all. Tests that completed nothing give no item. Items with equal
 * numbers count as equal. */
#ifndef WEND_DIFF_ITEMS_H
#define WEND_DIFF_ITEMS_H

#include <glib.h>

#include "comparison-key.h"
#include "lib/read/program.h"

typedef struct {
    guint32 number;  /* 0: the sequence has ended */
    gboolean choice; /* a completion by choice */
    guint64 index;   /* of the call */
} Item;

typedef struct Items Items;

/* OUTCOMES: outcomes belong to the items, and there are no items by choice. */
Items *items_new(ComparisonKeyRank *identity, const WendProgram *p, guint rank, guint sequence,
                 gboolean outcomes);
void items_free(Items *s);
Item items_peek(Items *s, gsize ahead); /* 0: the next one */
void items_drop(Items *s, gsize n);     /* that were peeked at */
/* The call of an item as text, with its function's name in *NAME. Quick for the call read last,
 * else a walk from the start. */
char *items_describe(Items *s, const Item *item, const char **name);

/* Adds the line that shows call INDEX of a sequence of RANK, or its end, with MARK in front. A walk
 * from the start. */
void items_put_call(GString *out, char mark, const WendProgram *p, guint rank, guint sequence,
                    guint64 index);

#endif
