/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h: one sequence of one rank as the items that wend diff compares, in order.
 *
 * An item is a call, or a completion by a call that chooses (Test*, Waitany, Waitsome). Such a
 * call has one item for each request that it completed, Testall one in all, and a test that
 * completed nothing none. Items with equal numbers count as equal. */
#ifndef WEND_DIFF_ITEMS_H
#define WEND_DIFF_ITEMS_H

#include <glib.h>

#include "lib/read/program.h"
#include "comparison-key.h"

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

/* -- window.c: rules 4 and 5 of docs/comparing.md, "Equality of two recordings" -- */

/* Compares two streams that are both at consecutive completions, in different orders. Returns TRUE
 * if the calls are equal up to the order of completions, and moves both streams behind them.
 * Otherwise returns FALSE, with the items at which the recordings part in *AT_A and *AT_B, and a
 * static text in *WHY. */
gboolean window_match(Items *a, Items *b, Item *at_a, Item *at_b, const char **why);

/* -- completion-handlers.c -- */

/* Finds the calls that a program made upon each completion, if it saw several completions at
 * once.
 *
 * In each input a window is a list of groups of completions. After each group come the calls made
 * upon its members, in order. A completion is in one group of each input, and its calls must be
 * equal on both. This determines where the calls of one completion end and those of the next
 * begin. */

/* The items that an input looks ahead at. */
typedef struct {
    Items *items;
    gsize start, n;
} Row;

Item row_item(const Row *row, gsize i);
/* the number of items at their beginnings that are equal */
gsize row_common(const Row *a, const Row *b);
/* Whether A from I on and B from J on are equal up to the next completion or the end. If that is
 * far away, only the beginning is compared. */
gboolean completion_handlers_go_on_alike(Items *a, gsize i, Items *b, gsize j);
gboolean row_equal(const Row *a, const Row *b);

/* A group. KEYS are the numbers of its completions (0 … n_keys - 1). The last group of an input is
 * open: its row continues with the rest of the program up to the next completion, and its row.n is
 * not used. */
typedef struct {
    const guint *keys;
    guint n;
    Row row;
} HandlerGroup;

typedef enum {
    COMPLETION_HANDLERS_NONE, /* no handlers fit */
    /* handlers fit the groups, but the calls after them differ */
    COMPLETION_HANDLERS_HERE,
    COMPLETION_HANDLERS_FIT
} CompletionHandlersResult;

/* Finds handlers such that each closed row consists of the handlers of its group's members, and
 * each open row begins with them. Each input has each key once. On success, BEHIND is the number of
 * items of the open rows that belong to handlers. Otherwise PARTED has the items at which the two
 * inputs part, or numbers of 0 if that is unknown. */
CompletionHandlersResult completion_handlers_solve(const HandlerGroup *const groups[2],
                                                   const guint n_groups[2], guint n_keys,
                                                   gsize behind[2], Item apart_at[2]);

#endif
