/* SPDX-License-Identifier: BSD-3-Clause */
/* compile.c: runs the passes in order.
 *
 *   plan_select()          the rules, calls and threads of each rank
 *   memory_use_find()      the segments that calls use, and the bytes of each
 *   dynamic_find()         memory that other processes name by its address
 *   plan_outcomes()        the requests that each Waitany, Testsome, … must complete
 *   plan_loops()           loops over such calls with bodies that depend on the completed request
 *   plan_wildcards()       receives from any source: kept, pinned, or kept with senders that wait
 *   plan_graphs()          graphs that are made with the recorded order of neighbours
 *   plan_variables()       handles and requests in arrays of the proxy
 *   found_files_find()     files that existed before the run, or changed without MPI
 *   callback_stubs_find()  stubs for the application's functions
 *   proxy_files_write()    C */
#include <config.h>

#include "compile.h"

#include "lib/base/error.h"
#include "lib/read/terminations.h"
#include "lib/record/record.h"
#include "proxy-files.h"
#include "src/proxygen/analysis/call-analysis.h"
#include "src/proxygen/emit/emit.h"
#include "src/proxygen/model/model.h"
#include "src/proxygen/plan/passes.h"

/* Whether all constants are names that MPI may define. A constant that this version does not know
 * may come from a later version of MPI, which the compiler knows. All other names are Wend's
 * own. */
static gboolean knows_constants(const WendProgram *program, const char *recording, Error **error)
{
    const char *name = "";
    for (gsize i = mpi_n_constants; name; i++) {
        name = program_constant_name(program, WEND_CONST(i));
        if (!name || c_token_is_identifier(name))
            continue;
        error_set(error, WEND_ERROR_INPUT,
                  "%s: %s is not a constant of MPI: the recording is damaged", recording, name);
        return FALSE;
    }
    return TRUE;
}

static Plan *plan_new(const WendProgram *p, const Options *options)
{
    Plan *plan = g_new0(Plan, 1);
    plan->program = p;
    plan->options = options;
    plan->n_ranks = program_ranks(p);
    plan->master = -1;
    plan->call = call_pattern_new(p);
    plan->order = g_array_new(FALSE, FALSE, sizeof(guint));
    plan->threads = g_array_new(FALSE, FALSE, sizeof(PlanThread));
    plan->owned = g_ptr_array_new_with_free_func(g_free);
    return plan;
}

static void plan_free(Plan *plan)
{
    if (!plan)
        return;
    call_pattern_free(plan->call);
    g_array_free(plan->order, TRUE);
    g_array_free(plan->threads, TRUE);
    if (plan->prefix)
        g_array_unref(plan->prefix);
    if (plan->stretches)
        g_hash_table_destroy(plan->stretches);
    if (plan->borrowed)
        g_hash_table_destroy(plan->borrowed);
    if (plan->shared)
        g_hash_table_destroy(plan->shared);
    g_ptr_array_free(plan->owned, TRUE);
    for (guint i = 0; i < plan->n_rules; i++)
        loop_rules_free_loop((Loop *)plan->rules[i].loop);
    g_free(plan->rules);
    g_free(plan->terminal_ranks);
    g_free(plan->terminal_uses);
    extents_free(plan->extents);
    lifetimes_free(plan->lifetimes);
    found_files_free(plan->files);
    variables_free(plan->variables);
    if (plan->segments)
        g_hash_table_destroy(plan->segments);
    if (plan->choices)
        g_hash_table_destroy(plan->choices);
    if (plan->wildcards)
        g_hash_table_destroy(plan->wildcards);
    if (plan->send_order)
        g_hash_table_destroy(plan->send_order);
    changes_free(plan->changes);
    if (plan->graphs)
        g_hash_table_destroy(plan->graphs);
    if (plan->blocks)
        g_array_unref(plan->blocks);
    if (plan->awaited)
        g_ptr_array_unref(plan->awaited);
    callbacks_free(plan->callbacks);
    g_free(plan);
}

/* Runs the passes up to the wildcards. Returns NULL on an error. */
static Plan *make_plan(const WendProgram *program, const Options *options, gboolean loops,
                       Error **error)
{
    Plan *plan = plan_new(program, options);
    gboolean good = plan_select(plan, error);
    if (good) {
        memory_use_find(plan);
        good = dynamic_find(plan, error) && plan_outcomes(plan, error)
               && (!loops || plan_loops(plan, error));
    }
    if (good)
        plan_wildcards(plan);
    else
        g_clear_pointer(&plan, plan_free);
    return plan;
}

static gboolean uses_send_order(const Plan *plan)
{
    return plan->send_order && g_hash_table_size(plan->send_order) > 0;
}

/* The reason why some rank's recording is incomplete, or NULL. A rank that ended in a call of MPI
 * (MPI_Abort, or an error that was not handled) ends there again, and is complete. Other ranks had
 * more calls to make, or were ended by another rank. */
static const char *ends_elsewhere(const WendProgram *program)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autofree const char **how = terminations_of(program, names);
    for (guint r = 0; r < program_ranks(program); r++)
        if (how[r] && !g_str_has_prefix(how[r], WEND_ENDED_ABORT)
            && strcmp(how[r], WEND_ENDED_FATAL) != 0)
            return strcmp(how[r], WEND_ENDED_MEMORY) == 0
                       ? "recording stopped at WEND_MAX_MEMORY, before the run ended"
                       : "the run ended early";
    return NULL;
}

gboolean compile_program(const WendProgram *program, const Options *options, GHashTable *names,
                         GPtrArray **changes, Error **error)
{
    const char *early = ends_elsewhere(program);
    *changes = NULL;
    if (early) {
        error_set(error, WEND_ERROR_INPUT,
                  "%s: %s (see wend show): a proxy would wait for calls that are not recorded",
                  options->recording, early);
        return FALSE;
    }
    if (!knows_constants(program, options->recording, error))
        return FALSE;
    Error *problem = NULL;
    Plan *plan = make_plan(program, options, TRUE, &problem);
    if (plan && plan->has_loops && g_hash_table_size(plan->wildcards) > 0) {
        /* Without loops, more wildcards may stay. A pinned wildcard is another call, which counts
         * for more than a loop. So the passes before the loops are repeated, since loops change
         * their results. They take a tenth of the time of the later passes. */
        Plan *ordered = make_plan(program, options, FALSE, &problem);
        if (ordered
            && (uses_send_order(ordered)
                || g_hash_table_size(ordered->wildcards) < g_hash_table_size(plan->wildcards))) {
            plan_free(plan);
            plan = ordered;
        } else {
            plan_free(ordered);
        }
    }
    gboolean good = plan && !problem;
    if (good) {
        plan_graphs(plan);
        plan_variables(plan);
        found_files_find(plan);
        changes_begin(plan);
        good = callback_stubs_find(plan, &problem) && proxy_files_write(plan, names, &problem);
    }
    if (good)
        *changes = changes_report(plan);
    plan_free(plan);
    if (problem)
        error_give(error, problem);
    return good;
}
