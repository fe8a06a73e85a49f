/* SPDX-License-Identifier: BSD-3-Clause */
/* cursor.h: walks the expansion of a rule, one terminal at a time. */
#ifndef WEND_RULE_CURSOR_H
#define WEND_RULE_CURSOR_H

#include "record/types.h"

#include <glib.h>

/* A place in a rule. LEFT: the repetitions of SYMBOL that are still to come. */
typedef struct {
    const WendSymbol *symbol, *end;
    guint64 left;
} RuleFrame;
typedef struct {
    const WendRule *rules;
    RuleFrame *stack;
    guint depth, capacity;
} RuleCursor;

/* Begins at the first terminal of rule START of RULES, which must outlive C. */
void rule_cursor_init(RuleCursor *c, const WendRule *rules, guint start);
void rule_cursor_clear(RuleCursor *c);
gboolean rule_cursor_enter(RuleCursor *c, guint32 *terminal); /* for rule_cursor_next only */

/* Sets *TERMINAL to the next terminal. Returns FALSE at the end. */
static inline gboolean rule_cursor_next(RuleCursor *c, guint32 *terminal)
{
    if (c->depth) {
        RuleFrame *top = &c->stack[c->depth - 1];
        if (top->symbol < top->end && !top->symbol->is_rule) {
            *terminal = top->symbol->id;
            if (--top->left == 0 && ++top->symbol < top->end)
                top->left = top->symbol->repeats;
            return TRUE;
        }
    }
    return rule_cursor_enter(c, terminal);
}

#endif
