/* SPDX-License-Identifier: BSD-3-Clause */
/* hashed.c: see hashed.h. Each rule keeps the lengths and hashes of all its beginnings, so a
 * position is found by binary search on each level. */
#include "config.h"

#include "hashed.h"

#include <string.h>

#include "lib/base/lower-bound.h"

typedef struct {
    guint64 length, all; /* calls with a key before a symbol, and all calls before it */
    Hash hash;           /* of the calls with a key */
} Prefix;

struct Hashed {
    const WendProgram *program;
    guint start;
    const guint32 *keys;
    guint64 points[POINTS];
    Prefix *
        /* by rule: before each symbol, and after the last one; NULL: the rule is not in the
         * expansion */
        *rules;
};

/* -- making one -- */

static Hash hash_of_key(const Hashed *h, guint32 key)
{
    Hash hash = hash_of_nothing;
    for (guint i = 0; key != 0 && i < POINTS; i++) {
        hash.hash[i] = key;
        hash.power[i] = h->points[i];
    }
    return hash;
}

/* One repetition of a symbol. */
static Prefix one_of(const Hashed *h, const WendSymbol *s)
{
    if (s->is_rule)
        return h->rules[s->id][program_rule(h->program, s->id)->n];
    return (Prefix){h->keys[s->id] != 0, 1, hash_of_key(h, h->keys[s->id])};
}

static void measure(Hashed *h, guint32 id)
{
    const WendRule *rule = program_rule(h->program, id);
    Prefix *prefix = g_new(Prefix, rule->n + 1);
    prefix[0] = (Prefix){0, 0, hash_of_nothing};
    for (guint i = 0; i < rule->n; i++) {
        const WendSymbol *s = &rule->symbols[i];
        Prefix one = one_of(h, s);
        Hash all = s->repeats == 1 ? one.hash : hash_repeat(one.hash, s->repeats);
        prefix[i + 1] =
            (Prefix){prefix[i].length + one.length * s->repeats,
                     prefix[i].all + one.all * s->repeats, hash_join(&prefix[i].hash, &all)};
    }
    h->rules[id] = prefix;
}

/* Measures all rules below the start rule, callees first. It does not recurse, because a recording
 * may nest rules arbitrarily deep. */
static void measure_all(Hashed *h)
{
    typedef struct {
        guint32 rule;
        guint next;
    } Frame;
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(Frame));
    g_array_append_val(stack, ((Frame){h->start, 0}));
    while (stack->len > 0) {
        Frame *top = &g_array_index(stack, Frame, stack->len - 1);
        const WendRule *rule = program_rule(h->program, top->rule);
        while (
            top->next < rule->n
            && (!rule->symbols[top->next].is_rule || h->rules[rule->symbols[top->next].id] != NULL))
            top->next++;
        if (top->next < rule->n) {
            Frame below = {rule->symbols[top->next].id, 0};
            g_array_append_val(stack, below);
            continue;
        }
        if (!h->rules[top->rule])
            measure(h, top->rule);
        g_array_set_size(stack, stack->len - 1);
    }
}

Hashed *hashed_new(const WendProgram *p, guint rule, const guint32 *keys,
                   const guint64 points[POINTS])
{
    Hashed *h = g_new0(Hashed, 1);
    h->program = p;
    h->start = rule;
    h->keys = keys;
    memcpy(h->points, points, sizeof h->points);
    h->rules = g_new0(Prefix *, program_n_rules(p));
    measure_all(h);
    return h;
}

void hashed_free(Hashed *h)
{
    if (!h)
        return;
    for (guint i = 0; i < program_n_rules(h->program); i++)
        g_free(h->rules[i]);
    g_free(h->rules);
    g_free(h);
}

guint64 hashed_length(const Hashed *h)
{
    return h->rules[h->start][program_rule(h->program, h->start)->n].length;
}

/* -- positions -- */

/* The symbol of a rule that contains position AT: the last symbol with at most AT calls before it
 * that has calls. */
static guint symbol_at(const Hashed *h, guint32 rule, guint64 at)
{
    const Prefix *prefix = h->rules[rule];
    return LAST_WHERE(i, program_rule(h->program, rule)->n, prefix[i].length <= at);
}

/* Finds the call at AT. BEFORE, if not NULL, becomes the prefix before it. */
static guint32 find(const Hashed *h, guint64 at, Prefix *before)
{
    Prefix sum = {0, 0, hash_of_nothing};
    guint32 rule = h->start;
    for (;;) {
        guint i = symbol_at(h, rule, at);
        const WendSymbol *s = &program_rule(h->program, rule)->symbols[i];
        const Prefix *prefix = &h->rules[rule][i];
        Prefix one = one_of(h, s);
        at -= prefix->length;
        guint64 times = at / one.length;
        at -= times * one.length;
        if (before != NULL) {
            Hash skipped = hash_repeat(one.hash, times);
            sum.hash = hash_join(&sum.hash, &prefix->hash);
            sum.hash = hash_join(&sum.hash, &skipped);
            sum.all += prefix->all + times * one.all;
            sum.length += prefix->length + times * one.length;
        }
        if (!s->is_rule) {
            if (before != NULL)
                *before = sum;
            return s->id;
        }
        rule = s->id;
    }
}

static Hash before(const Hashed *h, guint64 at)
{
    Prefix sum;
    if (at == hashed_length(h))
        return h->rules[h->start][program_rule(h->program, h->start)->n].hash;
    find(h, at, &sum);
    return sum.hash;
}

guint32 hashed_terminal(const Hashed *h, guint64 at)
{
    return find(h, at, NULL);
}

guint32 hashed_key(const Hashed *h, guint64 at)
{
    return h->keys[find(h, at, NULL)];
}

guint64 hashed_index(const Hashed *h, guint64 at)
{
    Prefix sum;
    if (at >= hashed_length(h))
        return h->rules[h->start][program_rule(h->program, h->start)->n].all;
    find(h, at, &sum);
    return sum.all;
}

HashedPlace hashed_place(const Hashed *h, guint64 at)
{
    return (HashedPlace){h->start, at, FALSE};
}

gboolean hashed_next_symbol(const Hashed *h, HashedPlace *place, HashedSymbol *symbol)
{
    while (!place->is_terminal) {
        guint i = symbol_at(h, place->id, place->at);
        const WendSymbol *s = &program_rule(h->program, place->id)->symbols[i];
        guint64 length =
            s->is_rule ? h->rules[s->id][program_rule(h->program, s->id)->n].length : 1;
        guint64 at = place->at - h->rules[place->id][i].length, times = at / length;
        *place = (HashedPlace){s->id, at - times * length, !s->is_rule};
        if (place->at > 0)
            continue;
        *symbol = (HashedSymbol){length, s->repeats - times, s->is_rule, s->id};
        return TRUE;
    }
    return FALSE;
}

Hash hashed_call(const Hashed *h, guint32 terminal)
{
    return hash_of_key(h, h->keys[terminal]);
}

/* -- parts -- */

static Hash power_of(const Hashed *h, guint64 n)
{
    Hash one = {{0, 0}, {h->points[0], h->points[1]}};
    return hash_repeat(one, n);
}

/* The part between two prefixes that are N calls apart. */
static Hash difference(const Hash *whole, const Hash *head, const Hash *n)
{
    Hash part;
    for (guint i = 0; i < POINTS; i++) {
        part.hash[i] =
            hash_reduce(whole->hash[i] + MODULUS - hash_multiply(head->hash[i], n->power[i]));
        part.power[i] = n->power[i];
    }
    return part;
}

Hash hashed_part(const Hashed *h, guint64 first, guint64 n)
{
    Hash head = before(h, first), whole = before(h, first + n), power = power_of(h, n);
    return difference(&whole, &head, &power);
}

static gboolean equal(const Hash *a, const Hash *b)
{
    return memcmp(a->hash, b->hash, sizeof a->hash) == 0;
}

/* A search for the largest N up to MOST that fits, if all smaller ones fit. Steps double, because
 * most answers are small or the maximum. */
typedef struct {
    const Hashed *a, *b;
    guint64 i, j;
    Hash fixed[2]; /* hash before I and J, or up to them */
    gboolean end;
} Question;

static gboolean fits(const Question *q, guint64 n)
{
    Hash power = power_of(q->a, n), x, y;
    Hash other_a = before(q->a, q->end ? q->i - n : q->i + n),
         other_b = before(q->b, q->end ? q->j - n : q->j + n);
    x = q->end ? difference(&q->fixed[0], &other_a, &power)
               : difference(&other_a, &q->fixed[0], &power);
    y = q->end ? difference(&q->fixed[1], &other_b, &power)
               : difference(&other_b, &q->fixed[1], &power);
    return equal(&x, &y);
}

static guint64 answer(const Question *q, guint64 most)
{
    if (most == 0)
        return 0;
    guint64 low = 0, high = 1; /* LOW fits */
    while (high < most && fits(q, high)) {
        low = high;
        high *= 2;
    }
    if (high >= most) {
        if (fits(q, most))
            return most;
        high = most;
    }
    return low + LOWER_BOUND(i, high - low - 1, fits(q, low + i + 1)); /* HIGH does not fit */
}

guint64 hashed_common(const Hashed *a, guint64 i, const Hashed *b, guint64 j, guint64 most)
{
    most = MIN(most, MIN(hashed_length(a) - i, hashed_length(b) - j));
    if (most > 0 && hashed_key(a, i) != hashed_key(b, j))
        return 0;
    return answer(&(Question){a, b, i, j, {before(a, i), before(b, j)}, FALSE}, most);
}

guint64 hashed_common_end(const Hashed *a, guint64 i, const Hashed *b, guint64 j, guint64 most)
{
    most = MIN(most, MIN(i, j));
    if (most > 0 && hashed_key(a, i - 1) != hashed_key(b, j - 1))
        return 0;
    return answer(&(Question){a, b, i, j, {before(a, i), before(b, j)}, TRUE}, most);
}
