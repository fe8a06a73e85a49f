/* window.c: see window.h.
 *
 * A window begins where the completions differ, and ends as soon as both sides have completed the same requests equally often. On each
 * side it is a row of groups: completions in a row, then the calls up to the next completion (the body). The body of the last group is
 * open: where it ends and the rest of the program begins can be seen only on the other side, where the same completion came earlier.
 *
 * The window matches if the bodies come in the same order whatever completed (the program did not look), or if each completion has the
 * same body on both sides (it did). A group of several completions has the bodies of its members in a row. */
#include "config.h"

#include "window.h"

#include <stdlib.h>
#include <string.h>

/* A row of items that a side looks ahead at. */
typedef struct { Items *items; gsize start, n; } Row;

typedef struct {
    guint first, n;      /* keys */
    gsize start, n_body; /* body: items ahead */
} Group;

typedef struct {
    Items *items;
    gsize ahead;         /* items looked at */
    GArray *keys;        /* guint: completions in order, as indices of bodies */
    GArray *groups;      /* Group */
    GHashTable *seen;    /* item number -> how often */
} Side;

typedef struct {
    Side side[2];
    GHashTable *indices; /* item number << 32 | occurrence -> index of bodies, + 1 */
    GArray *balance;     /* gint, by index: completed in A minus in B */
    guint open;          /* indices with a balance */
    Row *bodies;         /* by index; items NULL: unknown */
    Item at[2];
    const char *why;
} Window;

/* -- reading -- */

static void side_init(Side *s, Items *items)
{
    s->items = items;
    s->ahead = 0;
    s->keys = g_array_new(FALSE, FALSE, sizeof(guint));
    s->groups = g_array_new(FALSE, FALSE, sizeof(Group));
    s->seen = g_hash_table_new(NULL, NULL);
}

static void side_clear(Side *s)
{
    g_array_unref(s->keys);
    g_array_unref(s->groups);
    g_hash_table_unref(s->seen);
}

static guint index_of_completion(Window *w, Side *s, guint32 number)
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

/* Looks ahead to the next completion, and behind it. FALSE: there is none. */
static gboolean read_completion(Window *w, guint which)
{
    Side *s = &w->side[which];
    Group *group = s->groups->len > 0 ? &g_array_index(s->groups, Group, s->groups->len - 1) : NULL;
    Item item;
    while (!(item = items_peek(s->items, s->ahead)).choice) {
        if (item.number == 0)
            return FALSE;
        s->ahead++;
        group->n_body++; /* a window begins with a completion */
    }
    s->ahead++;
    if (group == NULL || group->n_body > 0) {
        Group next = {s->keys->len, 0, 0, 0};
        g_array_append_val(s->groups, next);
        group = &g_array_index(s->groups, Group, s->groups->len - 1);
    }
    guint index = index_of_completion(w, s, item.number);
    g_array_append_val(s->keys, index);
    group->n++;
    group->start = s->ahead;
    gint *balance = &g_array_index(w->balance, gint, index);
    w->open -= *balance != 0;
    *balance += which == 0 ? 1 : -1;
    w->open += *balance != 0;
    return TRUE;
}

static gboolean read_window(Window *w)
{
    do {
        guint which = w->side[0].keys->len > w->side[1].keys->len;
        if (!read_completion(w, which)) {
            w->why = "different requests complete";
            return FALSE;
        }
    } while (w->open > 0);
    return TRUE;
}

/* -- matching -- */

static Item row_item(const Row *row, gsize i)
{
    return items_peek(row->items, row->start + i);
}

static gsize common_prefix(const Row *a, const Row *b)
{
    gsize n = MIN(a->n, b->n), i = 0;
    while (i < n && row_item(a, i).number == row_item(b, i).number)
        i++;
    return i;
}

/* Notes where two rows part: both are looked at from item I. */
static gboolean part(Window *w, const Row *a, const Row *b, gsize i)
{
    guint first = a->items == w->side[0].items ? 0 : 1;
    w->at[first] = row_item(a, i);
    w->at[!first] = row_item(b, i);
    w->why = "after the same completion";
    return FALSE;
}

static gboolean rows_equal(Window *w, const Row *a, const Row *b)
{
    gsize same = common_prefix(a, b);
    return same == a->n && same == b->n ? TRUE : part(w, a, b, same);
}

static Group *group_at(Window *w, guint which, guint i)
{
    return &g_array_index(w->side[which].groups, Group, i);
}

/* The same bodies in the same places, after equally many completions. */
static gboolean match_by_place(Window *w)
{
    guint n = w->side[0].groups->len;
    if (n != w->side[1].groups->len)
        return FALSE;
    for (guint i = 0; i < n; i++) {
        const Group *a = group_at(w, 0, i), *b = group_at(w, 1, i);
        Row row_a = {w->side[0].items, a->start, a->n_body}, row_b = {w->side[1].items, b->start, b->n_body};
        if (a->n != b->n || (i + 1 < n && !rows_equal(w, &row_a, &row_b)))
            return FALSE;
    }
    return TRUE;
}

/* What is left of a group: members whose bodies are not known, and the row that their bodies make up. */
typedef struct { guint *keys; guint n; Row row; } Equation;

/* Takes known bodies off both ends. FALSE: one does not fit. */
static gboolean reduce(Window *w, Equation *e)
{
    while (e->n > 0 && w->bodies[e->keys[0]].items != NULL) {
        const Row *known = &w->bodies[e->keys[0]];
        gsize same = common_prefix(known, &e->row);
        if (same < known->n || (e->n == 1 && same < e->row.n))
            return part(w, known, &e->row, same);
        e->row.start += same;
        e->row.n -= same;
        e->keys++;
        e->n--;
    }
    while (e->n > 0 && w->bodies[e->keys[e->n - 1]].items != NULL) {
        const Row *known = &w->bodies[e->keys[e->n - 1]];
        Row tail = {e->row.items, e->row.start + (e->row.n >= known->n ? e->row.n - known->n : 0), MIN(known->n, e->row.n)};
        if (!rows_equal(w, known, &tail))
            return FALSE;
        e->row.n -= known->n;
        e->n--;
    }
    for (guint i = 0; i < e->n && (e->n == 1 || e->row.n == 0); i++)
        w->bodies[e->keys[i]] = e->row;
    if (e->n == 1 || e->row.n == 0)
        e->n = 0;
    return TRUE;
}

static gint compare_keys(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

static gboolean same_keys(const Equation *a, const Equation *b)
{
    gboolean same = a->n == b->n;
    guint *x = g_memdup2(a->keys, a->n * sizeof *x), *y = g_memdup2(b->keys, b->n * sizeof *y);
    if (same && a->n > 0) {
        qsort(x, a->n, sizeof *x, (int (*)(const void *, const void *))compare_keys);
        qsort(y, b->n, sizeof *y, (int (*)(const void *, const void *))compare_keys);
        same = memcmp(x, y, a->n * sizeof *x) == 0;
    }
    g_free(x);
    g_free(y);
    return same;
}

static Equation equation_of(Window *w, guint which, const Group *group)
{
    Side *s = &w->side[which];
    return (Equation){&g_array_index(s->keys, guint, group->first), group->n, {s->items, group->start, group->n_body}};
}

/* Finds the bodies of all closed groups' members. */
static gboolean solve(Window *w)
{
    GArray *equations = g_array_new(FALSE, FALSE, sizeof(Equation));
    for (guint which = 0; which < 2; which++) {
        for (guint i = 0; i + 1 < w->side[which].groups->len; i++) {
            Equation e = equation_of(w, which, group_at(w, which, i));
            g_array_append_val(equations, e);
        }
    }
    gboolean fits = TRUE;
    guint before;
    do { /* as long as there is progress; the first pass takes all groups of one member */
        before = equations->len;
        guint kept = 0;
        for (guint i = 0; i < equations->len && fits; i++) {
            Equation e = g_array_index(equations, Equation, i);
            fits = reduce(w, &e);
            if (e.n > 0)
                g_array_index(equations, Equation, kept++) = e;
        }
        if (fits)
            g_array_set_size(equations, kept);
    } while (fits && equations->len < before && equations->len > 0);

    /* Groups that complete together on both sides have one body for all. */
    for (guint i = 0; fits && i < equations->len; i++) {
        const Equation *a = &g_array_index(equations, Equation, i);
        for (guint j = i + 1; j < equations->len; j++) {
            Equation *b = &g_array_index(equations, Equation, j);
            if (b->n > 0 && b->row.items != a->row.items && same_keys(a, b)) {
                fits = rows_equal(w, &a->row, &b->row);
                b->n = 0;
                goto next;
            }
        }
        if (a->n > 0)
            fits = part(w, &a->row, &a->row, 0);
    next:;
    }
    g_array_unref(equations);
    return fits;
}

/* What follows the last completion on side WHICH must begin with the bodies that the other side tells. What does not is left in *REST. */
static gsize strip_tail(Window *w, guint which, Equation *last, Row *rest)
{
    gsize at = w->side[which].ahead;
    *rest = (Row){w->side[!which].items, 0, 0};
    while (last->n > 0 && w->bodies[last->keys[0]].items != NULL) {
        Row known = w->bodies[last->keys[0]], upcoming = {w->side[which].items, at, known.n};
        gsize same = common_prefix(&known, &upcoming);
        at += same;
        last->keys++;
        last->n--;
        if (same < known.n) {
            *rest = (Row){known.items, known.start + same, known.n - same};
            break;
        }
    }
    return at;
}

static gboolean match_by_completion(Window *w)
{
    w->bodies = g_new0(Row, w->balance->len);
    if (!solve(w))
        return FALSE;
    gsize at[2];
    Row rest[2];
    Equation last[2];
    for (guint which = 0; which < 2; which++) {
        last[which] = equation_of(w, which, group_at(w, which, w->side[which].groups->len - 1));
        at[which] = strip_tail(w, which, &last[which], &rest[which]);
    }
    /* Calls at the top of the loop come before each completion but the first: they end each body, but not the last one. So both
     * sides may be left with the same row. */
    gboolean fits = rest[0].n == rest[1].n && same_keys(&last[0], &last[1]);
    for (gsize i = 0; fits && i < rest[0].n; i++)
        fits = row_item(&rest[0], i).number == row_item(&rest[1], i).number;
    if (!fits) {
        guint which = rest[0].n > 0 ? 0 : 1; /* the side that does not do what the other did */
        w->at[which] = items_peek(w->side[which].items, at[which]);
        w->at[!which] = rest[which].n > 0 ? row_item(&rest[which], 0) : items_peek(w->side[!which].items, at[!which]);
        w->why = "after the same completion";
        return FALSE;
    }
    w->side[0].ahead = at[0];
    w->side[1].ahead = at[1];
    return TRUE;
}

gboolean window_match(Items *a, Items *b, Item *at_a, Item *at_b, const char **why)
{
    Window w = {.at = {items_peek(a, 0), items_peek(b, 0)}, .why = "different requests complete"};
    const Item begin[2] = {w.at[0], w.at[1]};
    side_init(&w.side[0], a);
    side_init(&w.side[1], b);
    w.indices = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    w.balance = g_array_new(FALSE, FALSE, sizeof(gint));

    gboolean matched = read_window(&w);
    if (matched) {
        matched = match_by_place(&w);
        if (!matched) {
            w.at[0] = begin[0];
            w.at[1] = begin[1];
            matched = match_by_completion(&w);
        }
    }
    if (matched) {
        items_drop(a, w.side[0].ahead);
        items_drop(b, w.side[1].ahead);
    } else {
        *at_a = w.at[0];
        *at_b = w.at[1];
        *why = w.why;
    }
    g_free(w.bodies);
    g_array_unref(w.balance);
    g_hash_table_unref(w.indices);
    side_clear(&w.side[0]);
    side_clear(&w.side[1]);
    return matched;
}
