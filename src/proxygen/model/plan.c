/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c: functions on the plan that all passes use, and the worlds of its job. */
#include <stdlib.h>
#include <string.h>

#include "lib/read/world-starts.h"
#include "src/proxygen/model/model.h"

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

static int compare_ranks(const void *a, const void *b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

gboolean rank_list_has(RankList set, guint rank)
{
    return set.n > 0 && bsearch(&rank, set.ranks, set.n, sizeof rank, compare_ranks);
}

gboolean plan_is_init(const Plan *plan, guint terminal)
{
    const WendShape *shape =
        program_shape(plan->program, program_terminal(plan->program, terminal)->shape);
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

/* -- the worlds of a job -- */

/* In the order of names, the K-th start of a rank belongs to its K-th call; the threads of a rank
 * come one after the other. */
static gint compare_starts(gconstpointer a, gconstpointer b)
{
    const WorldStart *s = a, *t = b;
    return s->rank != t->rank ? (s->rank > t->rank ? 1 : -1)
                              : (s->world > t->world) - (s->world < t->world);
}

GArray *plan_worlds_starts(const WendProgram *p)
{
    GArray *starts = g_array_new(FALSE, FALSE, sizeof(WorldStart));
    g_autofree WendWorldStarter *starters = world_starters(p);
    gboolean linked = TRUE;
    for (guint i = 1; i < program_n_worlds(p) && linked; i++) {
        const WorldStart start = {starters[i].rank, i};
        linked = start.rank != G_MAXUINT;
        g_array_append_val(starts, start);
    }
    if (!linked)
        g_array_set_size(starts, 0);
    g_array_sort(starts, compare_starts);
    return starts;
}

static const char *const commands[] = {"command", "array_of_commands"};

gboolean plan_worlds_is_start(const CallPattern *c)
{
    gboolean root = FALSE;
    for (guint i = 0; c->function->makes == WEND_MAKES_SPAWN && i < G_N_ELEMENTS(commands); i++) {
        const Arg *arg = call_pattern_arg_named(c, commands[i]);
        root |= arg && arg->n_in != WEND_ABSENT;
    }
    return root;
}

/* The number of calls of a rank that have started processes. */
static guint count_starts(const WendProgram *p, guint rank)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    guint n = 0;
    for (guint s = 0; s < class->n_sequences; s++) {
        WendWalk *walk = walk_new(p, rank, s, WEND_WALK_MAIN);
        const WendCall *call;
        while ((call = walk_next(walk)) != NULL)
            n += world_start_is(call);
        walk_free(walk);
    }
    return n;
}

/* Whether the world of each such call is in the recording. */
static gboolean is_whole(const WendProgram *p)
{
    g_autoptr(GArray) starts = plan_worlds_starts(p);
    gboolean whole = starts->len + 1 == program_n_worlds(p);
    for (guint rank = 0, i = 0; rank < program_ranks(p) && whole; rank++) {
        guint n = 0;
        for (; i < starts->len && g_array_index(starts, WorldStart, i).rank == rank; i++)
            n++;
        whole = n == count_starts(p, rank);
    }
    return whole;
}

WendProgram *plan_worlds_open(const char *path, guint64 max_size, Error **error)
{
    WendProgram *p = program_open_within(path, max_size, error);
    if (!p || program_n_worlds(p) == 1 || is_whole(p))
        return p;
    program_free(p);
    return program_open_world(path, 0, max_size, error);
}

gboolean plan_worlds_several(const Plan *plan)
{
    return program_n_worlds(plan->program) > 1;
}

const WendWorld *plan_worlds_of(const Plan *plan, guint rank)
{
    return program_world(plan->program, program_world_of(plan->program, rank));
}
