/* SPDX-License-Identifier: BSD-3-Clause */
/* unroll.c: see unroll.h. */
#include "unroll.h"

#include <string.h>

/* LEFT: the repetitions that remain, this one included. */
typedef struct {
    guint32 rule;
    guint at;
    guint64 left;
} UnrollFrame;

void unrolling_free(Unrolling *u)
{
    if (!u)
        return;
    rules_clear(&u->row);
    g_free(u->counts);
    g_free(u->kind);
    g_free(u->number);
    g_free(u);
}

/* By rule: does its expansion have strided terminals? */
static guint8 *find_strided(const Unrolling *u, const guint32 *order, guint n)
{
    guint8 *has = g_new0(guint8, u->row.n_rules);
    for (guint i = 0; i < n; i++) {
        const Rule *rule = &u->row.rules[order[i]];
        for (guint k = 0; k < rule->n; k++)
            has[order[i]] |= rule->symbols[k].is_rule ? has[rule->symbols[k].id]
                                                      : u->counts[rule->symbols[k].id] > 0;
    }
    return has;
}

/* Walks through all calls, and marks rules that begin or end within the calls of a strided
 * terminal. FALSE: these are not complete at the end. */
static gboolean find_inline(Unrolling *u, const guint8 *has, guint n_terminals)
{
    g_autofree guint32 *at = g_new0(guint32, n_terminals + 1);
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(UnrollFrame));
    guint under_way = 0; /* the number of strided terminals that have begun */
    UnrollFrame next = {0, 0, 1};
    if (has[0])
        g_array_append_val(stack, next);
    while (stack->len) {
        UnrollFrame *top = &g_array_index(stack, UnrollFrame, stack->len - 1);
        const Rule *rule = &u->row.rules[top->rule];
        if ((top->at == 0 || top->at == rule->n) && under_way)
            u->kind[top->rule] = UNROLLED_INLINE;
        if (top->at == rule->n) {
            top->at = 0;
            if (--top->left == 0)
                g_array_set_size(stack, stack->len - 1);
            continue;
        }
        const WendSymbol *y = &rule->symbols[top->at++];
        if (y->is_rule) {
            next = (UnrollFrame){y->id, 0, y->repeats};
            if (has[y->id])
                g_array_append_val(stack, next);
        } else if (u->counts[y->id]) {
            guint32 *place = &at[y->id];
            under_way -= *place > 0;
            *place = (guint32)((*place + y->repeats) % u->counts[y->id]);
            under_way += *place > 0;
        }
    }
    return under_way == 0;
}

/* Rules of the archive, with their inlined symbols, have at most this number of times the symbols
 * of the grammar and of the rows, because a reader has them all in memory. */
enum { UNROLLED_TIMES = 8 };

static gboolean mark_whole(Unrolling *u, const guint32 *order, guint n, guint n_terminals)
{
    /* by rule: its symbols, inlined ones included */
    g_autofree guint64 *size = g_new0(guint64, u->row.n_rules);
    guint64 most = 0, all = 0;
    for (guint i = 0; i < n_terminals; i++)
        most += u->counts[i];
    for (guint i = 0; i < n; i++) {
        const Rule *rule = &u->row.rules[order[i]];
        guint8 *kind = &u->kind[order[i]];
        most += rule->n;
        for (guint k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            gboolean inlined = y->is_rule && u->kind[y->id] == UNROLLED_INLINE,
                     strided = !y->is_rule && u->counts[y->id];
            guint64 more = 1;
            if ((inlined || strided)
                && __builtin_mul_overflow(inlined ? size[y->id] : 1, y->repeats, &more))
                return FALSE;
            if (__builtin_add_overflow(size[order[i]], more, &size[order[i]]))
                return FALSE;
            if ((inlined || strided) && *kind == UNROLLED_AS_IT_IS)
                *kind = UNROLLED_WHOLE;
        }
        if (*kind == UNROLLED_WHOLE && __builtin_add_overflow(all, size[order[i]], &all))
            return FALSE;
    }
    return all / UNROLLED_TIMES <= most && all < G_MAXINT32;
}

Unrolling *unrolling_new(const Sequence *s)
{
    guint n = 0, n_terminals = s->table.n_terminals;
    guint64 length;
    Unrolling *u = g_new0(Unrolling, 1);
    gboolean good = rules_from(&u->row, s->grammar, n_terminals) && rules_length(&u->row, &length);
    if (good) {
        g_autofree guint32 *order = rules_bottom_up(&u->row, &n);
        u->counts = g_new0(guint32, n_terminals + 1);
        u->kind = g_new0(guint8, u->row.n_rules);
        u->number = g_new0(guint32, u->row.n_rules);
        for (guint i = 0; s->table.strided && i < s->table.strided->len; i++)
            u->counts[g_array_index(s->table.strided, Strided, i).terminal] =
                g_array_index(s->table.strided, Strided, i).count;
        g_autofree guint8 *has = find_strided(u, order, n);
        good = find_inline(u, has, n_terminals) && mark_whole(u, order, n, n_terminals);
    }
    if (!good)
        g_clear_pointer(&u, unrolling_free);
    return u;
}

Rule unrolling_summary(const Unrolling *u, guint32 rule)
{
    guint n;
    g_autofree guint32 *order = rules_bottom_up(&u->row, &n);
    g_autofree guint64 *times = g_new0(guint64, u->row.n_rules); /* occurrences of inlined rules */
    /* 2 id + is_rule -> 1 + index in ALL */
    g_autoptr(GHashTable) place = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    times[rule] = 1;
    for (guint i = n; i-- > 0;) {
        const Rule *body = &u->row.rules[order[i]];
        for (guint k = 0; times[order[i]] && k < body->n; k++) {
            WendSymbol y = body->symbols[k];
            y.repeats *= times[order[i]];
            if (y.is_rule && u->kind[y.id] == UNROLLED_INLINE) {
                times[y.id] += y.repeats;
                continue;
            }
            gpointer key = GSIZE_TO_POINTER((gsize)y.id << 1 | (y.is_rule ? 1 : 0));
            guint at = GPOINTER_TO_UINT(g_hash_table_lookup(place, key));
            if (at) {
                g_array_index(all, WendSymbol, at - 1).repeats += y.repeats;
                continue;
            }
            g_array_append_val(all, y);
            g_hash_table_insert(place, key, GUINT_TO_POINTER(all->len));
        }
    }
    return (Rule){all->len, g_memdup2(all->data, all->len * sizeof(WendSymbol))};
}

/* -- the walk through a rule -- */

UnrolledWalk unrolled_walk(const Unrolling *u, guint32 rule)
{
    guint n_terminals = 0;
    for (guint i = 0; i < u->row.n_rules; i++)
        for (guint k = 0; k < u->row.rules[i].n; k++)
            if (!u->row.rules[i].symbols[k].is_rule)
                n_terminals = MAX(n_terminals, u->row.rules[i].symbols[k].id + 1);
    UnrolledWalk w = {
        u, g_array_new(FALSE, FALSE, sizeof(UnrollFrame)), g_new0(guint32, n_terminals + 1), {0}};
    UnrollFrame start = {rule, 0, 1};
    g_array_append_val(w.stack, start);
    return w;
}

/* Takes the part of a strided symbol that is in one row. */
static void next_in_row(UnrolledWalk *w, UnrolledSymbol *s)
{
    guint32 count = w->u->counts[w->strided.id], *at = &w->at[w->strided.id];
    *s = (UnrolledSymbol){w->strided, *at, (guint32)MIN(w->strided.repeats, count - *at)};
    w->strided.repeats -= s->run;
    *at = (*at + s->run) % count;
}

gboolean unrolled_walk_next(UnrolledWalk *w, UnrolledSymbol *s)
{
    while (w->stack->len && !w->strided.repeats) {
        UnrollFrame *top = &g_array_index(w->stack, UnrollFrame, w->stack->len - 1);
        const Rule *rule = &w->u->row.rules[top->rule];
        if (top->at == rule->n) {
            top->at = 0;
            if (--top->left == 0)
                g_array_set_size(w->stack, w->stack->len - 1);
            continue;
        }
        const WendSymbol *y = &rule->symbols[top->at];
        if (y->is_rule && w->u->kind[y->id] == UNROLLED_INLINE) {
            UnrollFrame next = {y->id, 0, y->repeats};
            top->at++;
            g_array_append_val(w->stack, next);
            continue;
        }
        top->at++;
        if (y->is_rule || !w->u->counts[y->id]) {
            *s = (UnrolledSymbol){*y, 0, 1};
            return TRUE;
        }
        w->strided = *y;
    }
    if (!w->strided.repeats)
        return FALSE;
    next_in_row(w, s);
    return TRUE;
}

void unrolled_walk_clear(UnrolledWalk *w)
{
    g_array_unref(w->stack);
    g_free(w->at);
}
