/* SPDX-License-Identifier: BSD-3-Clause */
/* class-alignment.c: see class-alignment.h. */
#include "class-alignment.h"

#include <string.h>

#include "base/pairs.h"
#include "base/shortage.h"
#include "record/record.h"
#include "record/layout.h"

/* After this number of compared calls and edits (a second or two), the remaining classes stay
 * apart. */
enum { WORK_MAX = 1 << 26 };
/* The number of classes that each class is compared with; the first ones stay the same. After this
 * number of consecutive classes that resemble none of them, the remaining classes stay apart, too.
 * So the time is limited if ranks have nothing in common. */
enum { TRIES = 8, MISSES_MAX = 64 };

/* -- profiles, by which classes are compared first -- */

/* The profile of a sequence, computed once, as a class is compared with several others. */
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
} AlignmentSearch;

static void profile_free(gpointer profile)
{
    Profile *p = profile;
    g_free(p->numbers);
    g_free(p->calls);
    g_free(p);
}

static void search_init(AlignmentSearch *s)
{
    *s = (AlignmentSearch){
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL),
        g_hash_table_new_full(NULL, NULL, NULL, profile_free),
        g_array_new(FALSE, TRUE, sizeof(guint64)), WORK_MAX};
}

static void search_clear(AlignmentSearch *s)
{
    g_hash_table_unref(s->numbers);
    g_hash_table_unref(s->profiles);
    g_array_unref(s->calls);
}

/* The numbers of T's shapes, by shape. The caller frees it with g_free. */
static guint32 *number_shapes(AlignmentSearch *s, const Table *t)
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

/* The number of calls of each shape in a sequence; *ALL is their sum. NULL: the sequence is too
 * long or damaged. The caller frees it with g_free. */
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

static const Profile *profile_of(AlignmentSearch *s, const Sequence *sequence)
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

/* Removes the profiles of K, which is about to change or to be freed. */
static void search_forget(AlignmentSearch *s, const Class *k)
{
    for (guint q = 0; q < k->n_sequences; q++)
        g_hash_table_remove(s->profiles, &k->sequences[q]);
}

/* Replaces strided terminals of the class. FALSE: as class_spread. */
static gboolean spread(AlignmentSearch *s, Class *k)
{
    if (!class_is_strided(k))
        return TRUE;
    search_forget(s, k);
    return class_spread(k);
}

/* Do both make the same number of calls of shapes that together have half of all calls? */
static gboolean has_common(AlignmentSearch *search, const Sequence *s, const Sequence *t)
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

/* -- which terminals can become one -- */

enum { LIKE_UNKNOWN, LIKE_NO, LIKE_YES };
enum { SLOT_OTHER, SLOT_SIZE, SLOT_PARTNER };

typedef struct {
    const Table *tables[2];
    const guint32 *numbers[2]; /* by shape of each: its number among the shapes of all sequences */
    ShapeRow *shapes;          /* of the first; NULL until they are needed */
    gboolean sizes;            /* calls of different sizes do not become one */
    guint8 *slot_kinds;        /* by slot of the first, for terminals that FITS has */
    guint8 *fits;  /* by terminal of the first: does its row of slots fit its function? */
    guint8 *known; /* by pair of terminals; NULL: there are too many, and shapes decide */
    Layout layout;
} Likeness;

enum { PAIRS_MAX = 1 << 20 };

static void likeness_init(Likeness *l, AlignmentSearch *search, const Sequence *s,
                          const Sequence *t, gboolean sizes)
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

/* Sets the kinds of the slots of a terminal of A. FALSE: they do not fit its function. */
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

/* May two terminals of one shape be the same call of the program? A rank sends to its left and to
 * its right neighbour with calls of one shape. So the same call has one expression for the partner
 * and for the tag, or a delta sequence; sizes and addresses may differ. */
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

/* The number of terminals of one table (SECOND: the second) that can become one with no terminal of
 * the other. */
static guint count_lone(Likeness *l, gboolean second, gint64 *left)
{
    guint n = l->tables[second]->n_terminals, others = l->tables[!second]->n_terminals, lone = 0;
    for (guint32 i = 0; i < n; i++) {
        guint32 k = 0;
        while (k < others && !(second ? alike(l, k, i) : alike(l, i, k)))
            k++;
        lone += k == others;
        *left -= 1 + k / 8; /* most pairs differ in shape, which takes little time */
    }
    return lone;
}

/* Can the result have at most MOST terminals? It has all terminals of one table, and those of the
 * other that can become one with none of them. */
static gboolean may_have_few(Likeness *l, guint64 most, gint64 *left)
{
    if (!l->known)
        return TRUE; /* too many pairs to check */
    guint64 n = l->tables[0]->n_terminals, others = l->tables[1]->n_terminals;
    return n + count_lone(l, TRUE, left) <= most && others + count_lone(l, FALSE, left) <= most;
}

/* -- an order for the calls of both sequences -- */

/* A list of calls, as terminals. */
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

/* Where two sequences differ they are compared by the greedy algorithm of E. W. Myers, "An O(ND)
 * Difference Algorithm and Its Variations" (1986), until SURE consecutive calls are equal. So time
 * is linear in the calls, and repeated differences get the same edits each time. If EDITS_MAX edits
 * are not enough, then either one sequence has a long run of calls that the other lacks, or they
 * differ again and again. In the second case the first half of the furthest path is taken, if one
 * of MEET of its calls meets another. */
enum { SURE = 8, EDITS_MAX = 256, MEET = 4 };

/* The number of terminals that the result may have beyond those that the two sequences need. */
enum { MORE_MAX = 8 };

typedef struct {
    Likeness *like;
    Unfolded of[2];
    guint at[2];
    Pairs pairs;
    WendGrammar *grammar;
    /* With more terminals, equal slots on a rank are random: values for each pair of terminals
     * would help no reader */
    guint64 terminals_max;
    gint64 *left;    /* of WORK_MAX */
    GArray *reached; /* gint32, a row for each number of edits (row_of) */
    /* guint8, backwards: a call of one side alone, or calls that meet */
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

/* The row of EDITS: by diagonal (calls of a minus calls of b), the furthest call of a that so many
 * edits reach, or -1. They reach only each second diagonal: -edits, -edits + 2 … edits. */
static gint32 *row_of(const Alignment *w, gint32 edits)
{
    return &g_array_index(w->reached, gint32, edits * (edits + 1) / 2);
}

/* The edit that reaches furthest on a diagonal, and how far that is; -1: none reaches it. */
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

/* Lists the edits from there back to where the sequences differ first. */
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

/* Applies the listed edits, up to the given number. */
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

/* If one sequence (*EDIT) has a run of calls that the other lacks, and both are equal behind it:
 * returns the length of the run, else 0. */
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

/* Applies the first half of the path that reaches furthest with so many edits. FALSE: too few calls
 * meet on it. */
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

/* Goes from the current calls, which differ, to where the sequences are equal again. FALSE: it does
 * not get there. */
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
                               gboolean sizes, AlignmentSearch *search, AlignedSequence *out)
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

/* An estimate of the bytes that a symbol of only some ranks takes in an archive. */
enum { CONDITION = 3 };

static GBytes *set_bytes(const RankSet *ranks)
{
    WendBuf set = WEND_BUF_INIT;
    rankset_encode(ranks, &set);
    GBytes *bytes = g_bytes_new(set.data, set.len);
    wend_buf_clear(&set);
    return bytes;
}

/* Sets and delta sequences of the same variants are equal, so compression stores them once. */
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
        /* it takes the reference also if it fails */
        if (g_hash_table_add(sets, set))
            cost += g_bytes_get_size(set);
    }
    return cost;
}

/* The bytes of two classes apart. Terminals of the second class that have one expression with the
 * terminals that they meet do not count: in the archive they would be one anyway. */
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

/* Two classes as one, and the bytes that it saves. */
typedef struct {
    AlignedSequence *sequences;
    guint n;
    gsize saved;
} AlignmentPlan;

static void plan_clear(AlignmentPlan *p)
{
    for (guint q = 0; q < p->n; q++)
        aligned_clear(&p->sequences[q]);
    g_free(p->sequences);
    *p = (AlignmentPlan){0};
}

/* Does it save at least an eighth, as costs are estimates? If not, PLAN is empty. */
static gboolean plan_as(const Class *a, const Class *b, gboolean sizes, AlignmentSearch *search,
                        AlignmentPlan *plan)
{
    gsize apart = 0, one = 0;
    gboolean good = TRUE;
    *plan = (AlignmentPlan){g_new0(AlignedSequence, a->n_sequences + 1), a->n_sequences, 0};
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

/* Tries to align two classes. Ranks with other threads or callbacks are not aligned, nor are
 * classes of equal shapes that stay apart. In a loop over levels, calls of other sizes belong to
 * other levels; but a rank at a border may have sizes of its own. So both are tried. */
static gboolean plan_alignment(Class *a, Class *b, AlignmentSearch *search, AlignmentPlan *plan)
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

/* -- variants: which ranks make which calls -- */

/* A class into which others have been aligned, and the ranks of each of these. */
typedef struct {
    Class *class;
    GArray *ranks; /* RankSet */
} Aligned;

/* By terminal of S: the set of variants that make the call, as a number; 0 is all variants. ROWS:
 * by number, a byte for each variant. */
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

/* A set that all symbols of a rule have in common is given where the rule is used. Returns its
 * number, or 0 if there is none. */
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

/* Appends the counts of all symbols of S to REPEATS, by variant. */
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
    /* RankSet is the first member of both */
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

/* -- all classes -- */

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

/* Aligns K with the class of ALL that saves most, and returns that. NULL: none saves enough. */
static Aligned *align_into(AlignmentSearch *search, const GPtrArray *all, Class *k)
{
    AlignmentPlan best = {0};
    Aligned *into = NULL;
    for (guint i = 0; i < MIN(all->len, TRIES) && search->left > 0; i++) {
        AlignmentPlan plan;
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

gboolean class_alignment_align(WendMerge *m, GHashTable *variants)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(aligned_free);
    g_autoptr(GPtrArray) classes = g_ptr_array_new();
    AlignmentSearch search;
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
