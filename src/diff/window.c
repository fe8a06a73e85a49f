/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c: see items.h.
 *
 * A window begins where completions differ. It ends when both inputs have completed the same
 * requests equally often. In each input it is a list of groups: consecutive completions, then the
 * calls up to the next completion (the handler). The handler of the last group is open: it is
 * followed by the rest of the program without a mark. Only the other input, where the same
 * completion came earlier, shows where it ends.
 *
 * The window matches in two cases. Either the handlers come in the same order whatever completed,
 * because the program did not look. Or each completion has the same handler in both inputs, because
 * it did. A group of several completions has the handlers of its members one after the other. */
#include "config.h"

#include "items.h"

typedef struct {
    Items *items;
    gsize ahead;      /* number of items read ahead */
    GArray *keys;     /* guint: completions in order */
    GArray *groups;   /* Group; keys are set when all groups have been read */
    GHashTable *seen; /* item number -> count */
} Input;

typedef struct {
    Input input[2];
    GHashTable *indices; /* item number << 32 | occurrence -> key, + 1 */
    GArray *balance;     /* gint, by key: completions in A minus those in B */
    guint open;          /* number of keys with a nonzero balance */
    Item at[2];
    const char *why;
} DiffWindow;

/* -- reading -- */

static void input_init(Input *s, Items *items)
{
    s->items = items;
    s->ahead = 0;
    s->keys = g_array_new(FALSE, FALSE, sizeof(guint));
    s->groups = g_array_new(FALSE, FALSE, sizeof(HandlerGroup));
    s->seen = g_hash_table_new(NULL, NULL);
}

static void input_clear(Input *s)
{
    g_array_unref(s->keys);
    g_array_unref(s->groups);
    g_hash_table_unref(s->seen);
}

static guint index_of_completion(DiffWindow *w, Input *s, guint32 number)
{
    gpointer what = GUINT_TO_POINTER(number);
    guint32 occurrence = GPOINTER_TO_UINT(g_hash_table_lookup(s->seen, what));
    g_hash_table_insert(s->seen, what, GUINT_TO_POINTER(occurrence + 1));
    guint64 key = (guint64)number << 32 | occurrence;
    guint index = GPOINTER_TO_UINT(g_hash_table_lookup(w->indices, &key));
    if (index == 0) {
        gint zero = 0;
        g_array_append_val(w->balance, zero);
        index = w->balance->len;
        g_hash_table_insert(w->indices, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(index));
    }
    return index - 1;
}

static void read_completion(DiffWindow *w, guint which, guint32 number)
{
    Input *s = &w->input[which];
    guint index = index_of_completion(w, s, number);
    g_array_append_val(s->keys, index);
    gint *balance = &g_array_index(w->balance, gint, index);
    w->open -= *balance != 0;
    *balance += which == 0 ? 1 : -1;
    w->open += *balance != 0;
}

/* Reads ahead to the next completion, and past all that follow it directly. Returns FALSE if there
 * is none. */
static gboolean read_group(DiffWindow *w, guint which)
{
    Input *s = &w->input[which];
    Item item;
    while (!(item = items_peek(s->items, s->ahead)).choice) {
        if (item.number == 0)
            return FALSE;
        s->ahead++;
        /* the array is not empty, because a window begins with a completion */
        g_array_index(s->groups, HandlerGroup, s->groups->len - 1).row.n++;
    }
    HandlerGroup group = {.row = {s->items, 0, 0}};
    for (; item.choice; item = items_peek(s->items, ++s->ahead)) {
        read_completion(w, which, item.number);
        group.n++;
    }
    group.row.start = s->ahead;
    g_array_append_val(s->groups, group);
    return TRUE;
}

static gboolean read_window(DiffWindow *w)
{
    do {
        guint which = w->input[0].keys->len > w->input[1].keys->len;
        if (!read_group(w, which)) {
            w->why = "different requests complete";
            return FALSE;
        }
    } while (w->open > 0);
    return TRUE;
}

/* -- matching -- */

static HandlerGroup *group_at(const DiffWindow *w, guint which, guint i)
{
    return &g_array_index(w->input[which].groups, HandlerGroup, i);
}

/* Whether the same handlers are in the same places, after equally many completions. */
static gboolean match_by_place(const DiffWindow *w)
{
    guint n = w->input[0].groups->len;
    if (n != w->input[1].groups->len)
        return FALSE;
    for (guint i = 0; i < n; i++) {
        const HandlerGroup *a = group_at(w, 0, i), *b = group_at(w, 1, i);
        /* the rows of the last groups are empty */
        if (a->n != b->n || !row_equal(&a->row, &b->row))
            return FALSE;
    }
    return TRUE;
}

/* Matches the window. If the handlers come in the same order but the calls after them differ, the
 * order of completions may explain the difference. */
static gboolean match(DiffWindow *w)
{
    const HandlerGroup *groups[2];
    guint n[2];
    gsize behind[2];
    Item apart_at[2];
    gboolean placed = match_by_place(w);
    if (placed
        && completion_handlers_go_on_alike(w->input[0].items, w->input[0].ahead, w->input[1].items,
                                           w->input[1].ahead))
        return TRUE;
    for (guint which = 0; which < 2; which++) {
        const guint *keys = (const guint *)(void *)w->input[which].keys->data;
        n[which] = w->input[which].groups->len;
        groups[which] = group_at(w, which, 0);
        for (guint i = 0; i < n[which]; i++) {
            group_at(w, which, i)->keys = keys;
            keys += group_at(w, which, i)->n;
        }
    }
    CompletionHandlersResult result =
        completion_handlers_solve(groups, n, w->balance->len, behind, apart_at);
    if (result == COMPLETION_HANDLERS_FIT || (result == COMPLETION_HANDLERS_HERE && !placed)) {
        for (guint which = 0; which < 2; which++)
            w->input[which].ahead = group_at(w, which, n[which] - 1)->row.start + behind[which];
        return TRUE;
    }
    if (placed)
        return TRUE; /* the comparison then finds the difference */
    if (apart_at[0].number != 0 || apart_at[1].number != 0) {
        w->at[0] = apart_at[0];
        w->at[1] = apart_at[1];
        w->why = "after the same completion";
    } else {
        w->why = "after other completions";
    }
    return FALSE;
}

gboolean window_match(Items *a, Items *b, Item *at_a, Item *at_b, const char **why)
{
    DiffWindow w = {.at = {items_peek(a, 0), items_peek(b, 0)}};
    input_init(&w.input[0], a);
    input_init(&w.input[1], b);
    w.indices = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    w.balance = g_array_new(FALSE, FALSE, sizeof(gint));

    gboolean matched = read_window(&w) && match(&w);
    if (matched) {
        items_drop(a, w.input[0].ahead);
        items_drop(b, w.input[1].ahead);
    } else {
        *at_a = w.at[0];
        *at_b = w.at[1];
        *why = w.why;
    }
    g_array_unref(w.balance);
    g_hash_table_unref(w.indices);
    input_clear(&w.input[0]);
    input_clear(&w.input[1]);
    return matched;
}
