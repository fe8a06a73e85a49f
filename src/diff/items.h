/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h: one sequence of one rank as the items that wend diff compares, in order.
 *
 * An item is a call, or a completion by a call that chooses (Test*, Waitany, Waitsome). Such a call
 * has one item for each request that it completed, Testall one in all, and a test that completed
 * nothing none. Items with equal numbers count as equal. */
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

/* What belongs to the items beside the calls. With OUTCOMES, completions are not items of their
 * own. With POLLS, each unsuccessful poll is an item. */
typedef enum { ITEMS_CALLS, ITEMS_OUTCOMES, ITEMS_POLLS } ItemsDetail;

/* The caller frees the result with items_free. */
Items *items_new(ComparisonKeyRank *comparison_key, const WendProgram *p, guint rank,
                 guint sequence, ItemsDetail detail);
void items_free(Items *s);
Item items_peek(Items *s, gsize ahead); /* the item AHEAD items after the next one */
void items_drop(Items *s, gsize n);     /* drops N items, which have been peeked at */
/* The call of an item as text, newly allocated, with its function's name in *NAME. It is fast for
 * the call that was read last, else it takes a walk from the start. */
char *items_describe(Items *s, const Item *item, const char **name);

/* Appends a line with call INDEX of a sequence of RANK, or its end, after MARK. It takes a walk
 * from the start. */
void items_put_call(GString *out, char mark, const WendProgram *p, guint rank, guint sequence,
                    guint64 index);

#endif
