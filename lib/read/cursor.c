/* SPDX-License-Identifier: BSD-3-Clause */
/* cursor.c: see cursor.h. */
#include "cursor.h"

static void push(RuleCursor *c, guint rule)
{
    const WendRule *r = &c->rules[rule];
    if (r->length == 0)
        return; /* empty, however often it is repeated */
    if (c->depth == c->capacity) {
        c->capacity = MAX(2 * c->capacity, 16);
        c->stack = g_renew(RuleFrame, c->stack, c->capacity);
    }
    c->stack[c->depth++] = (RuleFrame){r->symbols, r->symbols + r->n, r->symbols->repeats};
}

void rule_cursor_init(RuleCursor *c, const WendRule *rules, guint start)
{
    *c = (RuleCursor){.rules = rules};
    push(c, start);
}

void rule_cursor_clear(RuleCursor *c)
{
    g_free(c->stack);
}

gboolean rule_cursor_enter(RuleCursor *c, guint32 *terminal)
{
    while (c->depth) {
        RuleFrame *top = &c->stack[c->depth - 1];
        if (top->symbol == top->end) {
            c->depth--;
            continue;
        }
        const WendSymbol *s = top->symbol;
        gboolean empty = s->is_rule && c->rules[s->id].length == 0;
        if (empty)
            top->left = 1;
        if (--top->left == 0 && ++top->symbol < top->end)
            top->left = top->symbol->repeats;
        if (!s->is_rule) {
            *terminal = s->id;
            return TRUE;
        }
        if (!empty)
            push(c, s->id);
    }
    return FALSE;
}
