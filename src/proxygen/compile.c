/* compile.c: the passes, one after the other. */
#include <config.h>

#include "files.h"
#include "plan.h"
#include "saved.h"

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

gboolean plan_compile(const WendProgram *program, const Options *options, GHashTable *names, GError **error)
{
    gboolean ended = FALSE;
    for (guint i = 0; i < wend_program_n_worlds(program); i++)
        ended |= g_key_file_has_group(wend_program_world_meta(program, i), WEND_ENDED_GROUP);
    if (ended) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: the run ended early (see wend show); a program that does the same would wait for what never came",
                    options->recording);
        return FALSE;
    }
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
