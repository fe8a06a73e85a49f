/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.c: see refine.h. */
#include "refine.h"

#include <string.h>

#include "base/memory.h"
#include "base/containers.h"
#include "record/grammar.h"
#include "record/rules.h"

/* A refinement with more than TIMES_MAX times the terminals of both sequences, and MORE_MAX more,
 * would not pay. */
enum { TIMES_MAX = 2, MORE_MAX = 64 };

/* -- the key -- */

/* Polynomial hashes modulo 2^61 - 1 (Karp and Rabin 1987). The hash of a rule is computed from
 * those of its symbols, in a time that does not depend on repetition counts. */
enum { HASHES = 2 };
static const uint64_t prime = (UINT64_C(1) << 61) - 1,
                      bases[HASHES] = {0x0d3f2a9c4b1e6875, 0x1a5c7e93d20f4b69};

typedef struct {
    uint64_t length, hash[HASHES], power[HASHES];
} RefinedHash; /* power: base^length */

static uint64_t times(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t sum = ((uint64_t)product & prime) + (uint64_t)(product >> 61);
    return sum >= prime ? sum - prime : sum;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a + b >= prime ? a + b - prime : a + b;
}

static RefinedHash join(RefinedHash a, const RefinedHash *b)
{
    a.length += b->length;
    for (int k = 0; k < HASHES; k++) {
        a.hash[k] = plus(times(a.hash[k], b->power[k]), b->hash[k]);
        a.power[k] = times(a.power[k], b->power[k]);
    }
    return a;
}

static const RefinedHash nothing = {.power = {1, 1}};

static RefinedHash repeated(RefinedHash one, uint64_t n)
{
    RefinedHash all = nothing;
    for (; n > 0; n >>= 1, one = join(one, &one))
        if (n & 1)
            all = join(all, &one);
    return all;
}

static RefinedHash of_terminal(const Table *t, uint32_t terminal)
{
    uint64_t what = ((uint64_t)t->terminal_shape[terminal] << 24)
                    + (t->first_slot[terminal + 1] - t->first_slot[terminal]) + 1;
    return (RefinedHash){1, {what % prime, what % prime}, {bases[0], bases[1]}};
}

bool refine_key(const Sequence *s, WendBuf *key)
{
    RuleRow row;
    uint64_t length;
    uint32_t n;
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return false;
    AUTOFREE uint32_t *order = rules_bottom_up(&row, &n);
    bool good = order && rules_length(&row, &length) && length <= PAIRS_LENGTH_MAX;
    AUTOFREE RefinedHash *rules = good ? NEW0(RefinedHash, row.n_rules) : NULL;
    for (uint32_t i = 0; good && i < n; i++) {
        const Rule *rule = &row.rules[order[i]];
        RefinedHash all = nothing;
        for (uint32_t k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            RefinedHash one =
                repeated(y->is_rule ? rules[y->id] : of_terminal(&s->table, y->id), y->repeats);
            all = join(all, &one);
        }
        /* empty rules with large counts would take time and give nothing */
        good = rule->n > 0 || order[i] == 0;
        rules[order[i]] = all;
    }
    if (good) {
        buf_unsigned(key, rules[0].length);
        for (int k = 0; k < HASHES; k++)
            buf_unsigned(key, rules[0].hash[k]);
    }
    rules_clear(&row);
    return good;
}

/* -- the refinement -- */

static bool equal_shapes(const Table *a, uint32_t x, const Table *b, uint32_t y)
{
    return a->terminal_shape[x] == b->terminal_shape[y]
           && a->first_slot[x + 1] - a->first_slot[x] == b->first_slot[y + 1] - b->first_slot[y];
}

static bool walk_both(Pairs *p, const Sequence *a, const RuleRow *row_a, const Sequence *b,
                      const RuleRow *row_b, WendGrammar *g)
{
    Expansion x = rules_expand(row_a), y = rules_expand(row_b);
    uint64_t most = TIMES_MAX * ((uint64_t)a->table.n_terminals + b->table.n_terminals) + MORE_MAX;
    bool good = true;
    while (good && x.run && y.run) {
        uint64_t both = MIN(x.run, y.run);
        good = equal_shapes(&a->table, x.terminal, &b->table, y.terminal) && pairs_count(p) <= most;
        if (good && !grammar_append(g, pairs_number(p, x.terminal, y.terminal), both))
            memory_short();
        expansion_advance(&x, both);
        expansion_advance(&y, both);
    }
    good = good && !x.run && !y.run;
    expansion_clear(&x);
    expansion_clear(&y);
    return good;
}

bool refine(Refinement *r, const Sequence *a, const Sequence *b)
{
    RuleRow row_a, row_b = {0};
    WendGrammar *g = grammar_new();
    Pairs p = pairs_new(a->table.n_terminals);
    memset(r, 0, sizeof *r);
    if (!g)
        memory_short();
    bool good = rules_from(&row_a, a->grammar, a->table.n_terminals)
                && rules_from(&row_b, b->grammar, b->table.n_terminals)
                && walk_both(&p, a, &row_a, b, &row_b, g);
    r->n = pairs_count(&p);
    for (int k = 0; k < 2; k++)
        r->of[k] = memory_copy(p.of[k]->data, r->n * sizeof(uint32_t));
    if (good) {
        WendBuf bytes = WEND_BUF_INIT;
        grammar_end(g, &bytes);
        r->grammar = bytes_new(bytes.data, bytes.len);
        buf_clear(&bytes);
    } else {
        refinement_clear(r);
        grammar_free(g);
    }
    rules_clear(&row_a);
    rules_clear(&row_b);
    pairs_clear(&p);
    return good;
}

void refinement_clear(Refinement *r)
{
    for (int k = 0; k < 2; k++)
        memory_free(r->of[k]);
    CLEAR(r->grammar, bytes_unref);
    memset(r, 0, sizeof *r);
}
