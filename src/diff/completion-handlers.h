/* SPDX-License-Identifier: BSD-3-Clause */
/* completion-handlers.h: finds the calls that a program made upon each completion, if it saw
 * several completions at once.
 *
 * On each side a window is a list of groups of completions. After each group come the calls made
 * upon its members, in order. A completion is in one group of each side, and its calls must be
 * equal on both. This determines where the calls of one completion end and those of the next
 * begin. */
#ifndef WEND_DIFF_COMPLETION_HANDLERS_H
#define WEND_DIFF_COMPLETION_HANDLERS_H

#include <glib.h>

#include "items.h"

/* The items that a side looks ahead at. */
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

/* A group. KEYS are the numbers of its completions (0 … n_keys - 1). The last group of a side is
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
 * each open row begins with them. Each side has each key once. On success, BEHIND is the number of
 * items of the open rows that belong to handlers. Otherwise PARTED has the items at which the two
 * sides part, or numbers of 0 if that is unknown. */
CompletionHandlersResult completion_handlers_solve(const HandlerGroup *const groups[2],
                                                   const guint n_groups[2], guint n_keys,
                                                   gsize behind[2], Item parted[2]);

#endif
