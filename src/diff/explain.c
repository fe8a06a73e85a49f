/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.c: see explain.h.
 *
 * Each input becomes a list of tokens: single calls and maximal loops. Loops are runs of one period
 * (R. Kolpakov and G. Kucherov, "Finding Maximal Repetitions in a Word in Linear Time", 1999), of
 * which those in the grammar are found. The lists are aligned by edit distance. Each gap between
 * equal tokens is explained in two ways, and the shorter explanation counts:
 *
 * - by its tokens, where the bodies of two loops are explained once for all iterations;
 * - call by call, with the greedy algorithm of E. W. Myers ("An O(ND) Difference Algorithm and Its
 *   Variations", 1986). Its snakes are found by hash, so the cost is the square of the number of
 *   edits, not of calls. */
#include "config.h"

#include "explain.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "hashed.h"

/* -- tokens -- */

/* A string of calls as a list of single calls and loops. */

typedef struct {
    /* TIMES repetitions of the PERIOD calls from AT on; a single call has 1 and 1 */
    guint64 at, period, times;
    Hash hash;        /* of one repetition */
    guint32 terminal; /* of a single call */
} Token;

enum { MAX_TOKENS = 1 << 20, MOST_DIVISORS = 1 << 16 };

static gboolean has_period(const Hashed *h, guint64 at, guint64 period, guint64 n)
{
    return hashed_common(h, at, h, at + period, n - period) == n - period;
}

/* The shortest period of the N calls from AT on that divides PERIOD. PERIOD is a period of them. */
static guint64 tokens_primitive(const Hashed *h, guint64 at, guint64 period, guint64 n)
{
    guint64 rest = period;
    for (guint64 q = 2; rest > 1; q++) {
        if (q > MOST_DIVISORS || q * q > rest)
            q = rest; /* prime, or treated as a prime number */
        if (rest % q != 0)
            continue;
        while (rest % q == 0)
            rest /= q;
        while (period % q == 0 && has_period(h, at, period / q, n))
            period /= q;
    }
    return period;
}

static Token *last_of(GArray *tokens)
{
    return tokens->len > 0 ? &g_array_index(tokens, Token, tokens->len - 1) : NULL;
}

/* Adds the loop that repeats the PERIOD calls from AT on at least twice. Earlier calls may belong
 * to it. */
static guint64 add_loop(const Hashed *h, GArray *tokens, guint64 at, guint64 period, guint64 from,
                        guint64 to)
{
    period = tokens_primitive(h, at, period, period);
    guint64 start = at - hashed_common_end(h, at, h, at + period, at - from);
    guint64 end = at + period + hashed_common(h, at, h, at + period, to - at - period);
    const Token *last;
    while ((last = last_of(tokens)) != NULL && last->at >= start)
        g_array_set_size(tokens, tokens->len - 1);
    if (last != NULL)
        start = MAX(start, last->at + last->period * last->times);
    Token loop = {start, period, (end - start) / period, hashed_part(h, start, period), 0};
    g_array_append_val(tokens, loop);
    return start + loop.period * loop.times;
}

/* The tokens of the calls from FROM up to TO, without gaps. A loop begins as early as possible and
 * has the shortest period, so equal calls give equal tokens, however the grammar represents them.
 * Of nested loops the outermost one is the token. NULL if there would be too many tokens. The
 * caller frees the array. */
static GArray *tokens_of(const Hashed *h, guint64 from, guint64 to)
{
    GArray *tokens = g_array_new(FALSE, FALSE, sizeof(Token));
    for (guint64 at = from; at < to;) {
        HashedSymbol s;
        HashedPlace place = hashed_place(h, at);
        gboolean loop = FALSE;
        while (!loop && hashed_next_symbol(h, &place, &s))
            loop = s.times >= 2 && s.length <= (to - at) / 2;
        if (loop) {
            at = add_loop(h, tokens, at, s.length, from, to);
            continue;
        }
        if (tokens->len == MAX_TOKENS) {
            g_array_unref(tokens);
            return NULL;
        }
        Token call = {at, 1, 1, hashed_call(h, s.id), s.id};
        g_array_append_val(tokens, call);
        at++;
    }
    return tokens;
}

static gboolean same_hash(const Hash *a, const Hash *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* How often the calls from FROM up to TO contain the N calls with the hash BLOCK, whose first call
 * has the hash FIRST. It counts iterations of loops at any depth, and single occurrences. 0 if
 * tokens_of returns NULL. */
static guint64 tokens_count(const Hashed *h, guint64 from, guint64 to, guint64 n, const Hash *first,
                            const Hash *block)
{
    g_autoptr(GArray) tokens = tokens_of(h, from, to);
    guint64 count = 0, next = from; /* the end of the calls counted so far */
    for (guint i = 0; tokens != NULL && i < tokens->len; i++) {
        const Token *t = &g_array_index(tokens, Token, i);
        if (t->at < next)
            continue;
        if (t->period > n) {
            count += t->times * tokens_count(h, t->at, t->at + t->period, n, first, block);
        } else if (t->times > 1) {
            count += t->period == n && same_hash(&t->hash, block) ? t->times : 0;
        } else if (n <= to - t->at && same_hash(&t->hash, first)) {
            Hash here = hashed_part(h, t->at, n);
            if (!same_hash(&here, block))
                continue;
            count++;
            next = t->at + n;
        }
    }
    return count;
}

enum {
    MAX_CELLS = 16 << 20, /* cells of all alignments of tokens */
    MAX_SNAKES = 40000,   /* number of queries for equal calls */
    MAX_EDITS = 64,       /* edits in one gap, call by call */
    MAX_DEPTH = 64        /* nesting of loops */
};

/* Costs of edits. They are close to each other, so an explanation with fewer edits is the better
 * one. */
enum { COST_SIMILAR = 10, COST_COUNT = 8, COST_BODY = 12, COST_OTHER = 15, COST_ONE = 10 };

typedef struct {
    const Hashed *input[2];
    ExplainSimilar similar;
    gpointer data;
    guint64 cells, snakes; /* left to use */
    guint depth;
} Explainer;

/* A part of each input. */
typedef struct {
    guint64 from[2], to[2];
} Stretch;

static GArray *explain_stretch(Explainer *e, Stretch s);

static GArray *edits_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(Edit));
}

double explain_cost(const GArray *edits)
{
    double cost = 0;
    for (guint i = 0; i < edits->len; i++) {
        const Edit *edit = &g_array_index(edits, Edit, i);
        double size = log2(1 + (double)(edit->n[0] + edit->n[1]));
        cost += edit->kind == EDIT_REPLACED ? 2 * COST_ONE + 4 * size
                : edit->kind == EDIT_ONLY   ? COST_ONE + size
                                            : COST_ONE;
    }
    return cost;
}

/* -- calls of one input -- */

/* The length of the shortest string that the N calls from AT on repeat. */
static guint64 root_of(const Hashed *h, guint64 at, guint64 n)
{
    return tokens_primitive(h, at, n, n);
}

/* An edit for N calls of input WHICH where the other input has none: a loop that runs longer, or
 * missing calls. Equal calls around them are searched within BOUNDS. */
static Edit only_edit(const Explainer *e, const Stretch *bounds, guint which, const guint64 at[2],
                      guint64 n)
{
    guint other = 1 - which;
    const Hashed *h = e->input[which], *o = e->input[other];
    guint64 p = root_of(h, at[which], n), end = at[which] + n;
    guint64 before =
        hashed_common_end(h, at[which], h, at[which] + p, at[which] - bounds->from[which]);
    before =
        hashed_common_end(h, at[which], o, at[other], MIN(before, at[other] - bounds->from[other]));
    guint64 behind = hashed_common(h, end, h, end - p, bounds->to[which] - end);
    behind = hashed_common(h, end, o, at[other], MIN(behind, bounds->to[other] - at[other]));
    Edit edit = {.kind = EDIT_ONLY, .apart = {at[0], at[1]}};
    guint64 less = (before + behind) / p, more = (before + behind + n) / p;
    if ((less >= 2 || (less == 1 && more >= 3))) {
        edit.kind = EDIT_LOOP;
        edit.period = p;
        edit.times[which] = more;
        edit.times[other] = less;
        edit.at[which] = at[which] - before;
        edit.at[other] = at[other] - before;
        edit.n[which] = more * p;
        edit.n[other] = less * p;
        edit.apart[which] = end - n + behind;
        edit.apart[other] = at[other] + behind;
        /* The calls after both loops are equal until the shorter input ends. */
        guint64 more_equal = hashed_common(
            h, edit.apart[which], o, edit.apart[other],
            MIN(bounds->to[which] - edit.apart[which], bounds->to[other] - edit.apart[other]));
        edit.apart[which] += more_equal;
        edit.apart[other] += more_equal;
        return edit;
    }
    edit.at[which] = at[which];
    edit.at[other] = at[other];
    edit.n[which] = n;
    if (n / p >= 2) {
        edit.period = p;
        edit.times[which] = n / p;
    }
    return edit;
}

/* -- call by call -- */

/* Adds the edits of the calls of S, none of which equals its counterpart. */
static void add_group(const Explainer *e, const Stretch *bounds, GArray *edits, const Stretch *s)
{
    guint64 n[2] = {s->to[0] - s->from[0], s->to[1] - s->from[1]};
    if (n[0] == 0 && n[1] == 0)
        return;
    if (n[0] == 0 || n[1] == 0) {
        Edit edit = only_edit(e, bounds, n[0] == 0, s->from, n[0] + n[1]);
        g_array_append_val(edits, edit);
        return;
    }
    gboolean similar = n[0] == n[1] && n[0] <= MAX_EDITS;
    for (guint64 i = 0; i < n[0] && similar && n[0] > 1; i++)
        similar = e->similar(e->data, hashed_terminal(e->input[0], s->from[0] + i),
                             hashed_terminal(e->input[1], s->from[1] + i));
    if (similar) {
        for (guint64 i = 0; i < n[0]; i++) {
            Edit edit = {.kind = EDIT_CHANGED,
                         .at = {s->from[0] + i, s->from[1] + i},
                         .n = {1, 1},
                         .apart = {s->from[0] + i, s->from[1] + i}};
            g_array_append_val(edits, edit);
        }
        return;
    }
    Edit edit = {.kind = EDIT_REPLACED,
                 .at = {s->from[0], s->from[1]},
                 .n = {n[0], n[1]},
                 .apart = {s->from[0], s->from[1]}};
    g_array_append_val(edits, edit);
}

static guint64 snake(Explainer *e, guint64 i, guint64 j, const Stretch *s)
{
    if (e->snakes > 0)
        e->snakes--;
    return hashed_common(e->input[0], i, e->input[1], j, MIN(s->to[0] - i, s->to[1] - j));
}

/* The furthest points for each number of edits: reach[d][k + d] is the position in input A on
 * diagonal k. */
typedef struct {
    gint64 *reach[MAX_EDITS + 1];
    gint n;
    gint last;
} Paths;

static gint64 step(const Paths *p, gint d, gint k)
{
    const gint64 *row = p->reach[d - 1];
    gint at = k + d - 1; /* of diagonal k in the previous row */
    if (k == -d || (k != d && row[at - 1] < row[at + 1]))
        return row[at + 1]; /* a call of B */
    return row[at - 1] + 1; /* a call of A */
}

/* Returns FALSE if there are more than MAX_EDITS edits. */
static gboolean search_paths(Explainer *e, const Stretch *s, Paths *p)
{
    gint64 n[2] = {(gint64)(s->to[0] - s->from[0]), (gint64)(s->to[1] - s->from[1])};
    for (gint d = 0; d <= MAX_EDITS && e->snakes > 0; d++) {
        p->reach[d] = g_new0(gint64, 2 * d + 1);
        p->n = d + 1;
        for (gint k = -d; k <= d; k += 2) {
            gint64 x = d == 0 ? 0 : step(p, d, k), y = x - k;
            if (x >= 0 && y >= 0 && x <= n[0] && y <= n[1])
                x += (gint64)snake(e, s->from[0] + (guint64)x, s->from[1] + (guint64)y, s);
            p->reach[d][k + d] = x;
            if (x >= n[0] && x - k >= n[1]) {
                p->last = k;
                return TRUE;
            }
        }
    }
    return FALSE;
}

/* The stretches between equal calls, from the last to the first. */
static GArray *trace_back(const Paths *p, const Stretch *s)
{
    GArray *groups = g_array_new(FALSE, FALSE, sizeof(Stretch));
    gint k = p->last;
    for (gint d = p->n - 1; d > 0; d--) {
        const gint64 *row = p->reach[d - 1];
        gint at = k + d - 1;
        gboolean of_b = k == -d || (k != d && row[at - 1] < row[at + 1]);
        gint before = of_b ? k + 1 : k - 1;
        guint64 x = (guint64)row[before + d - 1], y = (guint64)(row[before + d - 1] - before);
        Stretch one = {{s->from[0] + x, s->from[1] + y},
                       {s->from[0] + x + !of_b, s->from[1] + y + of_b}};
        Stretch *next = groups->len > 0 ? &g_array_index(groups, Stretch, groups->len - 1) : NULL;
        if (next != NULL && next->from[0] == one.to[0] && next->from[1] == one.to[1])
            memcpy(next->from, one.from, sizeof next->from);
        else
            g_array_append_val(groups, one);
        k = before;
    }
    return groups;
}

/* Returns NULL if there are more than MAX_EDITS edits. */
static GArray *explain_calls(Explainer *e, const Stretch *bounds, Stretch s)
{
    guint64 begin = snake(e, s.from[0], s.from[1], &s);
    s.from[0] += begin;
    s.from[1] += begin;
    guint64 end = hashed_common_end(e->input[0], s.to[0], e->input[1], s.to[1],
                                    MIN(s.to[0] - s.from[0], s.to[1] - s.from[1]));
    s.to[0] -= end;
    s.to[1] -= end;
    GArray *edits = edits_new();
    if (s.from[0] == s.to[0] || s.from[1] == s.to[1]) {
        add_group(e, bounds, edits, &s);
        return edits;
    }
    Paths p = {.n = 0};
    if (search_paths(e, &s, &p)) {
        g_autoptr(GArray) groups = trace_back(&p, &s);
        for (guint i = groups->len; i-- > 0;)
            add_group(e, bounds, edits, &g_array_index(groups, Stretch, i));
    } else {
        g_clear_pointer(&edits, g_array_unref);
    }
    for (gint d = 0; d < p.n; d++)
        g_free(p.reach[d]);
    return edits;
}

/* -- by tokens -- */

typedef enum { STEP_NONE, STEP_BOTH, STEP_A, STEP_B } Step;

static gboolean same_body(const Token *a, const Token *b)
{
    return a->period == b->period && memcmp(a->hash.hash, b->hash.hash, sizeof a->hash.hash) == 0;
}

static gboolean same_token(const Token *a, const Token *b)
{
    return a->times == b->times && same_body(a, b);
}

static guint cost_of_pair(const Explainer *e, const Token *a, const Token *b)
{
    if (same_token(a, b))
        return 0;
    if (a->times > 1 && b->times > 1)
        return same_body(a, b) ? COST_COUNT : COST_BODY;
    if (a->times > 1 || b->times > 1)
        return 2 * COST_ONE;
    return e->similar(e->data, a->terminal, b->terminal) ? COST_SIMILAR : COST_OTHER;
}

/* The cheapest steps from the beginning to the end of both lists (Wagner and Fischer 1974), as a
 * table of (tokens of A + 1) x (tokens of B + 1). */
static guint8 *align(const Explainer *e, const Token *a, guint n, const Token *b, guint m)
{
    gsize width = (gsize)m + 1;
    guint8 *steps = g_malloc0((n + 1) * width);
    g_autofree guint32 *cost = g_new(guint32, width);
    for (guint j = 0; j <= m; j++) {
        cost[j] = j * COST_ONE;
        steps[j] = STEP_B;
    }
    for (guint i = 1; i <= n; i++) {
        guint32 diagonal = cost[0];
        cost[0] = i * COST_ONE;
        steps[i * width] = STEP_A;
        for (guint j = 1; j <= m; j++) {
            guint32 both = diagonal + cost_of_pair(e, &a[i - 1], &b[j - 1]),
                    of_a = cost[j] + COST_ONE, of_b = cost[j - 1] + COST_ONE;
            diagonal = cost[j];
            cost[j] = MIN(both, MIN(of_a, of_b));
            steps[i * width + j] = cost[j] == both ? STEP_BOTH : cost[j] == of_a ? STEP_A : STEP_B;
        }
    }
    return steps;
}

static guint64 end_of(const Token *t)
{
    return t->at + t->period * t->times;
}

/* Adds the edits of two loops: their numbers of iterations, and the differences in each
 * iteration. */
static void add_loops(Explainer *e, GArray *edits, const Token *a, const Token *b)
{
    if (a->times != b->times) {
        guint64 equal = MIN(a->times, b->times) * MIN(a->period, b->period);
        Edit edit = {.kind = EDIT_LOOP,
                     .at = {a->at, b->at},
                     .n = {a->period * a->times, b->period * b->times},
                     .period = a->period,
                     .times = {a->times, b->times},
                     .apart = {a->at + equal, b->at + equal}};
        guint64 more = same_body(a, b) ? hashed_common(e->input[0], edit.apart[0], e->input[1],
                                                       edit.apart[1], G_MAXUINT64)
                                       : 0;
        edit.apart[0] += more;
        edit.apart[1] += more;
        g_array_append_val(edits, edit);
    }
    if (same_body(a, b))
        return;
    e->depth++;
    g_autoptr(GArray) inner =
        explain_stretch(e, (Stretch){{a->at, b->at}, {a->at + a->period, b->at + b->period}});
    e->depth--;
    for (guint i = 0; i < inner->len; i++) {
        Edit *edit = &g_array_index(inner, Edit, i);
        edit->iterations = edit->iterations == 0 ? a->times : edit->iterations * a->times;
        edit->body = a->period;
    }
    g_array_append_vals(edits, inner->data, inner->len);
}

/* The tokens of a stretch, and a path through them. */
typedef struct {
    const Token *tokens[2];
    guint n[2];
    const guint8 *path;
    gsize steps;
} Way;

/* The edits of steps FIRST to LAST, none of which has two equal tokens. */
static GArray *explain_gap(Explainer *e, const Stretch *bounds, const Way *w, gsize first,
                           gsize last, const guint start[2], const Stretch *s)
{
    GArray *edits = edits_new();
    guint at[2] = {start[0], start[1]};
    Stretch group = {{s->from[0], s->from[1]}, {s->from[0], s->from[1]}};
    for (gsize i = first; i <= last; i++) {
        const Token *a = &w->tokens[0][at[0]], *b = &w->tokens[1][at[1]];
        if (i == last || w->path[i] == STEP_BOTH) {
            add_group(e, bounds, edits, &group);
            if (i == last)
                break;
            if (a->times > 1 && b->times > 1)
                add_loops(e, edits, a, b);
            else
                add_group(e, bounds, edits, &(Stretch){{a->at, b->at}, {end_of(a), end_of(b)}});
            group = (Stretch){{end_of(a), end_of(b)}, {end_of(a), end_of(b)}};
        } else if (w->path[i] == STEP_A) {
            group.to[0] = end_of(a);
        } else {
            group.to[1] = end_of(b);
        }
        at[0] += w->path[i] != STEP_B;
        at[1] += w->path[i] != STEP_A;
    }
    return edits;
}

/* Adds the shorter explanation of a stretch between equal tokens. */
static void add_gap(Explainer *e, const Stretch *bounds, GArray *edits, const Way *w, gsize first,
                    gsize last, const guint start[2], const Stretch *s)
{
    g_autoptr(GArray) by_tokens = explain_gap(e, bounds, w, first, last, start, s);
    g_autoptr(GArray) by_calls =
        by_tokens->len == 1 && g_array_index(by_tokens, Edit, 0).kind != EDIT_REPLACED
            ? NULL
            : explain_calls(e, bounds, *s);
    const GArray *best =
        by_calls != NULL && explain_cost(by_calls) < explain_cost(by_tokens) ? by_calls : by_tokens;
    g_array_append_vals(edits, best->data, best->len);
}

static GArray *explain_way(Explainer *e, const Stretch *bounds, const Way *w, const Stretch *all)
{
    GArray *edits = edits_new();
    guint at[2] = {0, 0}, start[2] = {0, 0};
    gsize first = 0;
    Stretch gap = {{all->from[0], all->from[1]}, {all->from[0], all->from[1]}};
    for (gsize i = 0; i <= w->steps; i++) {
        gboolean end = i == w->steps;
        if (end
            || (w->path[i] == STEP_BOTH
                && same_token(&w->tokens[0][at[0]], &w->tokens[1][at[1]]))) {
            if (i > first)
                add_gap(e, bounds, edits, w, first, i, start, &gap);
            first = i + 1;
        }
        if (end)
            break;
        for (guint k = 0; k < 2; k++) {
            if (w->path[i] == (k == 0 ? STEP_B : STEP_A))
                continue;
            gap.to[k] = end_of(&w->tokens[k][at[k]]);
            at[k]++;
        }
        if (first == i + 1) {
            memcpy(start, at, sizeof start);
            memcpy(gap.from, gap.to, sizeof gap.from);
        }
    }
    return edits;
}

/* Returns NULL if the lists are too long. */
static GArray *explain_tokens(Explainer *e, const Stretch *bounds, const GArray *a, const GArray *b)
{
    Way w = {.tokens = {(const Token *)(const void *)a->data, (const Token *)(const void *)b->data},
             .n = {a->len, b->len}};
    Stretch s = *bounds;
    while (w.n[0] > 0 && w.n[1] > 0 && same_token(w.tokens[0], w.tokens[1])) {
        for (guint k = 0; k < 2; k++) {
            s.from[k] = end_of(w.tokens[k]);
            w.tokens[k]++;
            w.n[k]--;
        }
    }
    while (w.n[0] > 0 && w.n[1] > 0
           && same_token(&w.tokens[0][w.n[0] - 1], &w.tokens[1][w.n[1] - 1])) {
        for (guint k = 0; k < 2; k++)
            s.to[k] = w.tokens[k][--w.n[k]].at;
    }
    guint64 cells = ((guint64)w.n[0] + 1) * ((guint64)w.n[1] + 1);
    if (cells > e->cells)
        return NULL;
    e->cells -= cells;
    g_autofree guint8 *steps = align(e, w.tokens[0], w.n[0], w.tokens[1], w.n[1]);
    g_autofree guint8 *path = g_new(guint8, (gsize)w.n[0] + w.n[1] + 1);
    gsize width = (gsize)w.n[1] + 1;
    for (guint i = w.n[0], j = w.n[1]; i > 0 || j > 0;) {
        guint8 step = path[w.steps++] = steps[i * width + j];
        i -= step != STEP_B;
        j -= step != STEP_A;
    }
    for (gsize i = 0; i < w.steps / 2; i++) {
        guint8 other = path[i];
        path[i] = path[w.steps - 1 - i];
        path[w.steps - 1 - i] = other;
    }
    w.path = path;
    return explain_way(e, bounds, &w, &s);
}

/* -- a stretch -- */

static GArray *explain_stretch(Explainer *e, Stretch s)
{
    GArray *edits = NULL;
    if (e->depth < MAX_DEPTH) {
        g_autoptr(GArray) a = tokens_of(e->input[0], s.from[0], s.to[0]);
        g_autoptr(GArray) b = a != NULL ? tokens_of(e->input[1], s.from[1], s.to[1]) : NULL;
        if (b != NULL)
            edits = explain_tokens(e, &s, a, b);
    }
    if (!edits)
        edits = explain_calls(e, &s, s);
    if (!edits) {
        guint64 begin = snake(e, s.from[0], s.from[1], &s),
                most = MIN(s.to[0] - s.from[0], s.to[1] - s.from[1]) - begin;
        guint64 end = hashed_common_end(e->input[0], s.to[0], e->input[1], s.to[1], most);
        Edit edit = {.kind = EDIT_REPLACED,
                     .at = {s.from[0] + begin, s.from[1] + begin},
                     .apart = {s.from[0] + begin, s.from[1] + begin},
                     .n = {s.to[0] - end - s.from[0] - begin, s.to[1] - end - s.from[1] - begin}};
        edits = edits_new();
        g_array_append_val(edits, edit);
    }
    return edits;
}

GArray *explain(const Hashed *a, const Hashed *b, ExplainSimilar similar, gpointer data)
{
    Explainer e = {.input = {a, b},
                   .similar = similar,
                   .data = data,
                   .cells = MAX_CELLS,
                   .snakes = MAX_SNAKES};
    Stretch all = {{0, 0}, {hashed_length(a), hashed_length(b)}};
    if (all.to[0] == all.to[1] && hashed_common(a, 0, b, 0, all.to[0]) == all.to[0])
        return edits_new();
    return explain_stretch(&e, all);
}

void explain_rounds(GArray *edits, Hashed *const strings[2])
{
    for (guint i = 0; i < edits->len; i++) {
        Edit *edit = &g_array_index(edits, Edit, i);
        guint input = edit->n[0] == 0;
        guint64 n = edit->period > 0 ? edit->period : edit->n[input], rounds[2];
        if (edit->kind != EDIT_ONLY || n < 2)
            continue;
        Hash first = hashed_part(strings[input], edit->at[input], 1);
        Hash block = hashed_part(strings[input], edit->at[input], n);
        for (guint k = 0; k < 2; k++)
            rounds[k] = tokens_count(strings[k], 0, hashed_length(strings[k]), n, &first, &block);
        if (rounds[0] > 0 && rounds[1] > 0 && rounds[0] != rounds[1])
            memcpy(edit->rounds, rounds, sizeof rounds);
    }
}
