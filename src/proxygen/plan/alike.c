/* SPDX-License-Identifier: BSD-3-Clause */
/* alike.c: rules that are equal except for trip counts. */
#include "src/proxygen/plan/passes.h"

#include "lib/base/containers.h"

typedef struct {
    guint rank, rule;
} Entry;
typedef struct {
    GArray *rules;   /* of guint; the first one is the leader */
    GArray *entries; /* of Entry, by rank, if there is more than one rule */
    guint *ranks;    /* the ranks of these entries */
} Group;
/* The groups of one shape. No rank runs two rules of a group, because it would have two trip
 * counts. If a rank runs a second rule of a shape, that rule belongs to the second group. */
typedef struct {
    GPtrArray *groups; /* of Group */
    /* by rank: number of groups that it belongs to; NULL: the shape has one rule */
    guint *taken;
} Shape;

struct AlikeRules {
    const Plan *plan;
    GPtrArray *groups; /* of Group: all groups */
    Group **group_of;  /* by rule; NULL: not in the plan's order */
};

static void group_free(gpointer group)
{
    Group *g = group;
    g_array_unref(g->rules);
    g_clear_pointer(&g->entries, g_array_unref);
    g_free(g->ranks);
    g_free(g);
}

static void shape_free(gpointer shape)
{
    Shape *s = shape;
    g_ptr_array_unref(s->groups);
    g_free(s->taken);
    g_free(s);
}

/* Whether the rule has only symbols in order. */
static gboolean is_plain(const Plan *plan, guint rule)
{
    const PlanRule *r = &plan->rules[rule];
    gboolean plain = !r->loop && !r->inlined && !r->row_symbols;
    for (guint i = 0; plain && i < r->n; i++)
        plain = !plan_choice(plan, rule, i);
    return plain;
}

static gint compare_entries(gconstpointer a, gconstpointer b)
{
    const Entry *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The common part of rules of one shape. */
static void find_shape(const AlikeRules *a, guint rule, GArray *shape)
{
    const PlanRule *r = &a->plan->rules[rule];
    g_array_set_size(shape, 0);
    if (!is_plain(a->plan, rule)) {
        g_array_append_val(shape, rule); /* unique: other shapes have an even length */
        return;
    }
    for (guint i = 0; i < r->n; i++) {
        const WendSymbol *y = &r->symbols[i];
        const guint words[] = {y->is_rule ? alike_leader(a, y->id) : y->id,
                               (y->is_rule ? 2u : 0u) | (y->repeats > 1 ? 1u : 0u)};
        g_array_append_vals(shape, words, G_N_ELEMENTS(words));
    }
}

/* The number of the first group that none of the ranks belongs to. */
static guint take_group(guint *taken, RankList ranks)
{
    guint which = 0;
    for (guint r = 0; r < ranks.n; r++)
        which = MAX(which, taken[ranks.ranks[r]]);
    for (guint r = 0; r < ranks.n; r++)
        taken[ranks.ranks[r]] = which + 1;
    return which;
}

static Group *group_for(AlikeRules *a, Shape *s, guint rule)
{
    const PlanRule *rules = a->plan->rules;
    guint which = 0;
    if (s->groups->len > 0 && !s->taken) {
        s->taken = g_new0(guint, a->plan->n_ranks);
        take_group(s->taken,
                   rules[g_array_index(((Group *)s->groups->pdata[0])->rules, guint, 0)].ranks);
    }
    if (s->taken)
        which = take_group(s->taken, rules[rule].ranks);
    if (which == s->groups->len) {
        Group *g = g_new(Group, 1);
        *g = (Group){g_array_new(FALSE, FALSE, sizeof(guint)), NULL, NULL};
        g_ptr_array_add(s->groups, g);
        g_ptr_array_add(a->groups, g);
    }
    return s->groups->pdata[which];
}

static void find_entries(const Plan *plan, Group *g)
{
    if (g->rules->len == 1)
        return;
    g->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    for (guint i = 0; i < g->rules->len; i++) {
        guint rule = g_array_index(g->rules, guint, i);
        for (guint r = 0; r < plan->rules[rule].ranks.n; r++) {
            const Entry m = {plan->rules[rule].ranks.ranks[r], rule};
            g_array_append_val(g->entries, m);
        }
    }
    g_array_sort(g->entries, compare_entries);
    g->ranks = g_new(guint, g->entries->len + 1);
    for (guint i = 0; i < g->entries->len; i++)
        g->ranks[i] = g_array_index(g->entries, Entry, i).rank;
}

AlikeRules *alike_new(const Plan *plan)
{
    AlikeRules *a = g_new(AlikeRules, 1);
    *a = (AlikeRules){plan, g_ptr_array_new_with_free_func(group_free),
                      g_new0(Group *, plan->n_rules + 1)};
    AUTO(Map) shapes = map_of_bytes(shape_free);
    g_autoptr(GArray) shape = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint o = 0; o < plan->order->len; o++) { /* callees first */
        guint rule = g_array_index(plan->order, guint, o);
        find_shape(a, rule, shape);
        Shape *s = map_entry(shapes, shape->data, shape->len * sizeof(guint), sizeof *s);
        if (!s->groups)
            s->groups = g_ptr_array_new();
        a->group_of[rule] = group_for(a, s, rule);
        g_array_append_val(a->group_of[rule]->rules, rule);
    }
    for (guint i = 0; i < a->groups->len; i++)
        find_entries(plan, a->groups->pdata[i]);
    return a;
}

void alike_free(AlikeRules *a)
{
    if (!a)
        return;
    g_ptr_array_unref(a->groups);
    g_free(a->group_of);
    g_free(a);
}

guint alike_leader(const AlikeRules *a, guint rule)
{
    return a && a->group_of[rule] ? g_array_index(a->group_of[rule]->rules, guint, 0) : rule;
}

gboolean alike_shared(const AlikeRules *a, guint rule)
{
    return a->group_of[rule] && a->group_of[rule]->entries;
}

RankList alike_ranks(const AlikeRules *a, guint leader)
{
    const Group *g = a->group_of[leader];
    return g && g->entries ? (RankList){g->entries->len, g->ranks} : a->plan->rules[leader].ranks;
}

gint64 *alike_trips(const AlikeRules *a, guint leader, guint symbol)
{
    const Group *g = a ? a->group_of[leader] : NULL;
    if (!g || !g->entries)
        return NULL;
    guint64 own = a->plan->rules[leader].symbols[symbol].repeats;
    gboolean differ = FALSE;
    g_autofree gint64 *trips = g_new(gint64, g->entries->len);
    for (guint i = 0; i < g->entries->len; i++) {
        guint64 repeats =
            a->plan->rules[g_array_index(g->entries, Entry, i).rule].symbols[symbol].repeats;
        trips[i] = (gint64)repeats;
        differ |= repeats != own;
    }
    return differ ? g_steal_pointer(&trips) : NULL;
}
