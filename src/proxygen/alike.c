/* alike.c: rules that are equal but for trip counts. See alike.h. */
#include "alike.h"

#include "effects.h"

typedef struct { guint rank, rule; } Member;
typedef struct { GArray *members; /* of Member, by rank, when all are known */ guint *ranks; } Group;

struct Alike {
    const Plan *plan;
    guint *leader;           /* by rule */
    Group *groups;           /* by rule: those of leaders that do for others */
};

/* Is the rule nothing but its symbols one after the other? */
static gboolean is_plain(const Plan *plan, guint rule)
{
    const PlanRule *r = &plan->rules[rule];
    gboolean plain = !r->loop && !r->inlined;
    for (guint i = 0; plain && i < r->n; i++) {
        const Site site = {rule, i};
        const Choice *choice = r->symbols[i].is_rule ? NULL : g_hash_table_lookup(plan->choices, &site);
        plain = !choice || choice->kind == CHOICE_PLAIN;
    }
    return plain;
}

static gint compare_members(gconstpointer a, gconstpointer b)
{
    const Member *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void add_members(const Plan *plan, GArray *members, guint rule)
{
    RankSet ranks = plan->rules[rule].ranks;
    for (guint r = 0; r < ranks.n; r++) {
        const Member m = {ranks.ranks[r], rule};
        g_array_append_val(members, m);
    }
}

/* A rank that runs two of them would have two trip counts. */
static gboolean are_disjoint(const GArray *members)
{
    for (guint i = 1; i < members->len; i++)
        if (g_array_index(members, Member, i).rank == g_array_index(members, Member, i - 1).rank)
            return FALSE;
    return TRUE;
}

static void lead(Alike *a, const GArray *rules)
{
    guint first = g_array_index(rules, guint, 0);
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(Member));
    for (guint i = 0; i < rules->len; i++)
        add_members(a->plan, members, g_array_index(rules, guint, i));
    g_array_sort(members, compare_members);
    if (rules->len == 1 || !are_disjoint(members))
        return;
    Group *g = &a->groups[first];
    g->ranks = g_new(guint, members->len + 1);
    for (guint i = 0; i < members->len; i++)
        g->ranks[i] = g_array_index(members, Member, i).rank;
    g->members = g_steal_pointer(&members);
    for (guint i = 1; i < rules->len; i++)
        a->leader[g_array_index(rules, guint, i)] = first;
}

/* How far a rule is above those that use no others. */
static guint *find_heights(const Plan *plan, guint *most)
{
    guint *heights = g_new0(guint, plan->n_rules + 1);
    *most = 0;
    for (guint o = 0; o < plan->order->len; o++) { /* callees first */
        guint rule = g_array_index(plan->order, guint, o);
        for (guint i = 0; i < plan->rules[rule].n; i++)
            if (plan->rules[rule].symbols[i].is_rule)
                heights[rule] = MAX(heights[rule], heights[plan->rules[rule].symbols[i].id] + 1);
        *most = MAX(*most, heights[rule]);
    }
    return heights;
}

/* All rules of one height at a time: those below it have their leaders then. */
static void find_alike(Alike *a, const guint *heights, guint height)
{
    const Plan *plan = a->plan;
    g_autoptr(GHashTable) numbers = bytes_table();
    g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref); /* of GArray of guint: rules */
    g_autoptr(GArray) key = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint o = 0; o < plan->order->len; o++) {
        guint rule = g_array_index(plan->order, guint, o);
        const PlanRule *r = &plan->rules[rule];
        if (heights[rule] != height || !is_plain(plan, rule))
            continue;
        g_array_set_size(key, 0);
        for (guint i = 0; i < r->n; i++) {
            const WendSymbol *y = &r->symbols[i];
            const guint words[] = {y->is_rule ? a->leader[y->id] : y->id, (y->is_rule ? 2u : 0u) | (y->exponent > 1 ? 1u : 0u)};
            g_array_append_vals(key, words, G_N_ELEMENTS(words));
        }
        gboolean new;
        guint number = bytes_number(numbers, key->data, key->len * sizeof(guint), &new);
        if (new)
            g_ptr_array_add(groups, g_array_new(FALSE, FALSE, sizeof(guint)));
        g_array_append_val((GArray *)groups->pdata[number], rule);
    }
    for (guint i = 0; i < groups->len; i++)
        lead(a, groups->pdata[i]);
}

Alike *alike_new(const Plan *plan)
{
    Alike *a = g_new0(Alike, 1);
    guint most;
    g_autofree guint *heights = find_heights(plan, &most);
    a->plan = plan;
    a->leader = g_new(guint, plan->n_rules + 1);
    a->groups = g_new0(Group, plan->n_rules + 1);
    for (guint i = 0; i < plan->n_rules; i++)
        a->leader[i] = i;
    for (guint height = 0; height <= most; height++)
        find_alike(a, heights, height);
    return a;
}

void alike_free(Alike *a)
{
    if (!a)
        return;
    for (guint i = 0; i < a->plan->n_rules; i++) {
        g_clear_pointer(&a->groups[i].members, g_array_unref);
        g_free(a->groups[i].ranks);
    }
    g_free(a->groups);
    g_free(a->leader);
    g_free(a);
}

guint alike_leader(const Alike *a, guint rule) { return a->leader[rule]; }

RankSet alike_ranks(const Alike *a, guint leader)
{
    const Group *g = &a->groups[leader];
    return g->members ? (RankSet){g->members->len, g->ranks} : a->plan->rules[leader].ranks;
}

gint64 *alike_trips(const Alike *a, guint leader, guint symbol)
{
    const Group *g = &a->groups[leader];
    guint64 own = a->plan->rules[leader].symbols[symbol].exponent;
    gboolean differ = FALSE;
    g_autofree gint64 *trips = g_new(gint64, g->members ? g->members->len : 1);
    for (guint i = 0; g->members && i < g->members->len; i++) {
        guint64 exponent = a->plan->rules[g_array_index(g->members, Member, i).rule].symbols[symbol].exponent;
        trips[i] = (gint64)exponent;
        differ |= exponent != own;
    }
    return differ ? g_steal_pointer(&trips) : NULL;
}
