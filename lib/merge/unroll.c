/* SPDX-License-Identifier: BSD-3-Clause */
/* unroll.c: see unroll.h. */
#include "unroll.h"

#include <string.h>

/* LEFT: the repetitions that remain, this one included. */
typedef struct {
    uint32_t rule;
    uint32_t at;
    uint64_t left;
} UnrollFrame;

void unrolling_free(Unrolling *u)
{
    if (!u)
        return;
    rules_clear(&u->row);
    memory_free(u->counts);
    memory_free(u->kind);
    memory_free(u->number);
    memory_free(u);
}

/* By rule: does its expansion have strided terminals? */
static uint8_t *find_strided(const Unrolling *u, const uint32_t *order, uint32_t n)
{
    uint8_t *has = NEW0(uint8_t, u->row.n_rules);
    for (uint32_t i = 0; i < n; i++) {
        const Rule *rule = &u->row.rules[order[i]];
        for (uint32_t k = 0; k < rule->n; k++)
            has[order[i]] |= rule->symbols[k].is_rule ? has[rule->symbols[k].id]
                                                      : u->counts[rule->symbols[k].id] > 0;
    }
    return has;
}

/* Walks through all calls, and marks rules that begin or end within the calls of a strided
 * terminal. false: these are not complete at the end. */
static bool find_inline(Unrolling *u, const uint8_t *has, uint32_t n_terminals)
{
    AUTOFREE uint32_t *at = NEW0(uint32_t, n_terminals + 1);
    AUTO(Vector) stack = vector_new(sizeof(UnrollFrame));
    uint32_t under_way = 0; /* the number of strided terminals that have begun */
    UnrollFrame next = {0, 0, 1};
    if (has[0])
        VECTOR_APPEND(stack, next);
    while (stack->len) {
        UnrollFrame *top = &VECTOR_AT(stack, UnrollFrame, stack->len - 1);
        const Rule *rule = &u->row.rules[top->rule];
        if ((top->at == 0 || top->at == rule->n) && under_way)
            u->kind[top->rule] = UNROLLED_INLINE;
        if (top->at == rule->n) {
            top->at = 0;
            if (--top->left == 0)
                vector_resize(stack, stack->len - 1);
            continue;
        }
        const WendSymbol *y = &rule->symbols[top->at++];
        if (y->is_rule) {
            next = (UnrollFrame){y->id, 0, y->repeats};
            if (has[y->id])
                VECTOR_APPEND(stack, next);
        } else if (u->counts[y->id]) {
            uint32_t *place = &at[y->id];
            under_way -= *place > 0;
            *place = (uint32_t)((*place + y->repeats) % u->counts[y->id]);
            under_way += *place > 0;
        }
    }
    return under_way == 0;
}

/* Rules of the archive, with their inlined symbols, have at most this number of times the symbols
 * of the grammar and of the rows, because a reader has them all in memory. */
enum { UNROLLED_TIMES = 8 };

static bool mark_whole(Unrolling *u, const uint32_t *order, uint32_t n, uint32_t n_terminals)
{
    /* by rule: its symbols, inlined ones included */
    AUTOFREE uint64_t *size = NEW0(uint64_t, u->row.n_rules);
    uint64_t most = 0, all = 0;
    for (uint32_t i = 0; i < n_terminals; i++)
        most += u->counts[i];
    for (uint32_t i = 0; i < n; i++) {
        const Rule *rule = &u->row.rules[order[i]];
        uint8_t *kind = &u->kind[order[i]];
        most += rule->n;
        for (uint32_t k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            bool inlined = y->is_rule && u->kind[y->id] == UNROLLED_INLINE,
                 strided = !y->is_rule && u->counts[y->id];
            uint64_t more = 1;
            if ((inlined || strided)
                && __builtin_mul_overflow(inlined ? size[y->id] : 1, y->repeats, &more))
                return false;
            if (__builtin_add_overflow(size[order[i]], more, &size[order[i]]))
                return false;
            if ((inlined || strided) && *kind == UNROLLED_AS_IT_IS)
                *kind = UNROLLED_WHOLE;
        }
        if (*kind == UNROLLED_WHOLE && __builtin_add_overflow(all, size[order[i]], &all))
            return false;
    }
    return all / UNROLLED_TIMES <= most && all < INT32_MAX;
}

Unrolling *unrolling_new(const Sequence *s)
{
    uint32_t n = 0, n_terminals = s->table.n_terminals;
    uint64_t length;
    Unrolling *u = NEW0(Unrolling, 1);
    bool good = rules_from(&u->row, s->grammar, n_terminals) && rules_length(&u->row, &length);
    if (good) {
        AUTOFREE uint32_t *order = rules_bottom_up(&u->row, &n);
        u->counts = NEW0(uint32_t, n_terminals + 1);
        u->kind = NEW0(uint8_t, u->row.n_rules);
        u->number = NEW0(uint32_t, u->row.n_rules);
        for (uint32_t i = 0; s->table.strided && i < s->table.strided->len; i++)
            u->counts[VECTOR_AT(s->table.strided, Strided, i).terminal] =
                VECTOR_AT(s->table.strided, Strided, i).count;
        AUTOFREE uint8_t *has = find_strided(u, order, n);
        good = find_inline(u, has, n_terminals) && mark_whole(u, order, n, n_terminals);
    }
    if (!good)
        CLEAR(u, unrolling_free);
    return u;
}

Rule unrolling_summary(const Unrolling *u, uint32_t rule)
{
    uint32_t n;
    AUTOFREE uint32_t *order = rules_bottom_up(&u->row, &n);
    AUTOFREE uint64_t *times = NEW0(uint64_t, u->row.n_rules); /* occurrences of inlined rules */
    /* 2 id + is_rule -> 1 + index in ALL */
    AUTO(Map) place = map_new(NULL, NULL, NULL, NULL);
    AUTO(Vector) all = vector_new(sizeof(WendSymbol));
    times[rule] = 1;
    for (uint32_t i = n; i-- > 0;) {
        const Rule *body = &u->row.rules[order[i]];
        for (uint32_t k = 0; times[order[i]] && k < body->n; k++) {
            WendSymbol y = body->symbols[k];
            y.repeats *= times[order[i]];
            if (y.is_rule && u->kind[y.id] == UNROLLED_INLINE) {
                times[y.id] += y.repeats;
                continue;
            }
            void *key = OF_NUMBER((size_t)y.id << 1 | (y.is_rule ? 1 : 0));
            uint32_t at = NUMBER_OF(map_get(place, key));
            if (at) {
                VECTOR_AT(all, WendSymbol, at - 1).repeats += y.repeats;
                continue;
            }
            VECTOR_APPEND(all, y);
            map_put(place, key, OF_NUMBER(all->len));
        }
    }
    return (Rule){all->len, memory_copy(all->data, all->len * sizeof(WendSymbol))};
}

/* -- the walk through a rule -- */

UnrolledWalk unrolled_walk(const Unrolling *u, uint32_t rule)
{
    uint32_t n_terminals = 0;
    for (uint32_t i = 0; i < u->row.n_rules; i++)
        for (uint32_t k = 0; k < u->row.rules[i].n; k++)
            if (!u->row.rules[i].symbols[k].is_rule)
                n_terminals = MAX(n_terminals, u->row.rules[i].symbols[k].id + 1);
    UnrolledWalk w = {u, vector_new(sizeof(UnrollFrame)), NEW0(uint32_t, n_terminals + 1), {0}};
    UnrollFrame start = {rule, 0, 1};
    VECTOR_APPEND(w.stack, start);
    return w;
}

/* Takes the part of a strided symbol that is in one row. */
static void next_in_row(UnrolledWalk *w, UnrolledSymbol *s)
{
    uint32_t count = w->u->counts[w->strided.id], *at = &w->at[w->strided.id];
    *s = (UnrolledSymbol){w->strided, *at, (uint32_t)MIN(w->strided.repeats, count - *at)};
    w->strided.repeats -= s->run;
    *at = (*at + s->run) % count;
}

bool unrolled_walk_next(UnrolledWalk *w, UnrolledSymbol *s)
{
    while (w->stack->len && !w->strided.repeats) {
        UnrollFrame *top = &VECTOR_AT(w->stack, UnrollFrame, w->stack->len - 1);
        const Rule *rule = &w->u->row.rules[top->rule];
        if (top->at == rule->n) {
            top->at = 0;
            if (--top->left == 0)
                vector_resize(w->stack, w->stack->len - 1);
            continue;
        }
        const WendSymbol *y = &rule->symbols[top->at];
        if (y->is_rule && w->u->kind[y->id] == UNROLLED_INLINE) {
            UnrollFrame next = {y->id, 0, y->repeats};
            top->at++;
            VECTOR_APPEND(w->stack, next);
            continue;
        }
        top->at++;
        if (y->is_rule || !w->u->counts[y->id]) {
            *s = (UnrolledSymbol){*y, 0, 1};
            return true;
        }
        w->strided = *y;
    }
    if (!w->strided.repeats)
        return false;
    next_in_row(w, s);
    return true;
}

void unrolled_walk_clear(UnrolledWalk *w)
{
    vector_unref(w->stack);
    memory_free(w->at);
}
