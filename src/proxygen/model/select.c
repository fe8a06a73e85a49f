/* SPDX-License-Identifier: BSD-3-Clause */
/* select.c: selects the rules and calls that ranks run, the order of functions, and the calls up to
 * MPI_Init.
 *
 * Rules stay rules. Only the few calls up to MPI_Init are expanded, because main makes them before
 * it knows its rank. */
#include <string.h>

#include "lib/base/error.h"
#include "src/proxygen/model/model.h"

/* The maximum number of calls before MPI_Init that main repeats. */
enum { PREFIX_LIMIT = 4096 };

/* -- the calls up to MPI_Init -- */

/* Whether the rule's expansion has a call of MPI_Init. KNOWN is filled as needed. */
static gboolean rule_has_init(const Plan *plan, gint8 *known, guint rule)
{
    if (known[rule] >= 0)
        return known[rule];
    const WendRule *r = program_rule(plan->program, rule);
    known[rule] = 0;
    for (guint i = 0; i < r->n && !known[rule]; i++)
        known[rule] = r->symbols[i].is_rule ? rule_has_init(plan, known, r->symbols[i].id)
                                            : plan_is_init(plan, r->symbols[i].id);
    return known[rule];
}

static void expand_into(const Plan *plan, guint rule, GArray *terminals)
{
    const WendRule *r = program_rule(plan->program, rule);
    for (guint i = 0; i < r->n; i++)
        for (guint64 e = 0; e < r->symbols[i].repeats; e++) {
            if (terminals->len > PREFIX_LIMIT)
                return;
            if (r->symbols[i].is_rule)
                expand_into(plan, r->symbols[i].id, terminals);
            else
                g_array_append_val(terminals, r->symbols[i].id);
        }
}

/* Splits the expansion of RULE after MPI_Init: PREFIX gets the calls up to it, and REST the symbols
 * after it. */
static void split_after_init(const Plan *plan, gint8 *known, guint rule, GArray *prefix,
                             GArray *rest)
{
    const WendRule *r = program_rule(plan->program, rule);
    guint i = 0;
    for (; i < r->n; i++) {
        const WendSymbol *s = &r->symbols[i];
        if (s->is_rule ? rule_has_init(plan, known, s->id) : plan_is_init(plan, s->id))
            break;
        for (guint64 e = 0; e < s->repeats && prefix->len <= PREFIX_LIMIT; e++) {
            if (s->is_rule)
                expand_into(plan, s->id, prefix);
            else
                g_array_append_val(prefix, s->id);
        }
    }
    if (i == r->n)
        return;
    /* MPI_Init is called once, so its count is 1. In a hostile recording it may be larger; the rest
     * then has the other calls. */
    WendSymbol init = r->symbols[i];
    if (init.is_rule)
        split_after_init(plan, known, init.id, prefix, rest);
    else
        g_array_append_val(prefix, init.id);
    if (--init.repeats > 0)
        g_array_append_val(rest, init);
    g_array_append_vals(rest, r->symbols + i + 1, r->n - i - 1);
}

/* Finds the threads of all classes, and their common prefix. */
static void find_threads(Plan *plan)
{
    guint n_rules = program_n_rules(plan->program);
    gint8 *known = g_malloc(MAX(n_rules, 1));
    memset(known, -1, n_rules);
    gboolean common = TRUE;
    for (guint c = 0; c < program_n_classes(plan->program); c++) {
        const WendClass *class = program_class(plan->program, c);
        GArray *prefix = g_array_new(FALSE, FALSE, sizeof(guint));
        guint first = plan->threads->len;
        for (guint s = 0; s < class->n_sequences; s++) {
            if (class->sequences[s].kind != WEND_SEQUENCE_THREAD)
                continue;
            PlanThread thread = {.class_index = c,
                                 .ranks = {class->n_ranks, class->ranks},
                                 .thread = (guint) class->sequences[s].id,
                                 .sequence = s,
                                 .rule = class->sequences[s].rule};
            /* In a proxy, too, the main thread is the first that calls MPI. */
            if (prefix->len == 0 && thread.thread == 0 && rule_has_init(plan, known, thread.rule)) {
                GArray *rest = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
                split_after_init(plan, known, thread.rule, prefix, rest);
                thread.rule = plan_add_body(plan, rest);
                g_array_insert_val(plan->threads, first, thread);
            } else {
                g_array_append_val(plan->threads, thread);
            }
        }
        if (prefix->len == 0 || prefix->len > PREFIX_LIMIT)
            common = FALSE;
        if (!plan->prefix)
            plan->prefix = g_array_ref(prefix);
        else if (prefix->len != plan->prefix->len
                 || (prefix->len > 0
                     && memcmp(prefix->data, plan->prefix->data, prefix->len * sizeof(guint)) != 0))
            common = FALSE;
        g_array_unref(prefix);
    }
    if (!common && plan->prefix) {
        /* Ranks find their rank from the launcher, and run their whole sequences
         * (proxy-files.c). */
        g_array_unref(plan->prefix);
        plan->prefix = NULL;
        for (guint i = 0; i < plan->threads->len; i++) {
            PlanThread *t = &g_array_index(plan->threads, PlanThread, i);
            t->rule = program_class(plan->program, t->class_index)->sequences[t->sequence].rule;
        }
    }
    g_free(known);
}

/* -- ranks that run rules and calls -- */

/* A group is the ranks of a main thread, or of a class without one. Sets of groups are numbered in
 * the order in which they occur: (set, group) -> set. Set 0 is empty. */
typedef struct {
    RankList ranks;
    guint class_index, first, n; /* index and number of threads */
} ThreadGroup;
typedef struct {
    GHashTable *next; /* set << 32 | group -> set */
    GArray *parent;   /* of guint[2]: the set without its last group, and that group */
    GPtrArray *ranks; /* RankSet of each set, or NULL */
    GArray *groups;   /* of ThreadGroup */
} GroupSets;

static guint set_with(GroupSets *sets, guint set, guint group)
{
    const guint *last = &g_array_index(sets->parent, guint, 2 * set);
    if (set != 0 && last[1] == group)
        return set;
    gint64 key = (gint64)set << 32 | group;
    gpointer found = g_hash_table_lookup(sets->next, &key);
    if (found)
        return GPOINTER_TO_UINT(found);
    guint row[2] = {set, group}, made = sets->parent->len / 2;
    g_array_append_vals(sets->parent, row, 2);
    g_hash_table_insert(sets->next, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(made));
    return made;
}

static int compare_ranks(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

static RankList ranks_of_set(Plan *plan, GroupSets *sets, guint set)
{
    while (sets->ranks->len <= set)
        g_ptr_array_add(sets->ranks, NULL);
    RankList *known = g_ptr_array_index(sets->ranks, set);
    if (known)
        return *known;
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint s = set; s != 0; s = g_array_index(sets->parent, guint, 2 * s)) {
        RankList of_group =
            g_array_index(sets->groups, ThreadGroup, g_array_index(sets->parent, guint, 2 * s + 1))
                .ranks;
        g_array_append_vals(ranks, of_group.ranks, of_group.n);
    }
    g_array_sort(ranks, compare_ranks);
    known = g_new(RankList, 1);
    known->n = ranks->len;
    known->ranks = (const guint *)(void *)g_array_free(ranks, FALSE);
    g_ptr_array_add(plan->owned, (gpointer)known->ranks);
    g_ptr_array_add(plan->owned, known);
    sets->ranks->pdata[set] = known;
    return *known;
}

typedef struct {
    Plan *plan;
    GroupSets sets;
    guint *rule_set, *terminal_set;
    guint group;
    gboolean emitted; /* marked rules become functions */
    guint *seen;      /* by rule: the last group that walked it, + 1 */
} Marking;

static void mark_terminal(Marking *m, guint terminal)
{
    m->terminal_set[terminal] = set_with(&m->sets, m->terminal_set[terminal], m->group);
}

static void mark(guint rule, gpointer data)
{
    Marking *m = data;
    Plan *plan = m->plan;
    PlanRule *r = &plan->rules[rule];
    gboolean first = !r->used && m->emitted;
    for (guint i = 0; i < r->n; i++) {
        if (r->symbols[i].is_rule)
            continue;
        mark_terminal(m, r->symbols[i].id);
        plan->terminal_uses[r->symbols[i].id] += first;
    }
    m->rule_set[rule] = set_with(&m->sets, m->rule_set[rule], m->group);
    if (!first)
        return;
    r->used = TRUE;
    g_array_append_val(plan->order, rule);
}

static void mark_rule(Marking *m, guint rule)
{
    plan_visit(m->plan, rule, m->seen, m->group + 1, mark, m);
}

static void find_groups(const Plan *plan, GArray *groups)
{
    for (guint c = 0; c < program_n_classes(plan->program); c++) {
        const WendClass *class = program_class(plan->program, c);
        guint before = groups->len;
        for (guint i = 0; i < plan->threads->len;
             i += 1 + g_array_index(plan->threads, PlanThread, i).n_others) {
            const PlanThread *thread = &g_array_index(plan->threads, PlanThread, i);
            ThreadGroup group = {thread->ranks, c, i, 1 + thread->n_others};
            if (thread->class_index == c)
                g_array_append_val(groups, group);
        }
        ThreadGroup none = {{class->n_ranks, class->ranks}, c, 0, 0};
        if (groups->len == before)
            g_array_append_val(groups, none);
    }
}

void plan_mark(Plan *plan)
{
    guint n_terminals = program_n_terminals(plan->program);
    memset(plan->terminal_ranks, 0, n_terminals * sizeof *plan->terminal_ranks);
    memset(plan->terminal_uses, 0, n_terminals * sizeof *plan->terminal_uses);
    g_array_set_size(plan->order, 0);
    for (guint i = 0; i < plan->n_rules; i++) {
        plan->rules[i].used = FALSE;
        plan->rules[i].ranks = (RankList){0, NULL};
    }
    Marking m = {.plan = plan,
                 .rule_set = g_new0(guint, plan->n_rules + 1),
                 .terminal_set = g_new0(guint, n_terminals + 1),
                 .seen = g_new0(guint, plan->n_rules + 1)};
    m.sets.next = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    m.sets.parent = g_array_new(FALSE, FALSE, sizeof(guint));
    m.sets.ranks = g_ptr_array_new();
    guint empty[2] = {0, G_MAXUINT};
    g_array_append_vals(m.sets.parent, empty, 2);

    m.sets.groups = g_array_new(FALSE, FALSE, sizeof(ThreadGroup));
    find_groups(plan, m.sets.groups);
    for (m.group = 0; m.group < m.sets.groups->len; m.group++) {
        const ThreadGroup *group = &g_array_index(m.sets.groups, ThreadGroup, m.group);
        const WendClass *class = program_class(plan->program, group->class_index);
        m.emitted = TRUE;
        for (guint i = group->first; i < group->first + group->n; i++) {
            const PlanThread *thread = &g_array_index(plan->threads, PlanThread, i);
            mark_rule(&m, thread->rule);
        }
        /* Callbacks are written separately (callback-stubs.c), but their calls use variables and
         * memory, too. */
        m.emitted = FALSE;
        for (guint s = 0; s < class->n_sequences; s++)
            if (class->sequences[s].kind == WEND_SEQUENCE_CALLBACK)
                mark_rule(&m, class->sequences[s].rule);
        for (guint i = 0; plan->prefix && i < plan->prefix->len; i++)
            mark_terminal(&m, g_array_index(plan->prefix, guint, i));
    }
    for (guint i = 0; i < plan->n_rules; i++)
        if (m.rule_set[i])
            plan->rules[i].ranks = ranks_of_set(plan, &m.sets, m.rule_set[i]);
    for (guint i = 0; i < n_terminals; i++)
        if (m.terminal_set[i])
            plan->terminal_ranks[i] = ranks_of_set(plan, &m.sets, m.terminal_set[i]);
    g_hash_table_destroy(m.sets.next);
    g_array_free(m.sets.parent, TRUE);
    g_array_free(m.sets.groups, TRUE);
    g_ptr_array_free(m.sets.ranks, TRUE);
    g_free(m.rule_set);
    g_free(m.terminal_set);
    g_free(m.seen);
}

gboolean plan_select(Plan *plan, Error **error)
{
    const WendProgram *p = plan->program;
    if (plan->n_ranks == 0 || program_n_classes(p) == 0) {
        error_set(error, WEND_ERROR_INPUT, "%s: the recording has no ranks",
                  plan->options->recording);
        return FALSE;
    }
    plan->n_rules = program_n_rules(p);
    plan->rules = g_new0(PlanRule, plan->n_rules + 1);
    for (guint i = 0; i < plan->n_rules; i++) {
        const WendRule *r = program_rule(p, i);
        plan->rules[i].n = r->n;
        plan->rules[i].symbols = r->symbols;
    }
    find_threads(plan);
    plan_threads(plan);
    plan->terminal_ranks = g_new0(RankList, program_n_terminals(p) + 1);
    plan->terminal_uses = g_new0(guint, program_n_terminals(p) + 1);
    plan_mark(plan);
    plan_threads_borrowed(plan);
    return TRUE;
}
