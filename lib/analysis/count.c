/* SPDX-License-Identifier: BSD-3-Clause */
/* count.c: see count.h. */
#include "config.h"

#include "count.h"

struct Counts {
    const WendProgram *program;
    guint64 *rules, *terminals; /* occurrences; all 0 between calls but for what "seen" lists */
    gboolean *visited;          /* by rule */
    GArray *order;              /* guint32: rules that occur, each behind all that it uses */
    GArray *seen;               /* guint32: terminals that occur */
};

Counts *counts_new(const WendProgram *p)
{
    Counts *c = g_new0(Counts, 1);
    c->program = p;
    c->rules = g_new0(guint64, program_n_rules(p));
    c->terminals = g_new0(guint64, program_n_terminals(p));
    c->visited = g_new0(gboolean, program_n_rules(p));
    c->order = g_array_new(FALSE, FALSE, sizeof(guint32));
    c->seen = g_array_new(FALSE, FALSE, sizeof(guint32));
    return c;
}

void counts_free(Counts *c)
{
    if (!c)
        return;
    g_free(c->rules);
    g_free(c->terminals);
    g_free(c->visited);
    g_array_unref(c->order);
    g_array_unref(c->seen);
    g_free(c);
}

/* Depth first from START, without recursion: rules nest as deep as the recording likes. */
static void find_order(Counts *c, guint32 start)
{
    typedef struct {
        guint32 rule;
        guint next;
    } Frame;
    GArray *stack = g_array_new(FALSE, FALSE, sizeof(Frame));
    Frame first = {start, 0};
    g_array_append_val(stack, first);
    c->visited[start] = TRUE;
    while (stack->len > 0) {
        Frame *top = &g_array_index(stack, Frame, stack->len - 1);
        const WendRule *rule = program_rule(c->program, top->rule);
        while (top->next < rule->n
               && (!rule->symbols[top->next].is_rule || c->visited[rule->symbols[top->next].id]))
            top->next++;
        if (top->next == rule->n) {
            g_array_append_val(c->order, top->rule);
            g_array_set_size(stack, stack->len - 1);
        } else {
            Frame below = {rule->symbols[top->next].id, 0};
            c->visited[below.rule] = TRUE;
            g_array_append_val(stack, below);
        }
    }
    g_array_unref(stack);
}

const guint32 *counts_of_rule(Counts *c, guint rule, guint *n)
{
    for (guint i = 0; i < c->seen->len; i++)
        c->terminals[g_array_index(c->seen, guint32, i)] = 0;
    g_array_set_size(c->seen, 0);

    g_array_set_size(c->order, 0);
    find_order(c, rule);
    c->rules[rule] = 1;
    for (guint i = c->order->len; i-- > 0;) { /* users first */
        guint32 id = g_array_index(c->order, guint32, i);
        const WendRule *r = program_rule(c->program, id);
        guint64 times = c->rules[id];
        for (guint s = 0; s < r->n; s++) {
            const WendSymbol *symbol = &r->symbols[s];
            guint64 *count = symbol->is_rule ? &c->rules[symbol->id] : &c->terminals[symbol->id];
            if (!symbol->is_rule && *count == 0)
                g_array_append_val(c->seen, symbol->id);
            /* an open has checked that lengths do not overflow */
            *count += times * symbol->repeats;
        }
        c->rules[id] = 0;
        c->visited[id] = FALSE;
    }
    *n = c->seen->len;
    return (const guint32 *)(void *)c->seen->data;
}

const guint32 *counts_rules(const Counts *c, guint *n)
{
    *n = c->order->len;
    return (const guint32 *)(void *)c->order->data;
}

WendTotals counts_totals(Counts *c)
{
    WendTotals totals = {0};
    for (guint i = 0; i < program_n_classes(c->program); i++) {
        const WendClass *class = program_class(c->program, i);
        for (guint q = 0; q < class->n_sequences; q++) {
            guint n;
            const guint32 *terminals = counts_of_rule(c, class->sequences[q].rule, &n);
            for (guint t = 0; t < n; t++) {
                const WendShape *shape =
                    program_shape(c->program, program_terminal(c->program, terminals[t])->shape);
                totals_add(&totals, shape->function,
                           counts_terminal(c, terminals[t]) * class->n_ranks);
            }
            for (guint r = 0; r < class->n_ranks; r++)
                totals.polls += program_polls(c->program, class->ranks[r], q);
        }
    }
    return totals;
}

guint64 counts_terminal(const Counts *c, guint32 terminal)
{
    return c->terminals[terminal];
}
