/* SPDX-License-Identifier: BSD-3-Clause */
/* class-alignment.c: classes whose calls are in great part the same, as one. See
 * class-alignment.h. */
#include "class-alignment.h"

#include <string.h>

#include "base/pairs.h"
#include "base/shortage.h"
#include "record/functions.h"
#include "record/grammar.h"
#include "record/layout.h"

/* Once so many calls and edits have been looked at (a second or two) all that are left stay
 * apart. */
enum { WORK_MAX = 1 << 26 };
/* How many classes a class is compared with: always the same ones, once there are so many. After so
 * many classes in a row that are like none of these the ones left stay apart, too. Else a program
 * whose ranks have nothing in common would be searched for the longer the more ranks there are. */
enum { TRIES = 8, MISSES_MAX = 64 };

/* -- what classes are compared by -- */

/* Of one sequence. Classes are compared with several others, so this is found once. */
typedef struct {
    guint32 *numbers; /* by shape of its table: the shape's number among those of all sequences */
    guint64 *calls;   /* by shape; NULL: the sequence is too long, or damaged */
    guint64 all;      /* calls */
} Profile;

typedef struct {
    GHashTable *numbers;  /* GBytes, the words of a shape: its number + 1 */
    GHashTable *profiles; /* Sequence: Profile */
    GArray *calls;        /* scratch, guint64 by number; all 0 */
    gint64 left;          /* of WORK_MAX */
} Search;

static void profile_free(gpointer profile)
{
    Profile *p = profile;
    g_free(p->numbers);
    g_free(p->calls);
    g_free(p);
}

static void search_init(Search *s)
{
    *s = (Search){
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL),
        g_hash_table_new_full(NULL, NULL, NULL, profile_free),
        g_array_new(FALSE, TRUE, sizeof(guint64)), WORK_MAX};
}

static void search_clear(Search *s)
{
    g_hash_table_unref(s->numbers);
    g_hash_table_unref(s->profiles);
    g_array_unref(s->calls);
}

/* By shape of T; g_free. */
static guint32 *number_shapes(Search *s, const Table *t)
{
    guint32 *numbers = g_new(guint32, t->n_shapes + 1);
    ShapeRow *rows = table_shapes(t);
    for (guint i = 0; i < t->n_shapes; i++) {
        g_autoptr(GBytes) key = g_bytes_new(rows[i].words, rows[i].n * sizeof(gint64));
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(s->numbers, key));
        if (number == 0) {
            number = g_hash_table_size(s->numbers) + 1;
            g_hash_table_insert(s->numbers, g_steal_pointer(&key), GUINT_TO_POINTER(number));
        }
        numbers[i] = number - 1;
    }
    table_shapes_free(rows, t->n_shapes);
    return numbers;
}

/* How often a sequence calls each shape, and *ALL together; g_free. NULL: it is too long, or
 * damaged. */
static guint64 *count_shapes(const Sequence *s, guint64 *all)
{
    RuleRow row;
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return NULL;
    g_autofree guint64 *counts = g_new0(guint64, s->table.n_terminals + 1);
    guint64 *shapes = g_new0(guint64, s->table.n_shapes + 1);
    gboolean good = rules_length(&row, all) && *all <= PAIRS_LENGTH_MAX;
    if (good)
        rules_count(&row, counts);
    rules_clear(&row);
    for (guint i = 0; i < s->table.n_terminals; i++)
        shapes[s->table.terminal_shape[i]] += counts[i];
    if (!good)
        g_clear_pointer(&shapes, g_free);
    return shapes;
}

static const Profile *profile_of(Search *s, const Sequence *sequence)
{
    Profile *p = g_hash_table_lookup(s->profiles, sequence);
    if (!p) {
        p = g_new0(Profile, 1);
        p->numbers = number_shapes(s, &sequence->table);
        p->calls = count_shapes(sequence, &p->all);
        g_hash_table_insert(s->profiles, (gpointer)sequence, p);
    }
    return p;
}

/* K changes, or ends. */
static void search_forget(Search *s, const Class *k)
{
    for (guint q = 0; q < k->n_sequences; q++)
        g_hash_table_remove(s->profiles, &k->sequences[q]);
}

/* Without strided terminals. FALSE: as class_spread. */
static gboolean spread(Search *s, Class *k)
{
    if (!class_is_strided(k))
        return TRUE;
    search_forget(s, k);
    return class_spread(k);
}

/* Half of all calls have shapes of which the other one makes as many. */
static gboolean has_common(Search *search, const Sequence *s, const Sequence *t)
{
    const Profile *a = profile_of(search, s), *b = profile_of(search, t);
    guint64 common = 0;
    if (!a->calls || !b->calls)
        return FALSE;
    g_array_set_size(search->calls, g_hash_table_size(search->numbers));
    guint64 *of_s = (guint64 *)(gpointer)search->calls->data;
    for (guint i = 0; i < s->table.n_shapes; i++)
        of_s[a->numbers[i]] = a->calls[i];
    for (guint i = 0; i < t->table.n_shapes; i++)
        common += MIN(of_s[b->numbers[i]], b->calls[i]);
    for (guint i = 0; i < s->table.n_shapes; i++)
        of_s[a->numbers[i]] = 0;
    return 4 * common >= a->all + b->all;
}

/* -- which terminals can be one -- */

enum { LIKE_UNKNOWN, LIKE_NO, LIKE_YES };
enum { SLOT_OTHER, SLOT_SIZE, SLOT_PARTNER };

typedef struct {
    const Table *tables[2];
    const guint32 *numbers[2]; /* of their shapes, among those of all */
    ShapeRow *shapes;          /* of the first; NULL until they are needed */
    gboolean sizes;            /* calls of other sizes are others */
    guint8 *slot_kinds;        /* by slot of the first, for terminals that FITS has */
    guint8 *fits;  /* by terminal of the first: does its row of slots fit its function? */
    guint8 *known; /* by pair of terminals; NULL: they are too many, and shapes decide */
    Layout layout;
} Likeness;

enum { PAIRS_MAX = 1 << 20 };

static void likeness_init(Likeness *l, Search *search, const Sequence *s, const Sequence *t,
                          gboolean sizes)
{
    const Table *a = &s->table, *b = &t->table;
    guint64 n = (guint64)a->n_terminals * b->n_terminals;
    *l = (Likeness){.tables = {a, b},
                    .sizes = sizes,
                    .numbers = {profile_of(search, s)->numbers, profile_of(search, t)->numbers},
                    .known = n <= PAIRS_MAX ? g_new0(guint8, n + 1) : NULL};
    l->fits = g_new0(guint8, a->n_terminals + 1);
    l->slot_kinds = g_new(guint8, a->first_slot[a->n_terminals] + 1);
    layout_init(&l->layout);
}

static void likeness_clear(Likeness *l)
{
    if (l->shapes)
        table_shapes_free(l->shapes, l->tables[0]->n_shapes);
    g_free(l->slot_kinds);
    g_free(l->fits);
    g_free(l->known);
    layout_clear(&l->layout);
}

static gboolean same_shape(const Likeness *l, guint32 a, guint32 b)
{
    const Table *x = l->tables[0], *y = l->tables[1];
    return l->numbers[0][x->terminal_shape[a]] == l->numbers[1][y->terminal_shape[b]]
           && x->first_slot[a + 1] - x->first_slot[a] == y->first_slot[b + 1] - y->first_slot[b];
}

/* The kinds of the slots of A. FALSE: they are not those of its function. */
static gboolean find_slot_kinds(Likeness *l, guint32 a)
{
    const Table *x = l->tables[0];
    if (!l->shapes)
        l->shapes = table_shapes(x);
    const ShapeRow *row = &l->shapes[x->terminal_shape[a]];
    const WendFunction *f = &wend_functions[row->words[0] / 2];
    guint n = x->first_slot[a + 1] - x->first_slot[a];
    if (!layout_fits(&l->layout, f, row->words, row->n, n))
        return FALSE;
    for (guint i = 0; i < n; i++) {
        WendKind kind = f->params[g_array_index(l->layout.slot_param, gint16, i)].kind;
        l->slot_kinds[x->first_slot[a] + i] = kind == WEND_KIND_RANK || kind == WEND_KIND_TAG
                                                  ? SLOT_PARTNER
                                              : kind == WEND_KIND_COUNT ? SLOT_SIZE
                                                                        : SLOT_OTHER;
    }
    return TRUE;
}

/* A rank sends to its left neighbour and to its right one with calls of one shape. What is the same
 * call of the program has one expression for the partner and the tag, or rows of values; sizes and
 * places may well differ. */
static gboolean same_partner(Likeness *l, guint32 a, guint32 b)
{
    const Table *x = l->tables[0], *y = l->tables[1];
    guint8 least = l->sizes ? SLOT_SIZE : SLOT_PARTNER;
    if (l->fits[a] == LIKE_UNKNOWN)
        l->fits[a] = find_slot_kinds(l, a) ? LIKE_YES : LIKE_NO;
    if (l->fits[a] == LIKE_NO)
        return FALSE;
    for (guint i = x->first_slot[a], k = y->first_slot[b]; i < x->first_slot[a + 1]; i++, k++) {
        const RankVector *v = &x->slots[i], *w = &y->slots[k];
        if (l->slot_kinds[i] >= least && !rank_vector_is_deltas(v) && !rank_vector_is_deltas(w)
            && !rank_vector_joins(v, w))
            return FALSE;
    }
    return TRUE;
}

static gboolean alike(Likeness *l, guint32 a, guint32 b)
{
    if (!l->known)
        return same_shape(l, a, b);
    guint8 *known = &l->known[(gsize)a * l->tables[1]->n_terminals + b];
    if (*known == LIKE_UNKNOWN)
        *known = same_shape(l, a, b) && same_partner(l, a, b) ? LIKE_YES : LIKE_NO;
    return *known == LIKE_YES;
}

/* How many terminals of one table (SECOND: the second) can be one with none of the other. */
static guint count_lone(Likeness *l, gboolean second, gint64 *left)
{
    guint n = l->tables[second]->n_terminals, others = l->tables[!second]->n_terminals, lone = 0;
    for (guint32 i = 0; i < n; i++) {
        guint32 k = 0;
        while (k < others && !(second ? alike(l, k, i) : alike(l, i, k)))
            k++;
        lone += k == others;
        *left -= 1 + k / 8; /* most pairs differ in shape, and that is told at once */
    }
    return lone;
}

/* Can the result have at most MOST terminals? It has all those of one table, and those of the other
 * that can be one with none of them. */
static gboolean may_have_few(Likeness *l, guint64 most, gint64 *left)
{
    if (!l->known)
        return TRUE; /* there are too many pairs to look at */
    guint64 n = l->tables[0]->n_terminals, others = l->tables[1]->n_terminals;
    return n + count_lone(l, TRUE, left) <= most && others + count_lone(l, FALSE, left) <= most;
}

/* -- an order for the calls of both -- */

/* Calls one after the other, as terminals. */
typedef struct {
    guint32 *calls;
    guint n;
} Unfolded;

static gboolean unfold(const Sequence *s, Unfolded *u)
{
    RuleRow row;
    guint64 length;
    *u = (Unfolded){NULL, 0};
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return FALSE;
    gboolean good = rules_length(&row, &length) && length <= PAIRS_LENGTH_MAX;
    if (good) {
        u->calls = g_new(guint32, length + 1);
        Expansion x = rules_expand(&row);
        while (x.run) {
            for (guint64 i = 0; i < x.run; i++)
                u->calls[u->n++] = x.terminal;
            expansion_advance(&x, x.run);
        }
        expansion_clear(&x);
    }
    rules_clear(&row);
    return good;
}

/* Where two sequences part they are compared by the greedy algorithm of E. W. Myers, "An O(ND)
 * Difference Algorithm and Its Variations" (1986), until so many calls in a row are alike. So time
 * follows the calls, and what repeats itself parts in the same way each time. If so many edits do
 * not do, either one of them has a long row of calls that the other one has not, or they part again
 * and again: then what leads furthest is taken for half of the way, if of its calls a quarter
 * meet. */
enum { SURE = 8, EDITS_MAX = 256, MEET = 4 };

/* Terminals beside those that follow from what two sequences have. */
enum { MORE_MAX = 8 };

typedef struct {
    Likeness *like;
    Unfolded of[2];
    guint at[2];
    Pairs pairs;
    WendGrammar *grammar;
    /* more, and which calls are one on a rank is by chance: to have values of both for each pair
     * would help nobody who reads them */
    guint64 terminals_max;
    gint64 *left;    /* of WORK_MAX */
    GArray *reached; /* gint32, a row for each number of edits (row_of) */
    /* guint8, backwards: which side's call stands alone, or that calls meet */
    GArray *edits;
} Alignment;

enum { EDIT_A, EDIT_B, EDIT_BOTH };

static gboolean emit(Alignment *w, guint edit)
{
    guint32 a = edit == EDIT_B ? PAIR_NONE : w->of[0].calls[w->at[0]++],
            b = edit == EDIT_A ? PAIR_NONE : w->of[1].calls[w->at[1]++];
    if (!wend_grammar_append(w->grammar, pairs_number(&w->pairs, a, b), 1))
        wend_shortage();
    return pairs_count(&w->pairs) <= w->terminals_max;
}

static gboolean meets(const Alignment *w, gint32 x, gint32 y)
{
    guint i = w->at[0] + (guint)x, j = w->at[1] + (guint)y;
    return i < w->of[0].n && j < w->of[1].n && alike(w->like, w->of[0].calls[i], w->of[1].calls[j]);
}

/* How far in a so many edits lead on each diagonal (calls of a less calls of b); -1: nowhere. They
 * lead to each second diagonal alone: -edits, -edits + 2 … edits. */
static gint32 *row_of(const Alignment *w, gint32 edits)
{
    return &g_array_index(w->reached, gint32, edits * (edits + 1) / 2);
}

/* By which edit a diagonal is best reached, and how far; -1: not at all. */
static gint32 start_of(const Alignment *w, gint32 edits, gint32 diagonal, guint *edit)
{
    const gint32 *before = row_of(w, edits - 1);
    gint32 at = (edits + diagonal) / 2;
    gint32 by_a = at > 0 ? before[at - 1] : -1, by_b = at < edits ? before[at] : -1;
    by_a = by_a < 0 || w->at[0] + (guint)by_a >= w->of[0].n ? -1 : by_a + 1;
    if (by_b >= 0 && w->at[1] + (guint)(by_b - diagonal) > w->of[1].n)
        by_b = -1;
    *edit = by_a > by_b ? EDIT_A : EDIT_B;
    return MAX(by_a, by_b);
}

/* The edits back from there to where the sequences part. */
static void trace_back(Alignment *w, gint32 edits, gint32 diagonal)
{
    g_array_set_size(w->edits, 0);
    for (; edits > 0; edits--) {
        guint edit;
        gint32 x = row_of(w, edits)[(edits + diagonal) / 2];
        gint32 start = start_of(w, edits, diagonal, &edit);
        for (; x > start; x--)
            g_array_append_vals(w->edits, (guint8[]){EDIT_BOTH}, 1);
        g_array_append_vals(w->edits, (guint8[]){(guint8)edit}, 1);
        diagonal += edit == EDIT_A ? -1 : 1;
    }
}

/* The edits found, up to so many. */
static gboolean emit_edits(Alignment *w, guint n)
{
    for (guint i = 0; i < n; i++)
        if (!emit(w, g_array_index(w->edits, guint8, w->edits->len - 1 - i)))
            return FALSE;
    return TRUE;
}

static gboolean is_end(const Alignment *w, gint32 x, gint32 y)
{
    return w->at[0] + (guint)x == w->of[0].n && w->at[1] + (guint)y == w->of[1].n;
}

/* One of them (*EDIT) has a row of so many calls that the other one has not, and behind it they are
 * alike. 0: there is no such row. */
static gint32 find_row(Alignment *w, guint *edit)
{
    gint32 left_a = (gint32)(w->of[0].n - w->at[0]), left_b = (gint32)(w->of[1].n - w->at[1]);
    for (gint32 n = 1; n <= MAX(left_a, left_b) && *w->left > 0; n++)
        for (*edit = EDIT_A; *edit <= EDIT_B; ++*edit) {
            gint32 x = *edit == EDIT_A ? n : 0, y = n - x, sure = 0;
            if (x > left_a || y > left_b)
                continue;
            while (sure < SURE && meets(w, x + sure, y + sure))
                sure++;
            *w->left -= 1 + sure;
            if (sure == SURE || is_end(w, x + sure, y + sure))
                return n;
        }
    return 0;
}

/* Half of the way that leads furthest with so many edits. FALSE: too few calls meet there. */
static gboolean pass_half(Alignment *w, gint32 edits)
{
    gint32 furthest = 0, diagonal = 0;
    guint meeting = 0;
    for (gint32 k = -edits; k <= edits; k += 2) {
        gint32 x = row_of(w, edits)[(edits + k) / 2];
        if (x < 0 || 2 * x - k <= furthest)
            continue;
        furthest = 2 * x - k;
        diagonal = k;
    }
    trace_back(w, edits, diagonal);
    for (guint i = 0; i < w->edits->len; i++)
        meeting += g_array_index(w->edits, guint8, i) == EDIT_BOTH;
    return MEET * meeting >= w->edits->len && emit_edits(w, (w->edits->len + 1) / 2);
}

/* From where the calls at hand are not alike to where they are again. FALSE: it does not get
 * there. */
static gboolean pass_difference(Alignment *w)
{
    g_array_set_size(w->reached, 1);
    *row_of(w, 0) = 0;
    for (gint32 edits = 1; edits <= EDITS_MAX && *w->left > 0; edits++) {
        g_array_set_size(w->reached, (guint)((edits + 1) * (edits + 2) / 2));
        gint32 *row = row_of(w, edits);
        for (gint32 k = -edits; k <= edits; k += 2) {
            guint edit;
            gint32 start = start_of(w, edits, k, &edit), x = start;
            *row++ = start;
            if (start < 0)
                continue;
            while (meets(w, x, x - k))
                x++;
            row[-1] = x;
            *w->left -= 1 + x - start;
            if (x - start < SURE && !is_end(w, x, x - k))
                continue;
            trace_back(w, edits, k);
            return emit_edits(w, w->edits->len);
        }
    }
    if (*w->left <= 0)
        return FALSE;
    guint edit;
    gint32 row = find_row(w, &edit);
    if (row == 0)
        return pass_half(w, EDITS_MAX);
    gboolean good = TRUE;
    for (; good && row > 0; row--)
        good = emit(w, edit);
    return good;
}

static gboolean align_calls(Alignment *w)
{
    while (w->at[0] < w->of[0].n || w->at[1] < w->of[1].n) {
        if (--*w->left < 0)
            return FALSE;
        if (meets(w, 0, 0) ? !emit(w, EDIT_BOTH) : !pass_difference(w))
            return FALSE;
    }
    return TRUE;
}

/* -- two classes -- */

static void aligned_clear(AlignedSequence *w)
{
    for (int k = 0; k < 2; k++)
        g_free(w->of[k]);
    table_clear(&w->table);
    g_clear_pointer(&w->grammar, g_bytes_unref);
}

static gboolean align_sequence(const Class *a, const Sequence *s, const Class *b, const Sequence *t,
                               gboolean sizes, Search *search, AlignedSequence *out)
{
    gint64 *left = &search->left;
    Likeness like;
    guint32 x = s->table.n_terminals, y = t->table.n_terminals;
    guint64 most = (guint64)MAX(x, y) + MIN(x, y) / 4 + MORE_MAX;
    likeness_init(&like, search, s, t, sizes);
    if (!may_have_few(&like, most, left)) {
        likeness_clear(&like);
        return FALSE;
    }
    Alignment w = {.like = &like,
                   .pairs = pairs_new(s->table.n_terminals),
                   .grammar = wend_grammar_new(),
                   .left = left,
                   .reached = g_array_new(FALSE, FALSE, sizeof(gint32)),
                   .edits = g_array_new(FALSE, FALSE, sizeof(guint8))};
    w.terminals_max = most;
    if (!w.grammar)
        wend_shortage();
    gboolean good = unfold(s, &w.of[0]) && unfold(t, &w.of[1]);
    *left -= w.of[0].n + (gint64)w.of[1].n;
    good = good && *left > 0 && align_calls(&w);
    if (good) {
        WendBuf bytes = WEND_BUF_INIT;
        guint n = pairs_count(&w.pairs);
        wend_grammar_end(w.grammar, &bytes);
        if (bytes.failed)
            wend_shortage();
        out->grammar = g_bytes_new(bytes.data, bytes.len);
        wend_buf_clear(&bytes);
        for (int k = 0; k < 2; k++)
            out->of[k] = g_memdup2(w.pairs.of[k]->data, n * sizeof(guint32));
        out->table = table_aligned(&s->table, &a->ranks, &t->table, &b->ranks,
                                   (const guint32 *const *)out->of, n);
    } else {
        wend_grammar_free(w.grammar);
    }
    for (int k = 0; k < 2; k++)
        g_free(w.of[k].calls);
    g_array_unref(w.reached);
    g_array_unref(w.edits);
    pairs_clear(&w.pairs);
    likeness_clear(&like);
    return good;
}

/* What a symbol that only some ranks have takes in an archive, more or less. */
enum { CONDITION = 3 };

static GBytes *set_bytes(const RankSet *ranks)
{
    WendBuf set = WEND_BUF_INIT;
    rankset_encode(ranks, &set);
    GBytes *bytes = g_bytes_new(set.data, set.len);
    wend_buf_clear(&set);
    return bytes;
}

/* Sets and rows of the same variants are alike, and so compression has them once. */
static gsize cost_aligned(const AlignedSequence *w, guint32 ranks)
{
    const Table *t = &w->table;
    g_autoptr(GHashTable) sets =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    gsize cost = class_cost(t, w->grammar, ranks, NULL);
    for (guint i = 0; i < t->n_terminals; i++) {
        if (t->ranks[i].n == ranks)
            continue;
        GBytes *set = set_bytes(&t->ranks[i]);
        cost += CONDITION;
        /* it takes the reference in any case */
        if (g_hash_table_add(sets, set))
            cost += g_bytes_get_size(set);
    }
    return cost;
}

/* Terminals of the second class that have one expression with those that they meet would be these
 * in the archive, too. */
static gsize cost_apart(const Class *a, const Sequence *s, const Class *b, const Sequence *t,
                        const AlignedSequence *w)
{
    g_autofree guint8 *known = g_new0(guint8, t->table.n_terminals + 1);
    for (guint i = 0; i < w->table.n_terminals; i++) {
        guint32 x = w->of[0][i], y = w->of[1][i];
        if (x == PAIR_NONE || y == PAIR_NONE)
            continue;
        gboolean one = TRUE;
        for (guint k = s->table.first_slot[x]; one && k < s->table.first_slot[x + 1]; k++)
            one = rank_vector_joins(
                &s->table.slots[k],
                &t->table.slots[t->table.first_slot[y] + k - s->table.first_slot[x]]);
        known[y] |= one;
    }
    g_autoptr(GBytes) set = set_bytes(&b->ranks);
    return class_cost(&s->table, s->grammar, a->ranks.n, NULL)
           + class_cost(&t->table, t->grammar, b->ranks.n, known) + g_bytes_get_size(set);
}

/* What two classes are as one, and what that saves. */
typedef struct {
    AlignedSequence *sequences;
    guint n;
    gsize saved;
} Plan;

static void plan_clear(Plan *p)
{
    for (guint q = 0; q < p->n; q++)
        aligned_clear(&p->sequences[q]);
    g_free(p->sequences);
    *p = (Plan){0};
}

/* Does it save an eighth at least? What is known of costs is known more or less. If not, nothing is
 * in PLAN. */
static gboolean plan_as(const Class *a, const Class *b, gboolean sizes, Search *search, Plan *plan)
{
    gsize apart = 0, one = 0;
    gboolean good = TRUE;
    *plan = (Plan){g_new0(AlignedSequence, a->n_sequences + 1), a->n_sequences, 0};
    for (guint q = 0; good && q < a->n_sequences; q++) {
        const Sequence *s = &a->sequences[q], *t = &b->sequences[q];
        good = align_sequence(a, s, b, t, sizes, search, &plan->sequences[q]);
        if (!good)
            break;
        apart += cost_apart(a, s, b, t, &plan->sequences[q]);
        one += cost_aligned(&plan->sequences[q], a->ranks.n + b->ranks.n);
    }
    good = good && one + apart / 8 <= apart;
    if (good)
        plan->saved = apart - one;
    else
        plan_clear(plan);
    return good;
}

/* Ranks that make calls of other threads or callbacks are not aligned, nor those that were found to
 * tell calls of the same shapes apart by chance. In loops over levels calls of other sizes are
 * those of other levels; but a rank at a border may have sizes of its own. */
static gboolean plan_alignment(Class *a, Class *b, Search *search, Plan *plan)
{
    if (a->n_sequences != b->n_sequences
        || (a->apart && b->apart && g_bytes_equal(a->shapes_key, b->shapes_key)))
        return FALSE;
    for (guint q = 0; q < a->n_sequences; q++)
        if (a->sequences[q].kind != b->sequences[q].kind || a->sequences[q].id != b->sequences[q].id
            || !has_common(search, &a->sequences[q], &b->sequences[q]))
            return FALSE;
    if (!spread(search, a) || !spread(search, b))
        return FALSE;
    return plan_as(a, b, TRUE, search, plan) || plan_as(a, b, FALSE, search, plan);
}

/* -- who makes which calls -- */

/* A class that others have been aligned into, and the ranks of each of them. */
typedef struct {
    Class *class;
    GArray *ranks; /* RankSet */
} Aligned;

/* By terminal of S: which variants make the call, as a number, 0 being all of them. ROWS: by
 * number, one byte for each variant. */
static guint32 *who_calls(const Sequence *s, const GArray *variants, GPtrArray *rows)
{
    g_autoptr(GHashTable) numbers = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    guint32 *who = g_new0(guint32, s->table.n_terminals + 1);
    g_autofree guint8 *row = g_new(guint8, variants->len);
    memset(row, 1, variants->len);
    g_ptr_array_add(rows, g_bytes_new(row, variants->len));
    g_hash_table_insert(numbers, rows->pdata[0], GUINT_TO_POINTER(0));
    for (guint t = 0; s->table.ranks && t < s->table.n_terminals; t++) {
        for (guint v = 0; v < variants->len; v++)
            row[v] = (guint8)rankset_contains(&s->table.ranks[t],
                                              rankset_lowest(&g_array_index(variants, RankSet, v)));
        GBytes *key = g_bytes_new(row, variants->len);
        gpointer number;
        if (g_hash_table_lookup_extended(numbers, key, NULL, &number)) {
            g_bytes_unref(key);
        } else {
            number = GUINT_TO_POINTER(rows->len);
            g_ptr_array_add(rows, key);
            g_hash_table_insert(numbers, key, number);
        }
        who[t] = GPOINTER_TO_UINT(number);
    }
    return who;
}

/* What all symbols of a rule have in common is said where the rule is used: 0 if that is
 * nothing. */
static guint32 who_calls_all(const Rule *rule, const guint32 *of_terminal, const guint32 *of_rule)
{
    guint32 all = 0;
    for (guint k = 0; k < rule->n; k++) {
        const WendSymbol *y = &rule->symbols[k];
        guint32 who = y->is_rule ? of_rule[y->id] : of_terminal[y->id];
        if (who == 0 || (k > 0 && who != all))
            return 0;
        all = who;
    }
    return all;
}

/* Appends to REPEATS, by variant, those of all symbols of S. */
static gboolean add_repeats(const Sequence *s, const GArray *variants, GArray *const *repeats)
{
    RuleRow row;
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return FALSE;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_autofree guint32 *of_terminal = who_calls(s, variants, rows),
                       *of_rule = g_new0(guint32, row.n_rules + 1);
    guint n;
    g_autofree guint32 *order = rules_bottom_up(&row, &n);
    for (guint i = 0; order && i < n; i++)
        if (order[i] > 0)
            of_rule[order[i]] = who_calls_all(&row.rules[order[i]], of_terminal, of_rule);
    for (guint i = 0; order && i < row.n_rules; i++)
        for (guint k = 0; k < row.rules[i].n; k++) {
            const WendSymbol *y = &row.rules[i].symbols[k];
            guint32 who = y->is_rule ? of_rule[y->id] : of_terminal[y->id];
            const guint8 *calls =
                who != of_rule[i] ? g_bytes_get_data(rows->pdata[who], NULL) : NULL;
            for (guint v = 0; v < variants->len; v++) {
                guint64 count = !calls || calls[v] ? y->repeats : 0;
                g_array_append_val(repeats[v], count);
            }
        }
    rules_clear(&row);
    return order != NULL;
}

static gint by_lowest_rank(gconstpointer a, gconstpointer b)
{
    guint32 x = rankset_lowest(a), y = rankset_lowest(b);
    return x < y ? -1 : x > y;
}

static Variants *variants_of(const Aligned *w)
{
    guint n = w->ranks->len;
    g_autofree GArray **repeats = g_new(GArray *, n);
    for (guint v = 0; v < n; v++)
        repeats[v] = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_array_sort(w->ranks, by_lowest_rank);
    /* ranks are the first thing in them */
    for (guint q = 0; q < w->class->n_sequences; q++)
        g_array_sort(w->class->sequences[q].aligned_times, by_lowest_rank);
    gboolean good = TRUE;
    for (guint q = 0; good && q < w->class->n_sequences; q++)
        good = add_repeats(&w->class->sequences[q], w->ranks, repeats);
    Variants *v = good ? variants_new(n, (const RankSet *)(gpointer)w->ranks->data, repeats) : NULL;
    for (guint i = 0; i < n; i++)
        g_array_unref(repeats[i]);
    return v;
}

/* -- all -- */

static gint by_size(gconstpointer a, gconstpointer b)
{
    const RankSet *x = &(*(Class *const *)a)->ranks, *y = &(*(Class *const *)b)->ranks;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : by_lowest_rank(x, y);
}

static void aligned_free(gpointer aligned)
{
    Aligned *w = aligned;
    for (guint i = 0; i < w->ranks->len; i++)
        rankset_clear(&g_array_index(w->ranks, RankSet, i));
    g_array_unref(w->ranks);
    g_free(w);
}

/* K into that of ALL with which it saves most; NULL: with none. */
static Aligned *align_into(Search *search, const GPtrArray *all, Class *k)
{
    Plan best = {0};
    Aligned *into = NULL;
    for (guint i = 0; i < MIN(all->len, TRIES) && search->left > 0; i++) {
        Plan plan;
        Aligned *w = all->pdata[i];
        if (!plan_alignment(w->class, k, search, &plan))
            continue;
        if (into && plan.saved <= best.saved) {
            plan_clear(&plan);
            continue;
        }
        plan_clear(&best);
        best = plan;
        into = w;
    }
    if (into) {
        search_forget(search, k);
        search_forget(search, into->class);
        class_align(into->class, k, best.sequences);
    }
    plan_clear(&best);
    return into;
}

gboolean align_classes(WendMerge *m, GHashTable *variants)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(aligned_free);
    g_autoptr(GPtrArray) classes = g_ptr_array_new();
    Search search;
    search_init(&search);
    guint misses = 0;
    for (guint i = 0; i < m->classes->len; i++)
        if (!g_hash_table_contains(variants, m->classes->pdata[i]))
            g_ptr_array_add(classes, m->classes->pdata[i]);
    g_ptr_array_sort(classes, by_size);
    for (guint i = 0; i < classes->len && misses < MISSES_MAX; i++) {
        Class *k = classes->pdata[i];
        RankSet ranks = rankset_copy(&k->ranks);
        Aligned *into = align_into(&search, all, k);
        misses = into ? 0 : misses + 1;
        if (into) {
            g_ptr_array_remove(m->classes, k); /* and frees it */
        } else {
            into = g_new(Aligned, 1);
            *into = (Aligned){k, g_array_new(FALSE, FALSE, sizeof(RankSet))};
            g_ptr_array_add(all, into);
        }
        g_array_append_val(into->ranks, ranks);
    }
    search_clear(&search);
    gboolean good = TRUE;
    for (guint i = 0; good && i < all->len; i++) {
        const Aligned *w = all->pdata[i];
        if (w->ranks->len < 2)
            continue;
        Variants *v = variants_of(w);
        good = v != NULL;
        if (v)
            g_hash_table_insert(variants, w->class, v);
    }
    return good;
}
