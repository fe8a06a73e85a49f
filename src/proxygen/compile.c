/* compile.c: the passes, one after the other. */
#include <config.h>

#include "ends.h"
#include "files.h"
#include "functions.h"
#include "plan.h"
#include "saved.h"

static gboolean same_param(const WendParam *a, const WendParam *b)
{
    return g_strcmp0(a->name, b->name) == 0 && a->kind == b->kind && a->dir == b->dir && a->place == b->place && a->array == b->array &&
           g_strcmp0(a->ctype, b->ctype) == 0 && g_strcmp0(a->group, b->group) == 0 && a->count == b->count && a->type == b->type &&
           a->displs == b->displs && a->extent == b->extent && a->source == b->source && a->tag == b->tag;
}

/* A recording says itself what its functions' parameters are. The passes know functions by name, and which parameters they have. */
static gboolean knows_functions(const WendProgram *program, const char *recording, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < wend_program_n_shapes(program); i++) {
        const WendFunction *theirs = wend_program_shape(program, i)->function;
        if (!g_hash_table_add(seen, (gpointer)theirs))
            continue;
        const WendFunction *ours = wend_function_by_name(theirs->name);
        gboolean same = ours && theirs->flags == ours->flags && theirs->n_params == ours->n_params;
        for (guint k = 0; same && k < ours->n_params; k++)
            same = same_param(&theirs->params[k], &ours->params[k]);
        if (!same) {
            g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: %s is not as this version of Wend knows it", recording, theirs->name);
            return FALSE;
        }
    }
    return TRUE;
}

/* Up to the wildcards; NULL: error. */
static Plan *make_plan(const WendProgram *program, const Options *options, gboolean loops, GError **error)
{
    Plan *plan = plan_new(program, options);
    gboolean good = plan_select(plan, error);
    if (good) {
        plan_memory(plan);
        good = plan_dynamic(plan, error) && plan_outcomes(plan, error) && (!loops || plan_loops(plan, error));
    }
    if (good)
        plan_wildcards(plan);
    else
        g_clear_pointer(&plan, plan_free);
    return plan;
}

static gboolean uses_turns(const Plan *plan)
{
    return plan->turns && g_hash_table_size(plan->turns) > 0;
}

/* A rank that ended in a call of MPI (MPI_Abort, or an error that nobody handled) ends there again. Others had more to do, or were ended by those: why the
 * recording does not tell what; NULL: there are none. */
static const char *ends_elsewhere(const WendProgram *program)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autofree const char **how = wend_program_ends(program, names);
    for (guint r = 0; r < wend_program_ranks(program); r++)
        if (how[r] && !g_str_has_prefix(how[r], WEND_ENDED_ABORT) && strcmp(how[r], WEND_ENDED_FATAL) != 0)
            return strcmp(how[r], WEND_ENDED_MEMORY) == 0 ? "recording stopped at WEND_MAX_MEMORY, before the run ended" : "the run ended early";
    return NULL;
}

gboolean plan_compile(const WendProgram *program, const Options *options, GHashTable *names, GError **error)
{
    const char *early = ends_elsewhere(program);
    if (early) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: %s (see wend show); a program that does the same would wait for what never came",
                    options->recording, early);
        return FALSE;
    }
    if (!knows_functions(program, options->recording, error))
        return FALSE;
    GError *problem = NULL;
    Plan *plan = make_plan(program, options, TRUE, &problem);
    if (plan && plan->has_loops && g_hash_table_size(plan->wildcards) > 0) {
        /* With calls in the recorded order more wildcards may stay, and a pinned one is another call: that counts for more than a loop. */
        Plan *ordered = make_plan(program, options, FALSE, &problem);
        if (ordered && (uses_turns(ordered) || g_hash_table_size(ordered->wildcards) < g_hash_table_size(plan->wildcards))) {
            plan_free(plan);
            plan = ordered;
        } else {
            plan_free(ordered);
        }
    }
    gboolean good = plan && !problem;
    if (good) {
        plan_variables(plan);
        plan_files(plan);
        good = plan_callbacks(plan, &problem) && plan_emit(plan, names, &problem);
    }
    plan_free(plan);
    if (problem)
        g_propagate_error(error, problem);
    return good;
}
