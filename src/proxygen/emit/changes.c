/* SPDX-License-Identifier: BSD-3-Clause */
/* changes.c: the calls that the proxy pins, reorders or leaves out. The code that writes such a
 * call declares the change here. This gives the comment in the proxy and the line in the report, so
 * both always agree. */
#include "src/proxygen/emit/emit.h"

#include <string.h>

static const struct {
    const char *comment, *report;
} texts[CHANGES] = {
    [CHANGE_SOURCE] = {"Recorded with MPI_ANY_SOURCE, pinned to the source that came",
                       "name the source that came instead of MPI_ANY_SOURCE"},
    [CHANGE_SOURCES] =
        {"Recorded with MPI_ANY_SOURCE, pinned to the source that came for each start",
         "name the source that came instead of MPI_ANY_SOURCE, each with its own request"},
    [CHANGE_NEIGHBOURS] =
        {"Later calls depend on the order of neighbours, which the library chooses: made with the "
         "recorded order",
         "become MPI_Dist_graph_create_adjacent with the recorded order of neighbours"},
    [CHANGE_SEND_ORDER] = {NULL, "wait for their turn in the recorded order"},
    [CHANGE_RECORDED_ORDER] = {"Completes in the recorded order, which cannot hang",
                               "complete requests in the recorded order"},
    [CHANGE_ANY_ORDER] =
        {"Each request completes as often as recorded, in any order, followed by its own calls",
         "complete requests in any order, each followed by its own calls"},
    [CHANGE_ALL_COMPLETE] = {"All requests complete, in any order",
                             "complete requests in any order"},
    [CHANGE_LEFT_OUT] = {" is left out", "are left out"}, /* after the name of the function */
};

typedef struct {
    ProxyChange change;
    guint terminal;
    const char *reason;
} NotedChange;

struct Changes {
    GHashTable *noted;  /* Noted -> the same */
    guint64 *rules;     /* by rule: number of runs, over all ranks */
    guint64 *terminals; /* by terminal: number of calls, over all ranks */
};

static guint noted_hash(gconstpointer key)
{
    const NotedChange *n = key;
    return (n->terminal * 31u + (guint)n->change) * 31u + (n->reason ? g_str_hash(n->reason) : 0);
}

static gboolean noted_equal(gconstpointer a, gconstpointer b)
{
    const NotedChange *x = a, *y = b;
    return x->change == y->change && x->terminal == y->terminal
           && g_strcmp0(x->reason, y->reason) == 0;
}

/* -- numbers of calls -- */

static void count_rule(struct Changes *c, const PlanRule *rule, guint64 times)
{
    for (guint i = 0; i < rule->n; i++) {
        const WendSymbol *symbol = &rule->symbols[i];
        (symbol->is_rule ? c->rules : c->terminals)[symbol->id] += times * symbol->repeats;
    }
}

void changes_begin(Plan *plan)
{
    struct Changes *c = plan->changes = g_new0(struct Changes, 1);
    c->noted = g_hash_table_new_full(noted_hash, noted_equal, g_free, NULL);
    c->rules = g_new0(guint64, plan->n_rules + 1);
    c->terminals = g_new0(guint64, program_n_terminals(plan->program) + 1);
    for (guint i = 0; i < plan->threads->len; i++) {
        const PlanThread *thread = &g_array_index(plan->threads, PlanThread, i);
        c->rules[thread->rule] += thread->ranks.n;
    }
    for (guint i = plan->order->len; i-- > 0;) { /* callers first */
        guint rule = g_array_index(plan->order, guint, i);
        count_rule(c, &plan->rules[rule], c->rules[rule]);
    }
}

void changes_free(struct Changes *changes)
{
    if (!changes)
        return;
    g_hash_table_destroy(changes->noted);
    g_free(changes->rules);
    g_free(changes->terminals);
    g_free(changes);
}

static guint64 count_sources(const Wildcard *wildcard)
{
    GHashTableIter iter;
    gpointer sources;
    guint64 n = 0;
    g_hash_table_iter_init(&iter, wildcard->sources);
    while (g_hash_table_iter_next(&iter, NULL, &sources))
        n += ((const GArray *)sources)->len;
    return n;
}

/* The number of calls in a table of entries to complete. Each call has a number of entries, and
 * then the entries. */
static guint64 count_picks(const Choice *choice)
{
    GHashTableIter iter;
    gpointer value;
    guint64 n = 0;
    g_hash_table_iter_init(&iter, choice->picks);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const GArray *picks = value;
        for (guint i = 0; i < picks->len; i += 1 + (guint)MAX(g_array_index(picks, gint32, i), 0))
            n++;
    }
    return n;
}

/* What the calls of each terminal come to, indexed by terminal: counted once for all that is noted,
 * since an irregular program has a choice, and a change, at each of a million places. */
typedef struct {
    guint64 *forced; /* calls in the recorded order */
    guint64 *loops;  /* calls that a loop stands for */
} ChangeCounts;

static void counts_clear(ChangeCounts *counts)
{
    g_free(counts->forced);
    g_free(counts->loops);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ChangeCounts, counts_clear)

static ChangeCounts count_all(const Plan *plan)
{
    guint n = program_n_terminals(plan->program);
    ChangeCounts counts = {g_new0(guint64, n + 1), g_new0(guint64, n + 1)};
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, plan->choices);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Choice *choice = value;
        const WendSymbol *symbol = &plan->rules[choice->site.rule].symbols[choice->site.symbol];
        if (choice->kind == CHOICE_FORCED && !symbol->is_rule)
            counts.forced[symbol->id] += count_picks(choice);
    }
    for (guint i = 0; i < plan->n_rules; i++) {
        const struct Loop *loop = plan->rules[i].loop;
        if (loop)
            counts.loops[loop->terminal] += plan->changes->rules[i] * (guint64)loop->total;
    }
    return counts;
}

static guint64 count_calls(const Plan *plan, const ChangeCounts *counts, const NotedChange *noted)
{
    const Wildcard *wildcard =
        g_hash_table_lookup(plan->wildcards, GUINT_TO_POINTER(noted->terminal));
    switch (noted->change) {
    case CHANGE_SOURCE:
    case CHANGE_SOURCES:
        return wildcard ? count_sources(wildcard) : 0;
    case CHANGE_RECORDED_ORDER:
        return counts->forced[noted->terminal];
    case CHANGE_ANY_ORDER:
    case CHANGE_ALL_COMPLETE:
        return counts->loops[noted->terminal];
    default:
        return plan->changes->terminals[noted->terminal];
    }
}

/* -- noting -- */

void changes_note(Emitter *e, ProxyChange change, guint terminal, const char *reason)
{
    const NotedChange noted = {change, terminal, reason};
    if (!g_hash_table_contains(e->plan->changes->noted, &noted))
        g_hash_table_add(e->plan->changes->noted, g_memdup2(&noted, sizeof noted));
}

static const char *function_of(const Plan *plan, guint terminal)
{
    return program_shape(plan->program, program_terminal(plan->program, terminal)->shape)
        ->function->name;
}

void changes_comment(Emitter *e, Statements *out, ProxyChange change, guint terminal,
                     const char *reason)
{
    const char *function = change == CHANGE_LEFT_OUT ? function_of(e->plan, terminal) : "";
    changes_note(e, change, terminal, reason);
    statements_comment(out, "%s%s%s%s.", function, texts[change].comment, reason ? ": " : "",
                       reason ? reason : "");
}

/* -- the report -- */

typedef struct {
    const char *function;
    guint64 calls;
} FunctionShare;

static gint compare_shares(gconstpointer a, gconstpointer b)
{
    const FunctionShare *x = a, *y = b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : strcmp(x->function, y->function);
}

static gint compare_noted(gconstpointer a, gconstpointer b)
{
    const NotedChange *x = a, *y = b;
    if (x->change != y->change)
        return x->change < y->change ? -1 : 1;
    gint reasons = g_strcmp0(x->reason, y->reason);
    return reasons ? reasons : x->terminal < y->terminal ? -1 : x->terminal > y->terminal;
}

static void add_share(GArray *shares, const char *function, guint64 calls)
{
    for (guint i = 0; i < shares->len; i++)
        if (strcmp(g_array_index(shares, FunctionShare, i).function, function) == 0) {
            g_array_index(shares, FunctionShare, i).calls += calls;
            return;
        }
    const FunctionShare share = {function, calls};
    g_array_append_val(shares, share);
}

static char *line_of(const NotedChange *first, GArray *shares)
{
    g_autoptr(GString) line = g_string_new("");
    g_array_sort(shares, compare_shares);
    for (guint i = 0; i < shares->len; i++) {
        const FunctionShare *share = &g_array_index(shares, FunctionShare, i);
        g_string_append_printf(line, "%s%" G_GUINT64_FORMAT " call%s of %s", i ? ", " : "",
                               share->calls, share->calls == 1 ? "" : "s", share->function);
    }
    g_string_append_printf(line, " %s", texts[first->change].report);
    if (first->reason)
        g_string_append_printf(line, ": %s", first->reason);
    return g_strdup(line->str);
}

GPtrArray *changes_report(const Plan *plan)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    g_auto(ChangeCounts) counts = count_all(plan);
    g_autoptr(GList) all = g_list_sort(g_hash_table_get_keys(plan->changes->noted), compare_noted);
    for (const GList *l = all; l;) {
        const NotedChange *first = l->data;
        g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(FunctionShare));
        for (; l && ((const NotedChange *)l->data)->change == first->change
               && g_strcmp0(((const NotedChange *)l->data)->reason, first->reason) == 0;
             l = l->next) {
            guint64 calls = count_calls(plan, &counts, l->data);
            if (calls > 0)
                add_share(shares, function_of(plan, ((const NotedChange *)l->data)->terminal),
                          calls);
        }
        if (shares->len > 0)
            g_ptr_array_add(lines, line_of(first, shares));
    }
    return lines;
}
