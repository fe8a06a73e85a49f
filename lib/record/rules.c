/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c: see rules.h. */
#include <string.h>

#include "base/allowance.h"
#include "rules.h"

/* Bytes in memory of a rule and of a symbol, with the arrays of delta-sequence.c. */
enum { RULE_MEMORY = sizeof(Rule) + 48, SYMBOL_MEMORY = sizeof(WendSymbol) + 16 };

void rules_clear(RuleRow *row)
{
    for (guint i = 0; i < row->n_rules; i++)
        g_free(row->rules[i].symbols);
    g_free(row->rules);
    memset(row, 0, sizeof *row);
}

void rule_encode_symbol(guint64 number, gboolean is_rule, gboolean repeated, WendBuf *out)
{
    wend_buf_unsigned(out, number << SYMBOL_BITS | (repeated ? SYMBOL_REPEATED : 0)
                               | (is_rule ? SYMBOL_IS_RULE : 0));
}

void rule_encode(const Rule *rule, RulesForm form, WendBuf *out)
{
    wend_buf_unsigned(out, rule->n);
    for (guint k = 0; k < rule->n; k++) {
        const WendSymbol *y = &rule->symbols[k];
        gboolean repeated = y->repeats != 1;
        if (form == RULES_SHORT)
            rule_encode_symbol(y->id, y->is_rule, repeated, out);
        else
            wend_buf_unsigned(out, (guint64)y->id << 1 | (y->is_rule ? 1 : 0));
        if (repeated || form == RULES_PLAIN)
            wend_buf_unsigned(out, y->repeats);
    }
}

gboolean rules_read(RuleRow *row, WendCursor *c, guint32 n_terminals, RulesForm form)
{
    gboolean in_short = form == RULES_SHORT;
    guint bits = in_short ? SYMBOL_BITS : 1;
    memset(row, 0, sizeof *row);
    gsize n = wend_cursor_count(c, 1);
    if (c->failed || n > G_MAXINT32 || !allowance_take(c->allowance, n, RULE_MEMORY))
        return FALSE;
    row->rules = g_new0(Rule, n + 1);
    row->n_rules = n;
    for (guint i = 0; i < row->n_rules; i++) {
        gsize symbols = wend_cursor_count(c, in_short ? 1 : 2);
        if (!allowance_take(c->allowance, symbols, SYMBOL_MEMORY)) {
            rules_clear(row);
            return FALSE;
        }
        row->rules[i].n = symbols;
        row->rules[i].symbols = g_new(WendSymbol, symbols + 1);
        for (gsize k = 0; k < symbols; k++) {
            guint64 said = wend_cursor_unsigned(c),
                    repeats = in_short && !(said & SYMBOL_REPEATED) ? 1 : wend_cursor_unsigned(c),
                    id = said >> bits;
            gboolean is_rule = (said & SYMBOL_IS_RULE) != 0;
            if (c->failed || repeats == 0 || repeats & RULE_TRIP
                || id >= (is_rule ? n : n_terminals)) {
                rules_clear(row);
                return FALSE;
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

gboolean rules_from(RuleRow *row, GBytes *grammar, guint32 n_terminals)
{
    WendCursor c = wend_cursor(g_bytes_get_data(grammar, NULL), g_bytes_get_size(grammar));
    return rules_read(row, &c, n_terminals, RULES_PLAIN);
}

guint32 *rules_bottom_up(const RuleRow *row, guint *n)
{
    typedef struct {
        guint32 rule;
        guint at;
    } RulesFrame;
    g_autofree guint8 *state = g_new0(guint8, row->n_rules); /* 1: being read, 2: done */
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(RulesFrame));
    guint32 *order = g_new(guint32, row->n_rules);
    *n = 0;
    RulesFrame start = {0, 0};
    state[0] = 1;
    g_array_append_val(stack, start);
    while (stack->len) {
        RulesFrame *top = &g_array_index(stack, RulesFrame, stack->len - 1);
        const Rule *rule = &row->rules[top->rule];
        while (top->at < rule->n
               && (!rule->symbols[top->at].is_rule || state[rule->symbols[top->at].id] == 2))
            top->at++;
        if (top->at == rule->n) {
            state[top->rule] = 2;
            order[(*n)++] = top->rule;
            g_array_set_size(stack, stack->len - 1);
            continue;
        }
        RulesFrame next = {rule->symbols[top->at].id, 0};
        if (state[next.rule] == 1) {
            g_free(order);
            return NULL;
        }
        state[next.rule] = 1;
        g_array_append_val(stack, next);
    }
    return order;
}

gboolean rules_length(const RuleRow *row, guint64 *length)
{
    guint n;
    g_autofree guint32 *order = rules_bottom_up(row, &n);
    if (!order)
        return FALSE;
    g_autofree guint64 *lengths = g_new0(guint64, row->n_rules);
    for (guint i = 0; i < n; i++) {
        const Rule *rule = &row->rules[order[i]];
        guint64 sum = 0;
        for (guint k = 0; k < rule->n; k++) {
            const WendSymbol *s = &rule->symbols[k];
            guint64 each = s->is_rule ? lengths[s->id] : 1, all;
            if (__builtin_mul_overflow(each, s->repeats, &all)
                || __builtin_add_overflow(sum, all, &sum) || sum > G_MAXINT64 / 2)
                return FALSE;
        }
        lengths[order[i]] = sum;
    }
    *length = lengths[0];
    return TRUE;
}

void rules_count(const RuleRow *row, guint64 *counts)
{
    guint n;
    g_autofree guint32 *order = rules_bottom_up(row, &n);
    g_autofree guint64 *times = g_new0(guint64, row->n_rules);
    times[0] = 1;
    for (guint i = n; order && i-- > 0;) { /* those that use a rule come before it */
        const Rule *rule = &row->rules[order[i]];
        for (guint k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            guint64 *sum = y->is_rule ? &times[y->id] : &counts[y->id];
            *sum += times[order[i]] * y->repeats;
        }
    }
}

/* -- a walk through an expansion -- */

/* LEFT: the repetitions that remain, this one included. */
typedef struct {
    guint32 rule;
    guint at;
    guint64 left;
} RulesFrame;

void expansion_advance(Expansion *e, guint64 n)
{
    e->run -= n;
    while (e->run == 0 && e->stack->len) {
        RulesFrame *top = &g_array_index(e->stack, RulesFrame, e->stack->len - 1);
        const Rule *rule = &e->row->rules[top->rule];
        if (top->at == rule->n) {
            top->at = 0;
            if (--top->left == 0)
                g_array_set_size(e->stack, e->stack->len - 1);
            continue;
        }
        const WendSymbol *y = &rule->symbols[top->at++];
        if (y->is_rule) {
            RulesFrame next = {y->id, 0, y->repeats};
            g_array_append_val(e->stack, next);
        } else {
            e->terminal = y->id;
            e->run = y->repeats;
        }
    }
}

Expansion rules_expand(const RuleRow *row)
{
    Expansion e = {.row = row, .stack = g_array_new(FALSE, FALSE, sizeof(RulesFrame))};
    RulesFrame start = {0, 0, 1};
    g_array_append_val(e.stack, start);
    expansion_advance(&e, 0);
    return e;
}

void expansion_clear(Expansion *e)
{
    g_clear_pointer(&e->stack, g_array_unref);
    e->run = 0;
}
