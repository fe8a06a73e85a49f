/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c: functions on the plan that all passes use. */
#include "plan.h"

#include <string.h>

guint site_hash(gconstpointer site)
{
    const Site *s = site;
    return s->rule * 2654435761u ^ s->symbol;
}

gboolean site_equal(gconstpointer a, gconstpointer b)
{
    const Site *s = a, *t = b;
    return s->rule == t->rule && s->symbol == t->symbol;
}

gboolean rank_list_has(RankList set, guint rank)
{
    guint low = 0, high = set.n;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (set.ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set.n && set.ranks[low] == rank;
}

gboolean plan_is_init(const Plan *plan, guint terminal)
{
    const WendShape *shape =
        wend_program_shape(plan->program, wend_program_terminal(plan->program, terminal)->shape);
    return !shape->failed && shape->function->operation == WEND_FN_MPI_Init;
}

guint plan_add_body(Plan *plan, GArray *symbols)
{
    plan->rules = g_renew(PlanRule, plan->rules, plan->n_rules + 1);
    PlanRule *rule = &plan->rules[plan->n_rules];
    memset(rule, 0, sizeof *rule);
    rule->n = symbols->len;
    rule->symbols = (const WendSymbol *)(void *)g_array_free(symbols, FALSE);
    g_ptr_array_add(plan->owned, (gpointer)rule->symbols);
    return plan->n_rules++;
}

/* It uses an explicit stack. The depth of a grammar is about its logarithm, but a hostile archive
 * could make it large. */
void plan_visit(const Plan *plan, guint rule, guint *seen, guint stamp,
                void (*visit)(guint rule, gpointer data), gpointer data)
{
    typedef struct {
        guint rule, symbol;
    } VisitFrame;
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(VisitFrame));
    VisitFrame next = {rule, 0};
    if (seen[rule] != stamp)
        g_array_append_val(stack, next);
    seen[rule] = stamp;
    while (stack->len > 0) {
        VisitFrame *top = &g_array_index(stack, VisitFrame, stack->len - 1);
        const PlanRule *r = &plan->rules[top->rule];
        if (top->symbol == r->n) {
            visit(top->rule, data);
            g_array_set_size(stack, stack->len - 1);
            continue;
        }
        gboolean here = r->row_symbols && r->row_symbols[top->symbol].stream;
        const WendSymbol *s = &r->symbols[top->symbol++];
        if (!s->is_rule || here || seen[s->id] == stamp)
            continue;
        seen[s->id] = stamp;
        next = (VisitFrame){s->id, 0};
        g_array_append_val(stack, next);
    }
}

guint64 plan_n_symbols(const Plan *plan)
{
    guint64 symbols = 0;
    for (guint i = 0; i < plan->order->len; i++)
        symbols += plan->rules[g_array_index(plan->order, guint, i)].n;
    return symbols;
}
