/* SPDX-License-Identifier: BSD-3-Clause */
/* completion-handlers.c: see items.h.
 *
 * The handlers solve a system of word equations in which each unknown occurs once in either input.
 * There are two steps:
 *
 * - Direct conclusions. A group of one completion gives its handler. Known handlers are removed
 *   from both ends of other groups. Completions that are neighbours in both inputs become one
 *   unknown. This solves nearly all windows, in linear time.
 * - A constraint problem for the rest. The domain of an unknown is the common subwords of its two
 *   rows, as nodes of a trie. A sweep over the row of a group, forward and back, keeps only those
 *   members of its domains that are part of some way to write the row. Sweeps are repeated until
 *   nothing changes. Then a value is tried for the unknown with the fewest members left. Parts
 *   without a common unknown are solved separately.
 *
 * A completion in the open groups of both inputs is determined by neither. If no known handler
 * follows it, its calls belong to the rest of the program. Otherwise all possible lengths are
 * tried. */
#include "config.h"

#include "items.h"

#include <stdlib.h>
#include <string.h>

/* The problem is hard in theory (no polynomial method is known), so the effort is bounded. Recorded
 * programs need a handful of trials. */
enum {
    MAX_TRIALS = 100000, /* values tried in a window */
    MAX_NODES = 1 << 22, /* of the trie */
    /* items after the window in which handlers are searched, and by which two solutions are
     * compared */
    LOOK_BEHIND = 4096
};

/* A group without its solved parts. */
typedef struct {
    guint *keys;
    guint n;
    Row row;
    gboolean open;
    gsize taken; /* open: number of items removed from the front */
} Part;

/* A word: the letters on the path from the root to this node. */
typedef struct {
    Row row;
    guint stamp;
} Node;

typedef struct {
    Part *parts; /* of the first input, then of the second */
    guint n_parts, last[2];
    guint *keys; /* storage of the parts' keys */
    guint n_keys;
    Row *known;        /* by key; items is NULL if unknown so far */
    guint *part_of[2]; /* by key */
    GQueue *due;       /* parts to be examined again */
    Item *apart_at;    /* the items at which rows part */

    GArray *nodes;        /* Node; 0 the empty word */
    GHashTable *children; /* node << 32 | item -> node */
    GHashTable *words;    /* part << 32 | part -> domain */
    /* by key: of guint, nodes, longest first; NULL: free, because neither input determines it */
    GArray **domains;
    guint stamp, trials;
    gsize *behind;  /* result of the solution */
    gboolean found; /* there is a solution, but the calls after it differ */
} Solver;

/* -- rows -- */

Item row_item(const Row *row, gsize i)
{
    return items_peek(row->items, row->start + i);
}

gsize row_common(const Row *a, const Row *b)
{
    gsize n = MIN(a->n, b->n), i = 0;
    for (guint32 number;
         i < n && (number = row_item(a, i).number) == row_item(b, i).number && number != 0; i++)
        ;
    return i;
}

gboolean row_equal(const Row *a, const Row *b)
{
    return a->n == b->n && row_common(a, b) == a->n;
}

gboolean completion_handlers_go_on_alike(Items *a, gsize i, Items *b, gsize j)
{
    for (gsize n = 0; n < LOOK_BEHIND; n++) {
        Item x = items_peek(a, i + n), y = items_peek(b, j + n);
        if (x.choice || y.choice || x.number == 0 || y.number == 0)
            return x.choice == y.choice && (x.number == 0) == (y.number == 0);
        if (x.number != y.number)
            return FALSE;
    }
    return TRUE;
}

/* The items of an open row before the next completion, at most MOST. */
static Row row_ahead(const Row *open, gsize most)
{
    Row row = {open->items, open->start, 0};
    for (Item item; row.n < most && !(item = items_peek(row.items, row.start + row.n)).choice
                    && item.number != 0;
         row.n++)
        ;
    return row;
}

static gboolean part_rows(Solver *s, const Row *x, const Row *y, gsize i)
{
    if (s->apart_at[0].number == 0 && s->apart_at[1].number == 0) {
        gboolean swap = x->items != s->parts[0].row.items;
        s->apart_at[swap] = row_item(x, i);
        s->apart_at[!swap] = row_item(y, i);
    }
    return FALSE;
}

/* -- direct conclusions -- */

static gboolean is_known(const Solver *s, guint key)
{
    return s->known[key].items != NULL;
}

static void set_known(Solver *s, guint key, Row row)
{
    s->known[key] = row;
    for (guint input = 0; input < 2; input++)
        g_queue_push_tail(s->due, GUINT_TO_POINTER(s->part_of[input][key]));
}

/* Removes known handlers from the ends of a row. Returns FALSE if one does not fit. */
static gboolean reduce(Solver *s, Part *p)
{
    while (p->n > 0 && is_known(s, p->keys[0])) {
        Row known = s->known[p->keys[0]], row = p->open ? row_ahead(&p->row, known.n) : p->row;
        gsize same = row_common(&known, &row);
        if (same < known.n || (!p->open && p->n == 1 && same < row.n))
            return part_rows(s, &known, &p->row, same);
        p->keys++;
        p->n--;
        p->row.start += same;
        if (p->open)
            p->taken += same;
        else
            p->row.n -= same;
    }
    if (p->open)
        return TRUE;
    while (p->n > 0 && is_known(s, p->keys[p->n - 1])) {
        const Row *known = &s->known[p->keys[p->n - 1]];
        Row end = {p->row.items, p->row.start + (p->row.n >= known->n ? p->row.n - known->n : 0),
                   MIN(known->n, p->row.n)};
        if (!row_equal(known, &end))
            return part_rows(s, known, &end, row_common(known, &end));
        p->row.n -= known->n;
        p->n--;
    }
    if (p->n == 1 || (p->n > 0 && p->row.n == 0)) {
        guint n = p->n;
        p->n = 0;
        for (guint i = 0; i < n; i++)
            set_known(s, p->keys[i], p->row);
    }
    return TRUE;
}

static gboolean conclude(Solver *s)
{
    while (!g_queue_is_empty(s->due)) {
        Part *p = &s->parts[GPOINTER_TO_UINT(g_queue_pop_head(s->due))];
        if (p->n > 0 && !reduce(s, p))
            return FALSE;
    }
    return TRUE;
}

/* Joins completions that are neighbours in both inputs: the first becomes the unknown of both, and
 * the second is empty. */
static void join_neighbours(Solver *s)
{
    guint *next = g_new(guint, MAX(s->n_keys, 1));
    memset(next, 0xff, s->n_keys * sizeof *next);
    for (guint i = s->last[0] + 1; i < s->n_parts; i++)
        for (guint k = 0; k + 1 < s->parts[i].n; k++)
            next[s->parts[i].keys[k]] = s->parts[i].keys[k + 1];
    gboolean *joined = g_new0(gboolean, MAX(s->n_keys, 1));
    for (guint i = 0; i <= s->last[0]; i++)
        for (guint k = 0; k + 1 < s->parts[i].n; k++)
            if (next[s->parts[i].keys[k]] == s->parts[i].keys[k + 1])
                joined[s->parts[i].keys[k + 1]] = TRUE;
    for (guint i = 0; i < s->n_parts; i++) {
        Part *p = &s->parts[i];
        guint kept = 0;
        for (guint k = 0; k < p->n; k++)
            if (!joined[p->keys[k]])
                p->keys[kept++] = p->keys[k];
        p->n = kept;
    }
    g_free(joined);
    g_free(next);
}

static gint compare_keys(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

static gboolean same_keys(const Part *a, const Part *b)
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

/* Solves groups with the same completions in both inputs, in any order: one handler may serve
 * all. */
static void solve_joint(Solver *s)
{
    for (guint i = 0; i < s->last[0]; i++) {
        Part *x = &s->parts[i], *y = x->n > 0 ? &s->parts[s->part_of[1][x->keys[0]]] : x;
        if (x->n > 1 && !y->open && same_keys(x, y) && row_equal(&x->row, &y->row)) {
            for (guint k = 0; k < x->n; k++)
                s->known[x->keys[k]] = (Row){x->row.items, x->row.start, 0};
            x->n = y->n = 0;
        }
    }
}

/* -- words -- */

static guint child(Solver *s, guint node, guint32 item, const Row *row, gboolean add)
{
    gint64 key = (gint64)node << 32 | item;
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(s->children, &key));
    if (found == 0 && add) {
        Node new = {*row, 0};
        found = s->nodes->len;
        g_array_append_val(s->nodes, new);
        g_hash_table_insert(s->children, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(found));
    }
    return found;
}

static const Row *word_of(const Solver *s, guint node)
{
    return &g_array_index(s->nodes, Node, node).row;
}

static guint word(Solver *s, const Row *row)
{
    guint node = 0;
    for (gsize i = 0; i < row->n; i++)
        node = child(s, node, row_item(row, i).number, &(Row){row->items, row->start, i + 1}, TRUE);
    return node;
}

static gint compare_words(gconstpointer a, gconstpointer b, gpointer solver)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    gsize n = word_of(solver, x)->n, m = word_of(solver, y)->n;
    return n != m ? (n > m ? -1 : 1) : x < y ? -1 : x > y;
}

/* All words that two rows have in common. */
static GArray *common_words(Solver *s, const Row *x, const Row *y)
{
    GArray *words = g_array_new(FALSE, FALSE, sizeof(guint));
    guint root = 0, stamp = ++s->stamp;
    g_array_append_val(words, root);
    /* run[j]: the length of the common word of x from i on and y from j on */
    gsize *run = g_new0(gsize, y->n + 1);
    guint32 *letters = g_new(guint32, y->n + 1);
    for (gsize j = 0; j < y->n; j++)
        letters[j] = row_item(y, j).number;
    for (gsize i = x->n; i-- > 0;) {
        guint32 letter = row_item(x, i).number;
        gsize longest = 0;
        for (gsize j = 0; j < y->n; j++) { /* ascending: run[j + 1] still has the value of i + 1 */
            run[j] = letters[j] == letter ? run[j + 1] + 1 : 0;
            longest = MAX(longest, run[j]);
        }
        guint node = 0;
        for (gsize n = 1; n <= longest && s->nodes->len < MAX_NODES; n++) {
            node = child(s, node, row_item(x, i + n - 1).number, &(Row){x->items, x->start + i, n},
                         TRUE);
            guint *seen = &g_array_index(s->nodes, Node, node).stamp;
            if (*seen != stamp)
                g_array_append_val(words, node);
            *seen = stamp;
        }
    }
    g_free(run);
    g_free(letters);
    g_array_sort_with_data(words, compare_words, s);
    return words;
}

/* -- domains -- */

static gboolean is_free(const Solver *s, guint key)
{
    return s->parts[s->part_of[0][key]].open && s->parts[s->part_of[1][key]].open;
}

/* How far the handlers of an open row can reach: those that the other input determines, and the
 * free ones. */
static gsize reach(const Solver *s, const Part *open, guint input)
{
    gsize most = 0;
    gboolean has_free = FALSE;
    for (guint k = 0; k < open->n; k++) {
        guint key = open->keys[k];
        if (is_known(s, key))
            most += s->known[key].n;
        else if (is_free(s, key))
            has_free = TRUE;
        else
            most += s->parts[s->part_of[!input][key]].row.n;
    }
    return most + (has_free ? LOOK_BEHIND : 0);
}

static GArray *domain_of(Solver *s, guint key)
{
    if (is_known(s, key)) {
        GArray *one = g_array_new(FALSE, FALSE, sizeof(guint));
        guint node = word(s, &s->known[key]);
        g_array_append_val(one, node);
        return one;
    }
    guint parts[2] = {s->part_of[0][key], s->part_of[1][key]};
    gint64 both = (gint64)parts[0] << 32 | parts[1];
    GArray *words = g_hash_table_lookup(s->words, &both);
    if (!words) {
        Row rows[2];
        for (guint input = 0; input < 2; input++) {
            const Part *p = &s->parts[parts[input]];
            rows[input] = p->open ? row_ahead(&p->row, reach(s, p, input)) : p->row;
        }
        words = common_words(s, &rows[0], &rows[1]);
        g_hash_table_insert(s->words, g_memdup2(&both, sizeof both), words);
    }
    return g_array_ref(words);
}

static void set_domain(Solver *s, guint key, GArray *domain)
{
    g_array_unref(s->domains[key]);
    s->domains[key] = domain;
}

typedef struct {
    gsize from, to;
    guint node;
} Edge;

/* The positions that member K of a row can take, if it begins at one of the positions FROM. Marks
 * the ends in TO. */
static GArray *edges_of(Solver *s, const Row *row, const GArray *domain, const gboolean *from,
                        gboolean *to)
{
    GArray *edges = g_array_new(FALSE, FALSE, sizeof(Edge));
    guint stamp = ++s->stamp;
    gsize longest = 0;
    for (guint i = 0; i < domain->len; i++) {
        Node *node = &g_array_index(s->nodes, Node, g_array_index(domain, guint, i));
        node->stamp = stamp;
        longest = MAX(longest, node->row.n);
    }
    for (gsize at = 0; at <= row->n; at++) {
        if (!from[at])
            continue;
        guint node = 0;
        for (gsize n = 0;; n++) {
            if (g_array_index(s->nodes, Node, node).stamp == stamp) {
                Edge edge = {at, at + n, node};
                g_array_append_val(edges, edge);
                to[at + n] = TRUE;
            }
            if (n == longest || at + n == row->n
                || (node = child(s, node, row_item(row, at + n).number, NULL, FALSE)) == 0)
                break;
        }
    }
    return edges;
}

/* Removes words that are in no way to write the row. Returns FALSE if there is no way; the domains
 * are then unchanged, even those of decided keys, which search() does not restore. */
static gboolean filter(Solver *s, guint index)
{
    const Part *p = &s->parts[index];
    if (p->n == 0)
        return TRUE; /* already solved */
    Row row = p->open ? row_ahead(&p->row, reach(s, p, index > s->last[0])) : p->row;
    guint n = 0;
    while (n < p->n && s->domains[p->keys[n]] != NULL)
        n++; /* after a free one, which only an open row has, all is possible */
    gboolean **at = g_new(gboolean *, n + 1);
    GArray **edges = g_new(GArray *, n + 1);
    at[0] = g_new0(gboolean, row.n + 1);
    at[0][0] = TRUE;
    for (guint k = 0; k < n; k++) {
        at[k + 1] = g_new0(gboolean, row.n + 1);
        edges[k] = edges_of(s, &row, s->domains[p->keys[k]], at[k], at[k + 1]);
    }
    gboolean possible = FALSE;
    for (gsize i = 0; i <= row.n; i++) {
        at[n][i] = at[n][i] && (p->open || i == row.n);
        possible = possible || at[n][i];
    }
    for (guint k = n; k-- > 0;) {
        guint stamp = ++s->stamp, key = p->keys[k];
        memset(at[k], 0, (row.n + 1) * sizeof **at);
        GArray *left = g_array_new(FALSE, FALSE, sizeof(guint));
        for (guint i = 0; i < edges[k]->len; i++) {
            const Edge *edge = &g_array_index(edges[k], Edge, i);
            if (!at[k + 1][edge->to])
                continue;
            at[k][edge->from] = TRUE;
            guint *seen = &g_array_index(s->nodes, Node, edge->node).stamp;
            if (*seen != stamp)
                g_array_append_val(left, edge->node);
            *seen = stamp;
        }
        g_array_unref(edges[k]);
        if (possible && left->len < s->domains[key]->len) {
            g_array_sort_with_data(left, compare_words, s);
            set_domain(s, key, left);
            g_queue_push_tail(s->due, GUINT_TO_POINTER(s->part_of[index <= s->last[0]][key]));
        } else {
            g_array_unref(left);
        }
    }
    for (guint k = 0; k <= n; k++)
        g_free(at[k]);
    g_free(at);
    g_free(edges);
    return possible;
}

static gboolean propagate(Solver *s)
{
    gboolean possible = TRUE;
    while (possible && !g_queue_is_empty(s->due))
        possible = filter(s, GPOINTER_TO_UINT(g_queue_pop_head(s->due)));
    g_queue_clear(s->due);
    return possible;
}

/* -- the open rows -- */

/* The members of an open group that are not empty, in order. ROWS is by key; items is NULL for a
 * free one. */
typedef struct {
    Solver *solver;
    Row *rows;
    const Part *part[2];
    Row ahead[2];
    gsize n[2];
} Ending;

static gboolean finish(const Ending *e)
{
    Solver *s = e->solver;
    const Row *x = &e->part[0]->row, *y = &e->part[1]->row;
    gboolean same =
        completion_handlers_go_on_alike(x->items, x->start + e->n[0], y->items, y->start + e->n[1]);
    if (same || !s->found)
        for (guint input = 0; input < 2; input++)
            s->behind[input] = e->part[input]->taken + e->n[input];
    s->found = TRUE;
    return same;
}

/* Places the members of INPUT from number K on, then those of the other input. */
static gboolean place(Ending *e, guint input, guint k)
{
    const Part *p = e->part[input];
    gsize at = e->n[input];
    if (k == p->n)
        return input == 0 ? place(e, 1, 0) : finish(e);
    Row *row = &e->rows[p->keys[k]],
        rest = {e->ahead[input].items, e->ahead[input].start + at, e->ahead[input].n - at};
    gboolean found = FALSE;
    if (row->items != NULL) {
        if (row->n <= rest.n && row_common(row, &rest) == row->n) {
            e->n[input] += row->n;
            found = place(e, input, k + 1);
        }
    } else {
        for (gsize n = 0; n <= rest.n && !found && e->solver->trials < MAX_TRIALS; n++) {
            e->solver->trials++;
            *row = (Row){rest.items, rest.start, n};
            e->n[input] = at + n;
            found = place(e, input, k + 1);
        }
        *row = (Row){NULL, 0, 0};
    }
    if (!found)
        e->n[input] = at;
    return found;
}

/* Whether the open rows begin with the known handlers and continue equally. All else is solved. */
static gboolean solve_ending(Solver *s)
{
    Part parts[2];
    Ending e = {
        .solver = s, .rows = g_new0(Row, MAX(s->n_keys, 1)), .part = {&parts[0], &parts[1]}};
    for (guint input = 0; input < 2; input++) {
        Part *p = &parts[input];
        *p = s->parts[s->last[input]];
        p->keys = g_memdup2(p->keys, p->n * sizeof *p->keys); /* NULL if there are none */
        e.ahead[input] = row_ahead(&p->row, reach(s, p, input));
        guint kept = 0;
        for (guint k = 0; k < p->n; k++) {
            guint key = p->keys[k];
            if (!is_free(s, key))
                e.rows[key] = *word_of(s, g_array_index(s->domains[key], guint, 0));
            if (is_free(s, key) || e.rows[key].n > 0)
                p->keys[kept++] = key;
        }
        p->n = kept;
    }
    /* Trailing completions that neither input determines belong to the rest of the program. */
    while (parts[0].n > 0 && parts[1].n > 0
           && parts[0].keys[parts[0].n - 1] == parts[1].keys[parts[1].n - 1]) {
        parts[0].n--;
        parts[1].n--;
    }
    /* One handler for all, or one handler for each. */
    gboolean found = same_keys(&parts[0], &parts[1]) && finish(&e);
    found = found || place(&e, 0, 0);
    g_free(parts[0].keys);
    g_free(parts[1].keys);
    g_free(e.rows);
    return found;
}

/* -- the search -- */

static gboolean search(Solver *s, const GArray *keys, gboolean ends);

/* The undecided keys of KEYS that are connected with KEY. Removes them from LEFT. *ENDS is set if
 * they reach an open row. */
static GArray *component(Solver *s, GHashTable *left, guint key, gboolean *ends)
{
    GArray *keys = g_array_new(FALSE, FALSE, sizeof(guint));
    *ends = FALSE;
    g_hash_table_remove(left, GUINT_TO_POINTER(key));
    g_array_append_val(keys, key);
    for (guint i = 0; i < keys->len; i++) {
        for (guint input = 0; input < 2; input++) {
            const Part *p = &s->parts[s->part_of[input][g_array_index(keys, guint, i)]];
            *ends |= p->open;
            for (guint k = 0; k < p->n; k++)
                if (g_hash_table_remove(left, GUINT_TO_POINTER(p->keys[k])))
                    g_array_append_val(keys, p->keys[k]);
        }
    }
    return keys;
}

/* Solves the undecided keys of KEYS, one connected part at a time. ENDS: the open rows depend on
 * them, so those come last. */
static gboolean search_all(Solver *s, const GArray *keys, gboolean ends)
{
    GHashTable *left = g_hash_table_new(NULL, NULL);
    GArray *last = g_array_new(FALSE, FALSE, sizeof(guint));
    gboolean good = TRUE;
    for (guint i = 0; i < keys->len; i++) {
        guint key = g_array_index(keys, guint, i);
        if (s->domains[key] != NULL && s->domains[key]->len > 1)
            g_hash_table_add(left, GUINT_TO_POINTER(key));
    }
    for (guint i = 0; i < keys->len && good; i++) {
        guint key = g_array_index(keys, guint, i);
        if (!g_hash_table_contains(left, GUINT_TO_POINTER(key)))
            continue;
        gboolean open;
        GArray *part = component(s, left, key, &open);
        if (open)
            g_array_append_vals(last, part->data, part->len);
        else
            good = search(s, part, FALSE);
        g_array_unref(part);
    }
    good = good && (last->len > 0 ? search(s, last, ends) : !ends || solve_ending(s));
    g_hash_table_unref(left);
    g_array_unref(last);
    return good;
}

static gboolean search(Solver *s, const GArray *keys, gboolean ends)
{
    guint best = g_array_index(keys, guint, 0);
    for (guint i = 1; i < keys->len; i++)
        if (s->domains[g_array_index(keys, guint, i)]->len < s->domains[best]->len)
            best = g_array_index(keys, guint, i);
    GArray *values = g_array_ref(s->domains[best]), **before = g_new(GArray *, keys->len);
    for (guint i = 0; i < keys->len; i++)
        before[i] = g_array_ref(s->domains[g_array_index(keys, guint, i)]);
    gboolean found = FALSE;
    for (guint v = 0; v < values->len && !found && s->trials++ < MAX_TRIALS; v++) {
        GArray *one = g_array_new(FALSE, FALSE, sizeof(guint));
        g_array_append_val(one, g_array_index(values, guint, v));
        set_domain(s, best, one);
        for (guint input = 0; input < 2; input++)
            g_queue_push_tail(s->due, GUINT_TO_POINTER(s->part_of[input][best]));
        found = propagate(s) && search_all(s, keys, ends);
        for (guint i = 0; i < keys->len && !found; i++)
            set_domain(s, g_array_index(keys, guint, i), g_array_ref(before[i]));
    }
    for (guint i = 0; i < keys->len; i++)
        g_array_unref(before[i]);
    g_free(before);
    g_array_unref(values);
    return found;
}

/* -- the whole window -- */

/* Initializes S. END items are removed from the end of each closed row. */
static void solver_init(Solver *s, const HandlerGroup *const groups[2], const guint n_groups[2],
                        guint n_keys, gsize end)
{
    s->n_parts = n_groups[0] + n_groups[1];
    s->n_keys = n_keys;
    s->parts = g_new0(Part, s->n_parts);
    s->keys = g_new(guint, MAX(2 * n_keys, 1));
    s->known = g_new0(Row, MAX(n_keys, 1));
    s->due = g_queue_new();
    guint *keys = s->keys;
    for (guint input = 0; input < 2; input++) {
        s->last[input] = (input == 1 ? n_groups[0] : 0) + n_groups[input] - 1;
        s->part_of[input] = g_new0(guint, MAX(n_keys, 1));
        for (guint i = 0; i < n_groups[input]; i++) {
            const HandlerGroup *group = &groups[input][i];
            guint index = (input == 1 ? n_groups[0] : 0) + i;
            s->parts[index] = (Part){keys, group->n, group->row, i + 1 == n_groups[input], 0};
            if (!s->parts[index].open)
                s->parts[index].row.n -= end;
            for (guint k = 0; k < group->n; k++) {
                *keys++ = group->keys[k];
                s->part_of[input][group->keys[k]] = index;
            }
        }
    }
    s->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
    g_array_append_val(s->nodes, ((Node){{s->parts[0].row.items, 0, 0}, 0}));
    s->children = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    s->words =
        g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
    s->domains = g_new0(GArray *, MAX(n_keys, 1));
}

static void solver_clear(Solver *s)
{
    for (guint k = 0; k < s->n_keys; k++)
        if (s->domains[k] != NULL)
            g_array_unref(s->domains[k]);
    g_free(s->domains);
    g_hash_table_unref(s->words);
    g_hash_table_unref(s->children);
    g_array_unref(s->nodes);
    g_queue_free(s->due);
    g_free(s->part_of[0]);
    g_free(s->part_of[1]);
    g_free(s->known);
    g_free(s->keys);
    g_free(s->parts);
}

static CompletionHandlersResult solve(Solver *s)
{
    join_neighbours(s);
    solve_joint(s);
    for (guint i = 0; i < s->n_parts; i++)
        g_queue_push_tail(s->due, GUINT_TO_POINTER(i));
    if (!conclude(s))
        return COMPLETION_HANDLERS_NONE;
    GArray *keys = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < s->n_parts; i++) {
        const Part *p = &s->parts[i];
        for (guint k = 0; k < p->n; k++) {
            guint key = p->keys[k];
            if (!s->domains[key] && !is_free(s, key)) {
                s->domains[key] = domain_of(s, key);
                g_array_append_val(keys, key);
            }
        }
        g_queue_push_tail(s->due, GUINT_TO_POINTER(i));
    }
    gboolean fits = propagate(s) && search_all(s, keys, TRUE);
    g_array_unref(keys);
    return fits       ? COMPLETION_HANDLERS_FIT
           : s->found ? COMPLETION_HANDLERS_HERE
                      : COMPLETION_HANDLERS_NONE;
}

/* The number of items that all closed rows end with. These are calls at the top of a loop, which
 * come before each completion except the first. */
static gsize common_end(const HandlerGroup *const groups[2], const guint n_groups[2])
{
    if (n_groups[0] != n_groups[1] || n_groups[0] < 2)
        return 0;
    const Row *first = &groups[0][0].row;
    gsize n = first->n;
    for (guint input = 0; input < 2; input++) {
        for (guint i = 0; i + 1 < n_groups[input]; i++) {
            const Row *row = &groups[input][i].row;
            gsize same = 0;
            while (same < n && same < row->n
                   && row_item(row, row->n - 1 - same).number
                          == row_item(first, first->n - 1 - same).number)
                same++;
            n = same;
        }
    }
    return n;
}

CompletionHandlersResult completion_handlers_solve(const HandlerGroup *const groups[2],
                                                   const guint n_groups[2], guint n_keys,
                                                   gsize behind[2], Item apart_at[2])
{
    gsize longest = common_end(groups, n_groups);
    CompletionHandlersResult best = COMPLETION_HANDLERS_NONE;
    Item ignored[2];
    memset(apart_at, 0, 2 * sizeof *apart_at);
    for (gsize i = 0; i <= longest && best != COMPLETION_HANDLERS_FIT; i++) {
        gsize here[2];
        Solver s = {.apart_at = i == 0 ? apart_at : ignored, .behind = here};
        memset(ignored, 0, sizeof ignored);
        solver_init(&s, groups, n_groups, n_keys, i == 0 ? 0 : longest + 1 - i);
        CompletionHandlersResult result = solve(&s);
        if (result > best) {
            best = result;
            memcpy(behind, here, sizeof here);
        }
        solver_clear(&s);
    }
    return best;
}
