/* SPDX-License-Identifier: BSD-3-Clause */
/* class-alignment.c: see class-alignment.h. */
#include "class-alignment.h"

#include <string.h>

#include "base/memory.h"
#include "base/containers.h"
#include "record/layout.h"
#include "record/record.h"

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
    uint32_t *numbers; /* by shape of its table: the shape's number among those of all sequences */
    uint64_t *calls;   /* by shape; NULL: the sequence is too long, or damaged */
    uint64_t all;      /* calls */
} Profile;

typedef struct {
    Map *numbers;  /* Bytes, the words of a shape: its number + 1 */
    Map *profiles; /* Sequence: Profile */
    Vector *calls; /* scratch, uint64_t by number; all 0 */
    int64_t left;  /* of WORK_MAX */
} AlignmentSearch;

static void profile_free(void *profile)
{
    Profile *p = profile;
    memory_free(p->numbers);
    memory_free(p->calls);
    memory_free(p);
}

static void search_init(AlignmentSearch *s)
{
    *s = (AlignmentSearch){map_of_bytes(NULL), map_new(NULL, NULL, NULL, profile_free),
                           vector_new(sizeof(uint64_t)), WORK_MAX};
}

static void search_clear(AlignmentSearch *s)
{
    map_unref(s->numbers);
    map_unref(s->profiles);
    vector_unref(s->calls);
}

/* The numbers of T's shapes, by shape. The caller frees it with memory_free. */
static uint32_t *number_shapes(AlignmentSearch *s, const Table *t)
{
    uint32_t *numbers = NEW(uint32_t, t->n_shapes + 1);
    ShapeRow *rows = table_shapes(t);
    for (uint32_t i = 0; i < t->n_shapes; i++) {
        bool is_new;
        numbers[i] = map_number(s->numbers, rows[i].words, rows[i].n * sizeof(int64_t), &is_new);
    }
    table_shapes_free(rows, t->n_shapes);
    return numbers;
}

/* The number of calls of each shape in a sequence; *ALL is their sum. NULL: the sequence is too
 * long or damaged. The caller frees it with memory_free. */
static uint64_t *count_shapes(const Sequence *s, uint64_t *all)
{
    RuleRow row;
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return NULL;
    AUTOFREE uint64_t *counts = NEW0(uint64_t, s->table.n_terminals + 1);
    uint64_t *shapes = NEW0(uint64_t, s->table.n_shapes + 1);
    bool good = rules_length(&row, all) && *all <= PAIRS_LENGTH_MAX;
    if (good)
        rules_count(&row, counts);
    rules_clear(&row);
    for (uint32_t i = 0; i < s->table.n_terminals; i++)
        shapes[s->table.terminal_shape[i]] += counts[i];
    if (!good)
        CLEAR(shapes, memory_free);
    return shapes;
}

static const Profile *profile_of(AlignmentSearch *s, const Sequence *sequence)
{
    Profile *p = map_get(s->profiles, sequence);
    if (!p) {
        p = NEW0(Profile, 1);
        p->numbers = number_shapes(s, &sequence->table);
        p->calls = count_shapes(sequence, &p->all);
        map_put(s->profiles, (void *)sequence, p);
    }
    return p;
}

/* Removes the profiles of K, which is about to change or to be freed. */
static void search_forget(AlignmentSearch *s, const Class *k)
{
    for (uint32_t q = 0; q < k->n_sequences; q++)
        map_remove(s->profiles, &k->sequences[q]);
}

/* Do both make the same number of calls of shapes that together have half of all calls? */
static bool has_common(AlignmentSearch *search, const Sequence *s, const Sequence *t)
{
    const Profile *a = profile_of(search, s), *b = profile_of(search, t);
    uint64_t common = 0;
    if (!a->calls || !b->calls)
        return false;
    vector_resize(search->calls, map_size(search->numbers));
    uint64_t *of_s = (uint64_t *)(void *)search->calls->data;
    for (uint32_t i = 0; i < s->table.n_shapes; i++)
        of_s[a->numbers[i]] = a->calls[i];
    for (uint32_t i = 0; i < t->table.n_shapes; i++)
        common += MIN(of_s[b->numbers[i]], b->calls[i]);
    for (uint32_t i = 0; i < s->table.n_shapes; i++)
        of_s[a->numbers[i]] = 0;
    return 4 * common >= a->all + b->all;
}

/* -- which terminals can become one -- */

enum { LIKE_UNKNOWN, LIKE_NO, LIKE_YES };
enum { SLOT_OTHER, SLOT_SIZE, SLOT_PARTNER };

typedef struct {
    const Table *tables[2];
    const uint32_t *numbers[2]; /* by shape of each: its number among the shapes of all sequences */
    ShapeRow *shapes;           /* of the first; NULL until they are needed */
    bool sizes;                 /* calls of different sizes do not become one */
    uint8_t *slot_kinds;        /* by slot of the first, for terminals that FITS has */
    uint8_t *fits;  /* by terminal of the first: does its row of slots fit its function? */
    uint8_t *known; /* by pair of terminals; NULL: there are too many, and shapes decide */
    Layout layout;
} Likeness;

enum { PAIRS_MAX = 1 << 20 };

static void likeness_init(Likeness *l, AlignmentSearch *search, const Sequence *s,
                          const Sequence *t, bool sizes)
{
    const Table *a = &s->table, *b = &t->table;
    uint64_t n = (uint64_t)a->n_terminals * b->n_terminals;
    *l = (Likeness){.tables = {a, b},
                    .sizes = sizes,
                    .numbers = {profile_of(search, s)->numbers, profile_of(search, t)->numbers},
                    .known = n <= PAIRS_MAX ? NEW0(uint8_t, n + 1) : NULL};
    l->fits = NEW0(uint8_t, a->n_terminals + 1);
    l->slot_kinds = NEW(uint8_t, a->first_slot[a->n_terminals] + 1);
    layout_init(&l->layout);
}

static void likeness_clear(Likeness *l)
{
    if (l->shapes)
        table_shapes_free(l->shapes, l->tables[0]->n_shapes);
    memory_free(l->slot_kinds);
    memory_free(l->fits);
    memory_free(l->known);
    layout_clear(&l->layout);
}

static bool same_shape(const Likeness *l, uint32_t a, uint32_t b)
{
    const Table *x = l->tables[0], *y = l->tables[1];
    return l->numbers[0][x->terminal_shape[a]] == l->numbers[1][y->terminal_shape[b]]
           && x->first_slot[a + 1] - x->first_slot[a] == y->first_slot[b + 1] - y->first_slot[b];
}

/* Sets the kinds of the slots of a terminal of A. false: they do not fit its function. */
static bool find_slot_kinds(Likeness *l, uint32_t a)
{
    const Table *x = l->tables[0];
    if (!l->shapes)
        l->shapes = table_shapes(x);
    const ShapeRow *row = &l->shapes[x->terminal_shape[a]];
    const WendFunction *f = &mpi_functions[row->words[0] / 2];
    uint32_t n = x->first_slot[a + 1] - x->first_slot[a];
    if (!layout_fits(&l->layout, f, row->words, row->n, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        WendKind kind = f->params[VECTOR_AT(l->layout.slot_param, int16_t, i)].kind;
        l->slot_kinds[x->first_slot[a] + i] = kind == WEND_KIND_RANK || kind == WEND_KIND_TAG
                                                  ? SLOT_PARTNER
                                              : kind == WEND_KIND_COUNT ? SLOT_SIZE
                                                                        : SLOT_OTHER;
    }
    return true;
}

/* May two terminals of one shape be the same call of the program? A rank sends to its left and to
 * its right neighbour with calls of one shape. So the same call has one expression for the partner
 * and for the tag, or a delta sequence; sizes and addresses may differ. */
static bool same_partner(Likeness *l, uint32_t a, uint32_t b)
{
    const Table *x = l->tables[0], *y = l->tables[1];
    uint8_t least = l->sizes ? SLOT_SIZE : SLOT_PARTNER;
    if (l->fits[a] == LIKE_UNKNOWN)
        l->fits[a] = find_slot_kinds(l, a) ? LIKE_YES : LIKE_NO;
    if (l->fits[a] == LIKE_NO)
        return false;
    for (uint32_t i = x->first_slot[a], k = y->first_slot[b]; i < x->first_slot[a + 1]; i++, k++) {
        const RankVector *v = &x->slots[i], *w = &y->slots[k];
        if (l->slot_kinds[i] >= least && !rank_vector_is_deltas(v) && !rank_vector_is_deltas(w)
            && !rank_vector_joins(v, w))
            return false;
    }
    return true;
}

static bool alike(Likeness *l, uint32_t a, uint32_t b)
{
    if (!l->known)
        return same_shape(l, a, b);
    uint8_t *known = &l->known[(size_t)a * l->tables[1]->n_terminals + b];
    if (*known == LIKE_UNKNOWN)
        *known = same_shape(l, a, b) && same_partner(l, a, b) ? LIKE_YES : LIKE_NO;
    return *known == LIKE_YES;
}

/* The number of terminals of one table (SECOND: the second) that can become one with no terminal of
 * the other. */
static uint32_t count_lone(Likeness *l, bool second, int64_t *left)
{
    uint32_t n = l->tables[second]->n_terminals, others = l->tables[!second]->n_terminals, lone = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < others && !(second ? alike(l, k, i) : alike(l, i, k)))
            k++;
        lone += k == others;
        *left -= 1 + k / 8; /* most pairs differ in shape, which takes little time */
    }
    return lone;
}

/* Can the result have at most MOST terminals? It has all terminals of one table, and those of the
 * other that can become one with none of them. */
static bool may_have_few(Likeness *l, uint64_t most, int64_t *left)
{
    if (!l->known)
        return true; /* too many pairs to check */
    uint64_t n = l->tables[0]->n_terminals, others = l->tables[1]->n_terminals;
    return n + count_lone(l, true, left) <= most && others + count_lone(l, false, left) <= most;
}

/* -- an order for the calls of both sequences -- */

/* A list of calls, as terminals. */
typedef struct {
    uint32_t *calls;
    uint32_t n;
} Unfolded;

static bool unfold(const Sequence *s, Unfolded *u)
{
    RuleRow row;
    uint64_t length;
    *u = (Unfolded){NULL, 0};
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return false;
    bool good = rules_length(&row, &length) && length <= PAIRS_LENGTH_MAX;
    if (good) {
        u->calls = NEW(uint32_t, length + 1);
        Expansion x = rules_expand(&row);
        while (x.run) {
            for (uint64_t i = 0; i < x.run; i++)
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
    uint32_t at[2];
    Pairs pairs;
    WendGrammar *grammar;
    /* With more terminals, equal slots on a rank are random: values for each pair of terminals
     * would help no reader */
    uint64_t terminals_max;
    int64_t *left;   /* of WORK_MAX */
    Vector *reached; /* int32_t, a row for each number of edits (row_of) */
    /* uint8_t, backwards: a call of one side alone, or calls that meet */
    Vector *edits;
} Alignment;

enum { EDIT_A, EDIT_B, EDIT_BOTH };

static bool emit(Alignment *w, uint32_t edit)
{
    uint32_t a = edit == EDIT_B ? PAIR_NONE : w->of[0].calls[w->at[0]++],
             b = edit == EDIT_A ? PAIR_NONE : w->of[1].calls[w->at[1]++];
    if (!grammar_append(w->grammar, pairs_number(&w->pairs, a, b), 1))
        memory_short();
    return pairs_count(&w->pairs) <= w->terminals_max;
}

static bool meets(const Alignment *w, int32_t x, int32_t y)
{
    uint32_t i = w->at[0] + (uint32_t)x, j = w->at[1] + (uint32_t)y;
    return i < w->of[0].n && j < w->of[1].n && alike(w->like, w->of[0].calls[i], w->of[1].calls[j]);
}

/* The row of EDITS: by diagonal (calls of a minus calls of b), the furthest call of a that so many
 * edits reach, or -1. They reach only each second diagonal: -edits, -edits + 2 … edits. */
static int32_t *row_of(const Alignment *w, int32_t edits)
{
    return &VECTOR_AT(w->reached, int32_t, edits * (edits + 1) / 2);
}

/* The edit that reaches furthest on a diagonal, and how far that is; -1: none reaches it. */
static int32_t start_of(const Alignment *w, int32_t edits, int32_t diagonal, uint32_t *edit)
{
    const int32_t *before = row_of(w, edits - 1);
    int32_t at = (edits + diagonal) / 2;
    int32_t by_a = at > 0 ? before[at - 1] : -1, by_b = at < edits ? before[at] : -1;
    by_a = by_a < 0 || w->at[0] + (uint32_t)by_a >= w->of[0].n ? -1 : by_a + 1;
    if (by_b >= 0 && w->at[1] + (uint32_t)(by_b - diagonal) > w->of[1].n)
        by_b = -1;
    *edit = by_a > by_b ? EDIT_A : EDIT_B;
    return MAX(by_a, by_b);
}

/* Lists the edits from there back to where the sequences differ first. */
static void trace_back(Alignment *w, int32_t edits, int32_t diagonal)
{
    vector_resize(w->edits, 0);
    for (; edits > 0; edits--) {
        uint32_t edit;
        int32_t x = row_of(w, edits)[(edits + diagonal) / 2];
        int32_t start = start_of(w, edits, diagonal, &edit);
        for (; x > start; x--)
            vector_append_all(w->edits, (uint8_t[]){EDIT_BOTH}, 1);
        vector_append_all(w->edits, (uint8_t[]){(uint8_t)edit}, 1);
        diagonal += edit == EDIT_A ? -1 : 1;
    }
}

/* Applies the listed edits, up to the given number. */
static bool emit_edits(Alignment *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!emit(w, VECTOR_AT(w->edits, uint8_t, w->edits->len - 1 - i)))
            return false;
    return true;
}

static bool is_end(const Alignment *w, int32_t x, int32_t y)
{
    return w->at[0] + (uint32_t)x == w->of[0].n && w->at[1] + (uint32_t)y == w->of[1].n;
}

/* If one sequence (*EDIT) has a run of calls that the other lacks, and both are equal behind it:
 * returns the length of the run, else 0. */
static int32_t find_row(Alignment *w, uint32_t *edit)
{
    int32_t left_a = (int32_t)(w->of[0].n - w->at[0]), left_b = (int32_t)(w->of[1].n - w->at[1]);
    for (int32_t n = 1; n <= MAX(left_a, left_b) && *w->left > 0; n++)
        for (*edit = EDIT_A; *edit <= EDIT_B; ++*edit) {
            int32_t x = *edit == EDIT_A ? n : 0, y = n - x, sure = 0;
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

/* Applies the first half of the path that reaches furthest with so many edits. false: too few calls
 * meet on it. */
static bool pass_half(Alignment *w, int32_t edits)
{
    int32_t furthest = 0, diagonal = 0;
    uint32_t meeting = 0;
    for (int32_t k = -edits; k <= edits; k += 2) {
        int32_t x = row_of(w, edits)[(edits + k) / 2];
        if (x < 0 || 2 * x - k <= furthest)
            continue;
        furthest = 2 * x - k;
        diagonal = k;
    }
    trace_back(w, edits, diagonal);
    for (uint32_t i = 0; i < w->edits->len; i++)
        meeting += VECTOR_AT(w->edits, uint8_t, i) == EDIT_BOTH;
    return MEET * meeting >= w->edits->len && emit_edits(w, (w->edits->len + 1) / 2);
}

/* Goes from the current calls, which differ, to where the sequences are equal again. false: it does
 * not get there. */
static bool pass_difference(Alignment *w)
{
    vector_resize(w->reached, 1);
    *row_of(w, 0) = 0;
    for (int32_t edits = 1; edits <= EDITS_MAX && *w->left > 0; edits++) {
        vector_resize(w->reached, (uint32_t)((edits + 1) * (edits + 2) / 2));
        int32_t *row = row_of(w, edits);
        for (int32_t k = -edits; k <= edits; k += 2) {
            uint32_t edit;
            int32_t start = start_of(w, edits, k, &edit), x = start;
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
        return false;
    uint32_t edit;
    int32_t row = find_row(w, &edit);
    if (row == 0)
        return pass_half(w, EDITS_MAX);
    bool good = true;
    for (; good && row > 0; row--)
        good = emit(w, edit);
    return good;
}

static bool align_calls(Alignment *w)
{
    while (w->at[0] < w->of[0].n || w->at[1] < w->of[1].n) {
        if (--*w->left < 0)
            return false;
        if (meets(w, 0, 0) ? !emit(w, EDIT_BOTH) : !pass_difference(w))
            return false;
    }
    return true;
}

/* -- two classes -- */

static void aligned_clear(AlignedSequence *w)
{
    for (int k = 0; k < 2; k++)
        memory_free(w->of[k]);
    table_clear(&w->table);
    CLEAR(w->grammar, bytes_unref);
}

static bool align_sequence(const Class *a, const Sequence *s, const Class *b, const Sequence *t,
                           bool sizes, AlignmentSearch *search, AlignedSequence *out)
{
    int64_t *left = &search->left;
    Likeness like;
    uint32_t x = s->table.n_terminals, y = t->table.n_terminals;
    uint64_t most = (uint64_t)MAX(x, y) + MIN(x, y) / 4 + MORE_MAX;
    likeness_init(&like, search, s, t, sizes);
    if (!may_have_few(&like, most, left)) {
        likeness_clear(&like);
        return false;
    }
    Alignment w = {.like = &like,
                   .pairs = pairs_new(s->table.n_terminals),
                   .grammar = grammar_new(),
                   .left = left,
                   .reached = vector_new(sizeof(int32_t)),
                   .edits = vector_new(sizeof(uint8_t))};
    w.terminals_max = most;
    if (!w.grammar)
        memory_short();
    bool good = unfold(s, &w.of[0]) && unfold(t, &w.of[1]);
    *left -= w.of[0].n + (int64_t)w.of[1].n;
    good = good && *left > 0 && align_calls(&w);
    if (good) {
        WendBuf bytes = WEND_BUF_INIT;
        uint32_t n = pairs_count(&w.pairs);
        grammar_end(w.grammar, &bytes);
        out->grammar = bytes_new(bytes.data, bytes.len);
        buf_clear(&bytes);
        for (int k = 0; k < 2; k++)
            out->of[k] = memory_copy(w.pairs.of[k]->data, n * sizeof(uint32_t));
        out->table = table_aligned(&s->table, &a->ranks, &t->table, &b->ranks,
                                   (const uint32_t *const *)out->of, n);
    } else {
        grammar_free(w.grammar);
    }
    for (int k = 0; k < 2; k++)
        memory_free(w.of[k].calls);
    vector_unref(w.reached);
    vector_unref(w.edits);
    pairs_clear(&w.pairs);
    likeness_clear(&like);
    return good;
}

/* An estimate of the bytes that a symbol of only some ranks takes in an archive. */
enum { CONDITION = 3 };

static Bytes *set_bytes(const RankSet *ranks)
{
    WendBuf set = WEND_BUF_INIT;
    rankset_encode(ranks, &set);
    Bytes *bytes = bytes_new(set.data, set.len);
    buf_clear(&set);
    return bytes;
}

/* Sets and delta sequences of the same variants are equal, so compression stores them once. */
static size_t cost_aligned(const AlignedSequence *w, uint32_t ranks)
{
    const Table *t = &w->table;
    AUTO(Map) sets = map_of_bytes(NULL);
    size_t cost = class_cost(t, w->grammar, ranks, NULL);
    for (uint32_t i = 0; i < t->n_terminals; i++) {
        if (t->ranks[i].n == ranks)
            continue;
        Bytes *set = set_bytes(&t->ranks[i]);
        cost += CONDITION;
        /* it takes the reference also if it fails */
        if (map_replace(sets, set, set))
            cost += set->n;
    }
    return cost;
}

/* The bytes of two classes apart. Terminals of the second class that have one expression with the
 * terminals that they meet do not count: in the archive they would be one anyway. */
static size_t cost_apart(const Class *a, const Sequence *s, const Class *b, const Sequence *t,
                         const AlignedSequence *w)
{
    AUTOFREE uint8_t *known = NEW0(uint8_t, t->table.n_terminals + 1);
    for (uint32_t i = 0; i < w->table.n_terminals; i++) {
        uint32_t x = w->of[0][i], y = w->of[1][i];
        if (x == PAIR_NONE || y == PAIR_NONE)
            continue;
        bool one = true;
        for (uint32_t k = s->table.first_slot[x]; one && k < s->table.first_slot[x + 1]; k++)
            one = rank_vector_joins(
                &s->table.slots[k],
                &t->table.slots[t->table.first_slot[y] + k - s->table.first_slot[x]]);
        known[y] |= one;
    }
    AUTO(Bytes) set = set_bytes(&b->ranks);
    return class_cost(&s->table, s->grammar, a->ranks.n, NULL)
           + class_cost(&t->table, t->grammar, b->ranks.n, known) + set->n;
}

/* Two classes as one, and the bytes that it saves. */
typedef struct {
    AlignedSequence *sequences;
    uint32_t n;
    size_t saved;
} AlignmentPlan;

static void plan_clear(AlignmentPlan *p)
{
    for (uint32_t q = 0; q < p->n; q++)
        aligned_clear(&p->sequences[q]);
    memory_free(p->sequences);
    *p = (AlignmentPlan){0};
}

/* Does it save at least an eighth, as costs are estimates? If not, PLAN is empty. */
static bool plan_as(const Class *a, const Class *b, bool sizes, AlignmentSearch *search,
                    AlignmentPlan *plan)
{
    size_t apart = 0, one = 0;
    bool good = true;
    *plan = (AlignmentPlan){NEW0(AlignedSequence, a->n_sequences + 1), a->n_sequences, 0};
    for (uint32_t q = 0; good && q < a->n_sequences; q++) {
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
static bool plan_alignment(Class *a, Class *b, AlignmentSearch *search, AlignmentPlan *plan)
{
    if (a->n_sequences != b->n_sequences
        || (a->apart && b->apart && bytes_equal(a->shapes_key, b->shapes_key)))
        return false;
    for (uint32_t q = 0; q < a->n_sequences; q++)
        if (a->sequences[q].kind != b->sequences[q].kind || a->sequences[q].id != b->sequences[q].id
            || !has_common(search, &a->sequences[q], &b->sequences[q]))
            return false;
    return plan_as(a, b, true, search, plan) || plan_as(a, b, false, search, plan);
}

/* -- variants: which ranks make which calls -- */

/* A class into which others have been aligned, and the ranks of each of these. */
typedef struct {
    Class *class;
    Vector *ranks; /* RankSet */
} Aligned;

/* By terminal of S: the set of variants that make the call, as a number; 0 is all variants. ROWS:
 * by number, a byte for each variant. */
static uint32_t *who_calls(const Sequence *s, const Vector *variants, Vector *rows)
{
    AUTO(Map) numbers = map_new(bytes_hash, bytes_equal, NULL, NULL);
    uint32_t *who = NEW0(uint32_t, s->table.n_terminals + 1);
    AUTOFREE uint8_t *row = NEW(uint8_t, variants->len);
    memset(row, 1, variants->len);
    vector_add(rows, bytes_new(row, variants->len));
    map_put(numbers, VECTOR_POINTER(rows, 0), OF_NUMBER(0));
    for (uint32_t t = 0; s->table.ranks && t < s->table.n_terminals; t++) {
        for (uint32_t v = 0; v < variants->len; v++)
            row[v] = (uint8_t)rankset_contains(&s->table.ranks[t],
                                               rankset_lowest(&VECTOR_AT(variants, RankSet, v)));
        Bytes *key = bytes_new(row, variants->len);
        void *number;
        if (map_find(numbers, key, &number)) {
            bytes_unref(key);
        } else {
            number = OF_NUMBER(rows->len);
            vector_add(rows, key);
            map_put(numbers, key, number);
        }
        who[t] = NUMBER_OF(number);
    }
    return who;
}

/* A set that all symbols of a rule have in common is given where the rule is used. Returns its
 * number, or 0 if there is none. */
static uint32_t who_calls_all(const Rule *rule, const uint32_t *of_terminal,
                              const uint32_t *of_rule)
{
    uint32_t all = 0;
    for (uint32_t k = 0; k < rule->n; k++) {
        const WendSymbol *y = &rule->symbols[k];
        uint32_t who = y->is_rule ? of_rule[y->id] : of_terminal[y->id];
        if (who == 0 || (k > 0 && who != all))
            return 0;
        all = who;
    }
    return all;
}

/* Appends the counts of all symbols of S to REPEATS, by variant. */
static bool add_repeats(const Sequence *s, const Vector *variants, Vector *const *repeats)
{
    RuleRow row;
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return false;
    AUTO(Vector) rows = vector_of_pointers((Release)bytes_unref);
    AUTOFREE uint32_t *of_terminal = who_calls(s, variants, rows),
                      *of_rule = NEW0(uint32_t, row.n_rules + 1);
    uint32_t n;
    AUTOFREE uint32_t *order = rules_bottom_up(&row, &n);
    for (uint32_t i = 0; order && i < n; i++)
        if (order[i] > 0)
            of_rule[order[i]] = who_calls_all(&row.rules[order[i]], of_terminal, of_rule);
    for (uint32_t i = 0; order && i < row.n_rules; i++)
        for (uint32_t k = 0; k < row.rules[i].n; k++) {
            const WendSymbol *y = &row.rules[i].symbols[k];
            uint32_t who = y->is_rule ? of_rule[y->id] : of_terminal[y->id];
            const uint8_t *calls =
                who != of_rule[i] ? ((const Bytes *)VECTOR_POINTER(rows, who))->data : NULL;
            for (uint32_t v = 0; v < variants->len; v++) {
                uint64_t count = !calls || calls[v] ? y->repeats : 0;
                VECTOR_APPEND(repeats[v], count);
            }
        }
    rules_clear(&row);
    return order != NULL;
}

static int by_lowest_rank(const void *a, const void *b)
{
    uint32_t x = rankset_lowest(a), y = rankset_lowest(b);
    return x < y ? -1 : x > y;
}

static Variants *variants_of(const Aligned *w)
{
    uint32_t n = w->ranks->len;
    AUTOFREE Vector **repeats = NEW(Vector *, n);
    for (uint32_t v = 0; v < n; v++)
        repeats[v] = vector_new(sizeof(uint64_t));
    vector_sort(w->ranks, by_lowest_rank);
    /* RankSet is the first member of both */
    for (uint32_t q = 0; q < w->class->n_sequences; q++)
        vector_sort(w->class->sequences[q].aligned_times, by_lowest_rank);
    bool good = true;
    for (uint32_t q = 0; good && q < w->class->n_sequences; q++)
        good = add_repeats(&w->class->sequences[q], w->ranks, repeats);
    Variants *v = good ? variants_new(n, (const RankSet *)(void *)w->ranks->data, repeats) : NULL;
    for (uint32_t i = 0; i < n; i++)
        vector_unref(repeats[i]);
    return v;
}

/* -- all classes -- */

static int by_size(const void *a, const void *b)
{
    const RankSet *x = &(*(Class *const *)a)->ranks, *y = &(*(Class *const *)b)->ranks;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : by_lowest_rank(x, y);
}

static void aligned_free(void *aligned)
{
    Aligned *w = aligned;
    for (uint32_t i = 0; i < w->ranks->len; i++)
        rankset_clear(&VECTOR_AT(w->ranks, RankSet, i));
    vector_unref(w->ranks);
    memory_free(w);
}

/* Aligns K with the class of ALL that saves most, and returns that. NULL: none saves enough. */
static Aligned *align_into(AlignmentSearch *search, const Vector *all, Class *k)
{
    AlignmentPlan best = {0};
    Aligned *into = NULL;
    for (uint32_t i = 0; i < MIN(all->len, TRIES) && search->left > 0; i++) {
        AlignmentPlan plan;
        Aligned *w = VECTOR_POINTER(all, i);
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

bool class_alignment_align(WendMerge *m, Map *variants)
{
    AUTO(Vector) all = vector_of_pointers(aligned_free);
    AUTO(Vector) classes = vector_of_pointers(NULL);
    AlignmentSearch search;
    search_init(&search);
    uint32_t misses = 0;
    for (uint32_t i = 0; i < m->classes->len; i++)
        if (!map_has(variants, VECTOR_POINTER(m->classes, i)))
            vector_add(classes, VECTOR_POINTER(m->classes, i));
    vector_sort(classes, by_size);
    for (uint32_t i = 0; i < classes->len && misses < MISSES_MAX; i++) {
        Class *k = VECTOR_POINTER(classes, i);
        RankSet ranks = rankset_copy(&k->ranks);
        Aligned *into = align_into(&search, all, k);
        misses = into ? 0 : misses + 1;
        if (into) {
            vector_remove(m->classes, k); /* and frees it */
        } else {
            into = NEW(Aligned, 1);
            *into = (Aligned){k, vector_new(sizeof(RankSet))};
            vector_add(all, into);
        }
        VECTOR_APPEND(into->ranks, ranks);
    }
    search_clear(&search);
    bool good = true;
    for (uint32_t i = 0; good && i < all->len; i++) {
        const Aligned *w = VECTOR_POINTER(all, i);
        if (w->ranks->len < 2)
            continue;
        Variants *v = variants_of(w);
        good = v != NULL;
        if (v)
            map_put(variants, w->class, v);
    }
    return good;
}
