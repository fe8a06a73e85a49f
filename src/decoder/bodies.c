/* bodies.c: see bodies.h.
 *
 * Groups of one completion tell its body, and known bodies are taken off both ends of other groups. Where that leads no further,
 * a completion at the same end of its group on both sides gets what the two rows have in common there, and less if that leads to a contradiction. */
#include "config.h"

#include "bodies.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CONFLICTS 10000 /* after so many wrong guesses a window counts as different */

/* What to put back when a guess was wrong: a body that was not known, or a group as it was. */
typedef struct { gboolean is_group; guint index; Group old; } Change;

typedef struct {
    gsize mark;          /* changes before it */
    const guint *keys;   /* the body goes to the first; the others, which come with it on both sides, have none */
    guint n_keys;
    Row row;             /* the longest that it can be */
    gboolean back;       /* at the end of the groups: shorter ones begin later */
    gsize n;             /* the length that is tried */
} Guess;

struct Bodies {
    Group *groups;
    guint n_first, n_groups, n_keys;
    Row *bodies;         /* by key; items NULL: unknown */
    guint *group_of[2];  /* by key */
    GArray *changes, *guesses;
    GQueue *due;         /* groups to reduce */
    GPtrArray *lists;    /* lists of keys made here */
    gint8 *marks;        /* by key, 0 between uses */
    guint next_unsolved; /* groups before it have been solved or guessed at without any guess */
    guint conflicts;
    gboolean parted;
    Row row[2];          /* that parted, of the first side and of the second, from item at */
    gsize at;
};

Item row_item(const Row *row, gsize i)
{
    return items_peek(row->items, row->start + i);
}

gsize row_common(const Row *a, const Row *b)
{
    gsize n = MIN(a->n, b->n), i = 0;
    for (guint32 number; i < n && (number = row_item(a, i).number) == row_item(b, i).number && number != 0; i++)
        ;
    return i;
}

gboolean row_equal(const Row *a, const Row *b)
{
    return a->n == b->n && row_common(a, b) == a->n;
}

static gint compare_keys(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

gboolean group_same_keys(const Group *a, const Group *b)
{
    if (a->n != b->n || a->n == 0)
        return a->n == b->n;
    guint *x = g_memdup2(a->keys, a->n * sizeof *x), *y = g_memdup2(b->keys, b->n * sizeof *y);
    qsort(x, a->n, sizeof *x, compare_keys);
    qsort(y, b->n, sizeof *y, compare_keys);
    gboolean same = memcmp(x, y, a->n * sizeof *x) == 0;
    g_free(x);
    g_free(y);
    return same;
}

Bodies *bodies_new(Group *groups, guint n_first, guint n_second, guint n_keys)
{
    Bodies *b = g_new0(Bodies, 1);
    b->groups = groups;
    b->n_first = n_first;
    b->n_groups = n_first + n_second;
    b->n_keys = n_keys;
    b->bodies = g_new0(Row, n_keys);
    for (guint side = 0; side < 2; side++)
        b->group_of[side] = g_new0(guint, n_keys);
    for (guint i = 0; i < b->n_groups; i++)
        for (guint k = 0; k < groups[i].n; k++)
            b->group_of[i >= n_first][groups[i].keys[k]] = i;
    b->changes = g_array_new(FALSE, FALSE, sizeof(Change));
    b->guesses = g_array_new(FALSE, FALSE, sizeof(Guess));
    b->marks = g_new0(gint8, n_keys);
    b->due = g_queue_new();
    b->lists = g_ptr_array_new_with_free_func(g_free);
    return b;
}

void bodies_free(Bodies *b)
{
    g_free(b->bodies);
    g_free(b->marks);
    g_free(b->group_of[0]);
    g_free(b->group_of[1]);
    g_array_unref(b->changes);
    g_array_unref(b->guesses);
    g_queue_free(b->due);
    g_ptr_array_unref(b->lists);
    g_free(b);
}

/* -- changes -- */

static gboolean is_known(const Bodies *b, guint key)
{
    return b->bodies[key].items != NULL;
}

static void set_body(Bodies *b, guint key, Row row)
{
    Change change = {.index = key};
    g_array_append_val(b->changes, change);
    b->bodies[key] = row;
    for (guint side = 0; side < 2; side++)
        g_queue_push_tail(b->due, GUINT_TO_POINTER(b->group_of[side][key]));
}

static Group *change_group(Bodies *b, guint index)
{
    Change change = {TRUE, index, b->groups[index]};
    g_array_append_val(b->changes, change);
    return &b->groups[index];
}

static void undo(Bodies *b, gsize mark)
{
    for (gsize i = b->changes->len; i-- > mark;) {
        const Change *change = &g_array_index(b->changes, Change, i);
        if (change->is_group) {
            b->groups[change->index] = change->old;
            b->next_unsolved = MIN(b->next_unsolved, change->index);
        } else {
            b->bodies[change->index] = (Row){NULL, 0, 0};
        }
    }
    g_array_set_size(b->changes, (guint)mark);
    g_queue_clear(b->due);
}

/* Notes the first place where rows part: A and B are looked at from item I. */
static gboolean part(Bodies *b, const Row *x, const Row *y, gsize i)
{
    if (!b->parted) {
        gboolean swap = x->items != b->groups[0].row.items;
        b->parted = TRUE;
        b->row[0] = swap ? *y : *x;
        b->row[1] = swap ? *x : *y;
        b->at = i;
    }
    return FALSE;
}

/* -- conclusions -- */

static void drop_front(Group *g, gsize items)
{
    g->keys++;
    g->n--;
    g->row.start += items;
    if (!g->open)
        g->row.n -= items;
}

/* In an open group, members without a body may stand anywhere. */
static void drop_empty(Bodies *b, guint index)
{
    Group *g = &b->groups[index];
    guint kept = 0;
    for (guint i = 0; i < g->n; i++)
        kept += !is_known(b, g->keys[i]) || b->bodies[g->keys[i]].n > 0;
    if (kept == g->n)
        return;
    g = change_group(b, index);
    guint *keys = g_new(guint, kept + 1);
    g_ptr_array_add(b->lists, keys);
    kept = 0;
    for (guint i = 0; i < g->n; i++)
        if (!is_known(b, g->keys[i]) || b->bodies[g->keys[i]].n > 0)
            keys[kept++] = g->keys[i];
    g->keys = keys;
    g->n = kept;
}

/* Takes known bodies off the ends of a group. FALSE: one does not fit. */
static gboolean reduce(Bodies *b, guint index)
{
    Group *g = &b->groups[index];
    while (g->n > 0 && is_known(b, g->keys[0]) && g->rest.n == 0) {
        Row known = b->bodies[g->keys[0]];
        gsize same = row_common(&known, &g->row);
        if (!g->open && (same < known.n || (g->n == 1 && same < g->row.n)))
            return part(b, &known, &g->row, same);
        drop_front(change_group(b, index), same);
        if (same < known.n)
            g->rest = (Row){known.items, known.start + same, known.n - same};
    }
    if (g->open) {
        drop_empty(b, index);
        return TRUE;
    }
    while (g->n > 0 && is_known(b, g->keys[g->n - 1])) {
        const Row *known = &b->bodies[g->keys[g->n - 1]];
        Row end = {g->row.items, g->row.start + (g->row.n >= known->n ? g->row.n - known->n : 0), MIN(known->n, g->row.n)};
        if (!row_equal(known, &end))
            return part(b, known, &end, row_common(known, &end));
        change_group(b, index)->row.n -= known->n;
        g->n--;
    }
    if (g->n == 1 || (g->n > 0 && g->row.n == 0)) {
        guint n = change_group(b, index)->n;
        g->n = 0;
        for (guint i = 0; i < n; i++)
            set_body(b, g->keys[i], g->row);
    }
    return TRUE;
}

static gboolean conclude(Bodies *b)
{
    while (!g_queue_is_empty(b->due)) {
        guint index = GPOINTER_TO_UINT(g_queue_pop_head(b->due));
        if (b->groups[index].n > 0 && !reduce(b, index))
            return FALSE;
    }
    return TRUE;
}

/* Members that complete together on both sides have one body for all. */
static gboolean check_joint(Bodies *b)
{
    for (guint i = 0; i < b->n_groups; i++) {
        const Group *x = &b->groups[i];
        if (x->n == 0 || x->open)
            continue;
        const Group *y = &b->groups[b->group_of[i < b->n_first][x->keys[0]]];
        if (y->open || !group_same_keys(x, y))
            return FALSE;
        if (!row_equal(&x->row, &y->row))
            return part(b, &x->row, &y->row, row_common(&x->row, &y->row));
    }
    return TRUE;
}

/* -- guesses -- */

/* The smallest number of keys that two lists begin with (end with) both, in any order; 0: there is none. */
static guint common_keys(Bodies *b, const Group *x, const Group *y, gboolean back)
{
    guint n = MIN(x->n, y->n), open = 0, common = 0, seen = 0;
    while (seen < n && common == 0) {
        guint keys[2] = {x->keys[back ? x->n - 1 - seen : seen], y->keys[back ? y->n - 1 - seen : seen]};
        seen++;
        for (guint side = 0; side < 2; side++) {
            gint8 *mark = &b->marks[keys[side]];
            open -= *mark != 0;
            *mark += side == 0 ? 1 : -1;
            open += *mark != 0;
        }
        if (open == 0)
            common = seen;
    }
    for (guint i = 0; i < seen; i++) {
        b->marks[x->keys[back ? x->n - 1 - i : i]] = 0;
        b->marks[y->keys[back ? y->n - 1 - i : i]] = 0;
    }
    return common;
}

static gboolean guess_at(Bodies *b, const Group *x, const Group *y, Guess *guess)
{
    guint n_keys;
    if (x->n == 0 || y->n == 0 || x->rest.n > 0 || y->rest.n > 0 || (x->open == y->open && group_same_keys(x, y)))
        return FALSE;
    if ((n_keys = common_keys(b, x, y, FALSE)) > 0) {
        *guess = (Guess){.keys = x->keys, .n_keys = n_keys, .row = {x->row.items, x->row.start, row_common(&x->row, &y->row)}};
        return TRUE;
    }
    if (x->open || y->open || (n_keys = common_keys(b, x, y, TRUE)) == 0)
        return FALSE;
    gsize n = 0;
    while (n < x->row.n && n < y->row.n && row_item(&x->row, x->row.n - 1 - n).number == row_item(&y->row, y->row.n - 1 - n).number)
        n++;
    *guess = (Guess){.keys = x->keys + x->n - n_keys, .n_keys = n_keys, .row = {x->row.items, x->row.start + x->row.n - n, n}, .back = TRUE};
    return TRUE;
}

static gboolean find_guess(Bodies *b, Guess *guess)
{
    gboolean all_solved = TRUE;
    for (guint i = b->next_unsolved; i < b->n_first; i++) {
        const Group *x = &b->groups[i];
        if (x->n > 0) {
            all_solved = FALSE;
            if (guess_at(b, x, &b->groups[b->group_of[1][x->keys[0]]], guess) ||
                guess_at(b, x, &b->groups[b->group_of[1][x->keys[x->n - 1]]], guess))
                return TRUE;
        } else if (all_solved) {
            b->next_unsolved = i + 1;
        }
    }
    return FALSE;
}

static void make_guess(Bodies *b, const Guess *guess)
{
    Row row = guess->row;
    if (guess->back)
        row.start += row.n - guess->n;
    row.n = guess->n;
    set_body(b, guess->keys[0], row);
    for (guint i = 1; i < guess->n_keys; i++)
        set_body(b, guess->keys[i], (Row){row.items, row.start, 0});
}

/* Takes back guesses up to one that can be shorter. FALSE: there is none. */
static gboolean guess_again(Bodies *b)
{
    while (b->guesses->len > 0 && b->conflicts++ < MAX_CONFLICTS) {
        Guess *guess = &g_array_index(b->guesses, Guess, b->guesses->len - 1);
        undo(b, guess->mark);
        if (guess->n > 0) {
            guess->n--;
            make_guess(b, guess);
            return TRUE;
        }
        g_array_set_size(b->guesses, b->guesses->len - 1);
    }
    return FALSE;
}

gboolean bodies_solve(Bodies *b, gboolean (*accept)(gpointer data), gpointer data)
{
    for (guint i = 0; i < b->n_groups; i++)
        g_queue_push_tail(b->due, GUINT_TO_POINTER(i));
    for (;;) {
        Guess guess;
        gboolean consistent = conclude(b);
        if (consistent && find_guess(b, &guess)) {
            guess.mark = b->changes->len;
            guess.n = guess.row.n;
            g_array_append_val(b->guesses, guess);
            make_guess(b, &guess);
        } else if (consistent && check_joint(b) && accept(data)) {
            return TRUE;
        } else if (!guess_again(b)) {
            return FALSE;
        }
    }
}

gboolean bodies_conflict(const Bodies *b, Item *first, Item *second)
{
    if (b->parted) {
        *first = row_item(&b->row[0], b->at);
        *second = row_item(&b->row[1], b->at);
    }
    return b->parted;
}
