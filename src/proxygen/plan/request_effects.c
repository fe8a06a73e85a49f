/* SPDX-License-Identifier: BSD-3-Clause */
/* request_effects.c: see request_effects.h. */
#include "request_effects.h"

#include <string.h>

static RequestEffect *classify_call(RequestEffects *effects, const CallPattern *c)
{
    RequestEffect *effect = NULL;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind != WEND_KIND_REQUEST)
            continue;
        if (!effect) {
            effect = g_new0(RequestEffect, 1);
            effect->makes = g_array_new(FALSE, FALSE, sizeof(gint));
            effect->gives = g_array_new(FALSE, FALSE, sizeof(gint));
            effect->differs = (c->function->flags & WEND_F_ANY) || c->failed;
            effect->frees = c->function->id == WEND_FN_MPI_Request_free;
        }
        for (guint w = 0; w < arg->n_in_words; w++) {
            gint number = request_numbers_add(effects->numbers, arg->in[w].value);
            g_array_append_val(effect->gives, number);
        }
        for (guint w = 0; w < arg->n_out_words; w++) {
            gint number = request_numbers_add(effects->numbers, arg->out[w].value);
            if (number >= 0)
                g_array_append_val(effect->makes, number);
        }
        if (arg->param->array && arg->n_in > 0)
            effect->list = request_lists_find(effects->lists, arg->in, arg->n_in);
    }
    return effect;
}

RequestEffects *request_effects_find(const Plan *plan, const RequestLists *lists,
                                     RequestNumbers *numbers)
{
    guint n_terminals = wend_program_n_terminals(plan->program);
    RequestEffects *effects = g_new(RequestEffects, 1);
    *effects = (RequestEffects){
        .plan = plan,
        .lists = lists,
        .numbers = numbers,
        .of = g_new0(RequestEffect *, n_terminals + 1),
    };
    for (guint t = 0; t < n_terminals; t++) {
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_pattern_decode(plan->call, t);
        effects->of[t] = classify_call(effects, plan->call);
    }
    request_numbers_assign_indices(numbers);
    return effects;
}

void request_effects_free(RequestEffects *effects)
{
    for (guint t = 0; t < wend_program_n_terminals(effects->plan->program); t++) {
        if (!effects->of[t])
            continue;
        g_array_unref(effects->of[t]->makes);
        g_array_unref(effects->of[t]->gives);
        g_free(effects->of[t]);
    }
    g_free(effects->of);
    g_free(effects);
}

guint request_effect_count(const RequestEffect *effect)
{
    return effect->makes->len + effect->gives->len;
}

gint request_effect_number(const RequestEffect *effect, guint n)
{
    return n < effect->makes->len ? g_array_index(effect->makes, gint, n)
                                  : g_array_index(effect->gives, gint, n - effect->makes->len);
}

/* The terminals below RULE, each once. */
static GArray *terminals_below(const Plan *plan, guint rule)
{
    GArray *terminals = g_array_new(FALSE, FALSE, sizeof(guint)),
           *open = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL),
                          seen_terminals = g_hash_table_new(NULL, NULL);
    g_array_append_val(open, rule);
    while (open->len > 0) {
        const PlanRule *r = &plan->rules[g_array_index(open, guint, open->len - 1)];
        g_array_set_size(open, open->len - 1);
        for (guint i = 0; i < r->n; i++) {
            guint id = r->symbols[i].id;
            if (g_hash_table_add(r->symbols[i].is_rule ? seen : seen_terminals,
                                 GUINT_TO_POINTER(id)))
                g_array_append_val(r->symbols[i].is_rule ? open : terminals, id);
        }
    }
    g_array_unref(open);
    return terminals;
}

RequestUse *request_effects_use(const RequestEffects *effects, const WendClass *class)
{
    guint n = request_numbers_count(effects->numbers);
    RequestUse *use = g_new(RequestUse, 1);
    *use = (RequestUse){.class = class,
                        .walks = g_new0(gboolean, class->n_sequences + 1),
                        .stays = g_new0(gboolean, n + 1),
                        .same = TRUE};
    /* by number: the last sequence that names it, + 1 */
    g_autofree guint *seen = g_new0(guint, n + 1);
    for (guint s = 0; s < class->n_sequences; s++) {
        g_autoptr(GArray) terminals = terminals_below(effects->plan, class->sequences[s].rule);
        for (guint t = 0; t < terminals->len; t++) {
            const RequestEffect *effect = effects->of[g_array_index(terminals, guint, t)];
            if (!effect)
                continue;
            use->walks[s] = TRUE;
            use->same &= !effect->differs;
            for (guint i = 0; i < request_effect_count(effect); i++) {
                gint number = request_effect_number(effect, i);
                if (number < 0)
                    continue;
                use->stays[number] |= (seen[number] && seen[number] != s + 1)
                                      || class->sequences[s].kind != WEND_SEQUENCE_THREAD;
                seen[number] = s + 1;
            }
        }
    }
    return use;
}

void request_use_free(RequestUse *use)
{
    g_free(use->walks);
    g_free(use->stays);
    g_free(use);
}
