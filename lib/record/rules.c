/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c: see rules.h. */
#include <string.h>

#include "base/allowance.h"
#include "rules.h"

/* Bytes in memory of a rule and of a symbol, with the arrays of delta-sequence.c. */
enum { RULE_MEMORY = sizeof(Rule) + 48, SYMBOL_MEMORY = sizeof(WendSymbol) + 16 };

void rules_clear(RuleRow *row)
{
    for (uint32_t i = 0; i < row->n_rules; i++)
        memory_free(row->rules[i].symbols);
    memory_free(row->rules);
    memset(row, 0, sizeof *row);
}

void rule_encode_symbol(uint64_t number, bool is_rule, bool repeated, WendBuf *out)
{
    buf_unsigned(out, number << SYMBOL_BITS | (repeated ? SYMBOL_REPEATED : 0)
                          | (is_rule ? SYMBOL_IS_RULE : 0));
}

void rule_encode(const Rule *rule, RulesForm form, WendBuf *out)
{
    buf_unsigned(out, rule->n);
    for (uint32_t k = 0; k < rule->n; k++) {
        const WendSymbol *y = &rule->symbols[k];
        bool repeated = y->repeats != 1;
        if (form == RULES_SHORT)
            rule_encode_symbol(y->id, y->is_rule, repeated, out);
        else
            buf_unsigned(out, (uint64_t)y->id << 1 | (y->is_rule ? 1 : 0));
        if (repeated || form == RULES_PLAIN)
            buf_unsigned(out, y->repeats);
    }
}

bool rules_read(RuleRow *row, WendCursor *c, uint32_t n_terminals, RulesForm form)
{
    bool in_short = form == RULES_SHORT;
    uint32_t bits = in_short ? SYMBOL_BITS : 1;
    memset(row, 0, sizeof *row);
    size_t n = cursor_count(c, 1);
    if (c->failed || n > INT32_MAX || !allowance_take(c->allowance, n, RULE_MEMORY))
        return false;
    row->rules = NEW0(Rule, n + 1);
    row->n_rules = n;
    for (uint32_t i = 0; i < row->n_rules; i++) {
        size_t symbols = cursor_count(c, in_short ? 1 : 2);
        if (!allowance_take(c->allowance, symbols, SYMBOL_MEMORY)) {
            rules_clear(row);
            return false;
        }
        row->rules[i].n = symbols;
        row->rules[i].symbols = NEW(WendSymbol, symbols + 1);
        for (size_t k = 0; k < symbols; k++) {
            uint64_t said = cursor_unsigned(c),
                     repeats = in_short && !(said & SYMBOL_REPEATED) ? 1 : cursor_unsigned(c),
                     id = said >> bits;
            bool is_rule = (said & SYMBOL_IS_RULE) != 0;
            if (c->failed || repeats == 0 || repeats & RULE_TRIP
                || id >= (is_rule ? n : n_terminals)) {
                rules_clear(row);
                return false;
            }
            row->rules[i].symbols[k] = (WendSymbol){is_rule, id, repeats};
        }
    }
    if (row->n_rules == 0)
        c->failed = true;
    if (c->failed)
        rules_clear(row);
    return !c->failed;
}

bool rules_from(RuleRow *row, Bytes *grammar, uint32_t n_terminals)
{
    WendCursor c = cursor_of(grammar->data, grammar->n);
    return rules_read(row, &c, n_terminals, RULES_PLAIN);
}

uint32_t *rules_bottom_up(const RuleRow *row, uint32_t *n)
{
    typedef struct {
        uint32_t rule;
        uint32_t at;
    } RulesFrame;
    AUTOFREE uint8_t *state = NEW0(uint8_t, row->n_rules); /* 1: being read, 2: done */
    AUTO(Vector) stack = vector_new(sizeof(RulesFrame));
    uint32_t *order = NEW(uint32_t, row->n_rules);
    *n = 0;
    RulesFrame start = {0, 0};
    state[0] = 1;
    VECTOR_APPEND(stack, start);
    while (stack->len) {
        RulesFrame *top = &VECTOR_AT(stack, RulesFrame, stack->len - 1);
        const Rule *rule = &row->rules[top->rule];
        while (top->at < rule->n
               && (!rule->symbols[top->at].is_rule || state[rule->symbols[top->at].id] == 2))
            top->at++;
        if (top->at == rule->n) {
            state[top->rule] = 2;
            order[(*n)++] = top->rule;
            vector_resize(stack, stack->len - 1);
            continue;
        }
        RulesFrame next = {rule->symbols[top->at].id, 0};
        if (state[next.rule] == 1) {
            memory_free(order);
            return NULL;
        }
        state[next.rule] = 1;
        VECTOR_APPEND(stack, next);
    }
    return order;
}

bool rules_length(const RuleRow *row, uint64_t *length)
{
    uint32_t n;
    AUTOFREE uint32_t *order = rules_bottom_up(row, &n);
    if (!order)
        return false;
    AUTOFREE uint64_t *lengths = NEW0(uint64_t, row->n_rules);
    for (uint32_t i = 0; i < n; i++) {
        const Rule *rule = &row->rules[order[i]];
        uint64_t sum = 0;
        for (uint32_t k = 0; k < rule->n; k++) {
            const WendSymbol *s = &rule->symbols[k];
            uint64_t each = s->is_rule ? lengths[s->id] : 1, all;
            if (__builtin_mul_overflow(each, s->repeats, &all)
                || __builtin_add_overflow(sum, all, &sum) || sum > INT64_MAX / 2)
                return false;
        }
        lengths[order[i]] = sum;
    }
    *length = lengths[0];
    return true;
}

void rules_count(const RuleRow *row, uint64_t *counts)
{
    uint32_t n;
    AUTOFREE uint32_t *order = rules_bottom_up(row, &n);
    AUTOFREE uint64_t *times = NEW0(uint64_t, row->n_rules);
    times[0] = 1;
    for (uint32_t i = n; order && i-- > 0;) { /* those that use a rule come before it */
        const Rule *rule = &row->rules[order[i]];
        for (uint32_t k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            uint64_t *sum = y->is_rule ? &times[y->id] : &counts[y->id];
            *sum += times[order[i]] * y->repeats;
        }
    }
}

/* -- a walk through an expansion -- */

/* LEFT: the repetitions that remain, this one included. */
typedef struct {
    uint32_t rule;
    uint32_t at;
    uint64_t left;
} RulesFrame;

void expansion_advance(Expansion *e, uint64_t n)
{
    e->run -= n;
    while (e->run == 0 && e->stack->len) {
        RulesFrame *top = &VECTOR_AT(e->stack, RulesFrame, e->stack->len - 1);
        const Rule *rule = &e->row->rules[top->rule];
        if (top->at == rule->n) {
            top->at = 0;
            if (--top->left == 0)
                vector_resize(e->stack, e->stack->len - 1);
            continue;
        }
        const WendSymbol *y = &rule->symbols[top->at++];
        if (y->is_rule) {
            RulesFrame next = {y->id, 0, y->repeats};
            VECTOR_APPEND(e->stack, next);
        } else {
            e->terminal = y->id;
            e->run = y->repeats;
        }
    }
}

Expansion rules_expand(const RuleRow *row)
{
    Expansion e = {.row = row, .stack = vector_new(sizeof(RulesFrame))};
    RulesFrame start = {0, 0, 1};
    VECTOR_APPEND(e.stack, start);
    expansion_advance(&e, 0);
    return e;
}

void expansion_clear(Expansion *e)
{
    CLEAR(e->stack, vector_unref);
    e->run = 0;
}
