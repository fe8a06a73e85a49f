/* SPDX-License-Identifier: BSD-3-Clause */
/* completion-handlers.h: which calls a program made upon which completion, when it saw several at
 * once.
 *
 * On each side a window is a row of groups of completions, and behind each group the calls made
 * upon its members, in order. A completion is in one group of each side, and its calls must be the
 * same on both: that tells where the calls of one end and those of the next begin. */
#ifndef WEND_DIFF_COMPLETION_HANDLERS_H
#define WEND_DIFF_COMPLETION_HANDLERS_H

#include <glib.h>

#include "items.h"

/* A row of items that a side looks ahead at. */
typedef struct {
    Items *items;
    gsize start, n;
} Row;

Item row_item(const Row *row, gsize i);
/* how many items they begin with in common */
gsize row_common(const Row *a, const Row *b);
/* Whether A from I on and B from J on are the same up to the next completion or the end; of a long
 * way there, only the beginning is looked at. */
gboolean items_go_on_alike(Items *a, gsize i, Items *b, gsize j);
gboolean row_equal(const Row *a, const Row *b);

/* A group: keys name its completions (0 … n_keys - 1). The last of a side is open: its row goes on
 * with the rest of the program, up to the next completion, and its n is not looked at. */
typedef struct {
    const guint *keys;
    guint n;
    Row row;
} Group;

typedef enum {
    COMPLETION_HANDLERS_NONE, /* no handlers fit */
    /* handlers fit the groups, but what follows is not the same on both sides */
    COMPLETION_HANDLERS_HERE,
    COMPLETION_HANDLERS_FIT
} CompletionHandlersResult;

/* Are there handlers such that each closed row is those of its group's members in a row, and each
 * open row begins so? Each side has each key once. Then BEHIND is how many items of the open rows
 * are theirs. No solution: at PARTED the rows of the two sides part, if that can be said; else its
 * numbers are 0. */
CompletionHandlersResult completion_handlers_solve(const Group *const groups[2],
                                                   const guint n_groups[2], guint n_keys,
                                                   gsize behind[2], Item parted[2]);

#endif
