/* SPDX-License-Identifier: BSD-3-Clause */
/* emit-choice.c: Waitany, Waitsome, Testany and Testsome, which complete some of several requests.
 *
 * outcomes.c has found the requests that each site must complete. If the calls of one site complete
 * all pending requests, they become a loop as in the application, in any order. Elsewhere the calls
 * that follow may depend on the completed request. So requests that did not complete in the
 * recording are hidden from the call (MPI_REQUEST_NULL). The recorded order is possible, so waiting
 * for it cannot deadlock. loops.c finds loops with bodies that depend on the completed request. */
#include <string.h>

#include "src/proxygen/emit/emit.h"

/* The statement that subtracts the requests that a call has completed from those that are
 * pending. */
static const char *count_down(const CallPattern *c)
{
    if (c->function->operation == WEND_FN_MPI_Waitany)
        return c->function->flags & WEND_F_POLL ? "pending -= flag;" : "pending--;";
    return "pending = outcount == MPI_UNDEFINED ? 0 : pending - outcount;";
}

/* A table of the recorded entries: for each call, the number of entries and then the entries. It is
 * one table by rank if ranks differ. */
static char *picks_table(Emitter *e, const Choice *choice, RankList ranks)
{
    g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(g_free);
    for (guint r = ranks.ranks[0]; r <= ranks.ranks[ranks.n - 1]; r++) {
        GArray *picks = g_hash_table_lookup(choice->picks, GUINT_TO_POINTER(r));
        g_autoptr(GString) contents = g_string_new("");
        for (guint i = 0; picks && i < picks->len; i++)
            g_string_append_printf(contents, "%s%d", i ? ", " : "",
                                   g_array_index(picks, gint32, i));
        g_autofree char *dimensions = g_strdup_printf("[%u]", picks ? picks->len : 0);
        g_ptr_array_add(tables,
                        picks ? emit_literal_table(e, "int", "completed", dimensions, contents->str)
                              : NULL);
    }
    return emit_literal_by_rank(e, "int", "completed", ranks.ranks[0], tables);
}

/* An expression for the entries to complete. *ADVANCE is the statement that moves to the next
 * ones. */
static char *picks_expression(Emitter *e, const Choice *choice, char **advance)
{
    *advance = NULL;
    if (choice->constant) {
        g_autoptr(GString) contents = g_string_new("");
        for (guint i = 0; i < choice->pick->len; i++) {
            g_autofree char *entry = column_index(e, g_array_index(choice->pick, gint32, i));
            g_string_append_printf(contents, "%s%s", i ? ", " : "", entry);
        }
        return g_strdup_printf("(const int[]){%s}", contents->str);
    }
    g_autofree char *table = picks_table(e, choice, e->plan->rules[choice->site.rule].ranks);
    g_autofree char *key =
        g_strdup_printf("next of completed %u %u", choice->site.rule, choice->site.symbol);
    const char *next = g_hash_table_lookup(e->tables, key);
    if (!next) {
        char *made = g_strdup_printf("completed_next_%u", ++e->n_tables);
        c_text_line(e->definitions, 0, "static long %s;", made);
        g_hash_table_insert(e->tables, g_steal_pointer(&key), made);
        next = made;
    }
    *advance = g_strdup_printf("%s += 1 + keep[0];", next);
    return g_strdup_printf("%s + %s", table, next);
}

/* Completes the recorded requests, while the others are hidden. */
static void emit_forced(Emitter *e, Statements *out, const Choice *choice, const CallPattern *c)
{
    gint64 n = call_pattern_arg_of_kind(c, WEND_KIND_REQUEST)->n_in;
    const char *hidden = locals_variable(e, "MPI_Request", "hidden", n),
               *keep = locals_variable(e, "const int *", "keep", 0);
    CallCode code = emit_call_code(e, c);
    g_autofree char *advance = NULL, *picks = picks_expression(e, choice, &advance);
    e->needs[HELPER_hide_others] = e->needs[HELPER_show_others] = TRUE;
    locals_variable(e, "int", "pending", 0);
    changes_comment(
        e, out, CHANGE_RECORDED_ORDER, c->terminal,
        "what follows waits for others, or belongs to requests that have to do with each other");
    statements_move(out, g_steal_pointer(&code.before));
    statements_add(out, "%s = %s;", keep, picks);
    statements_add(out, "hide_others(%" G_GINT64_FORMAT ", %s, %s, %s);", n, code.requests, hidden,
                   keep);
    statements_add(out, "pending = %s[0];", keep);
    Statements *body = statements_do(out, "pending > 0");
    statements_add(body, "%s;", code.expression);
    statements_add(body, "%s", count_down(c));
    statements_add(out, "show_others(%" G_GINT64_FORMAT ", %s, %s);", n, code.requests, hidden);
    statements_move(out, g_steal_pointer(&code.after));
    if (advance)
        statements_add(out, "%s", advance);
    emit_call_code_clear(&code);
}

/* Completes all pending requests. */
static void emit_drain(Emitter *e, Statements *out, const Choice *choice, const CallPattern *c)
{
    CallCode code = emit_call_code(e, c);
    locals_variable(e, "int", "pending", 0);
    statements_move(out, g_steal_pointer(&code.before));
    if (choice->pending >= 0) {
        g_autofree char *pending = column_index(e, choice->pending);
        statements_add(out, "pending = %s;", pending);
    } else {
        e->needs[HELPER_active] = TRUE;
        statements_add(out, "pending = active(%" G_GINT64_FORMAT ", %s);",
                       call_pattern_arg_of_kind(c, WEND_KIND_REQUEST)->n_in, code.requests);
    }
    Statements *body = statements_block(out, "while (pending > 0)");
    statements_add(body, "%s;", code.expression);
    statements_add(body, "%s", count_down(c));
    statements_move(out, g_steal_pointer(&code.after));
    emit_call_code_clear(&code);
}

void emit_choice(Emitter *e, Statements *out, const Choice *choice, guint terminal, guint64 repeats)
{
    gboolean drains = choice->kind == CHOICE_DRAIN;
    CallPattern *c = call_pattern_new(e->plan->program);
    call_pattern_decode(c, terminal);
    Statements *body = statements_new();
    emit_shared(e, body, terminal, FALSE, TRUE);
    if (drains)
        emit_drain(e, body, choice, c);
    else
        emit_forced(e, body, choice, c);
    emit_shared(e, body, terminal, TRUE, TRUE);
    if (repeats > 1 && !drains)
        statements_under(out, body, "for (%s i = 0; i < %" G_GUINT64_FORMAT "; i++)",
                         c_text_count_type(repeats), repeats);
    else
        statements_move(out, body);
    call_pattern_free(c);
}

/* -- loops with bodies -- */

static gboolean runs_equal(const GArray *a, const GArray *b)
{
    if (a->len != b->len)
        return FALSE;
    for (guint i = 0; i < a->len; i++) {
        const LoopRun *x = &g_array_index(a, LoopRun, i), *y = &g_array_index(b, LoopRun, i);
        if (x->body != y->body || x->joint != y->joint || x->times != y->times)
            return FALSE;
    }
    return TRUE;
}

/* Writes the calls of a body. */
static void emit_body(Emitter *e, Statements *out, guint body)
{
    if (body == NO_BODY)
        return;
    const PlanRule *rule = &e->plan->rules[body];
    if (rule->inlined)
        emit_symbols(e, out, body, rule->symbols, 0, rule->n);
    else
        emit_rule_call(e, out, body);
}

/* Writes the calls after a completion of the run. */
static void emit_run(Emitter *e, Statements *out, const Loop *loop, const LoopRun *run)
{
    if (!run->joint || run->body == NO_BODY) {
        emit_body(e, out, run->body);
        return;
    }
    const char *arrived = locals_variable(e, "int", "arrived", loop->joints->len);
    const LoopJoint *joint = &g_array_index(loop->joints, LoopJoint, run->joint - 1);
    Statements *last =
        statements_block(out, "if (++%s[%u] == %u)", arrived, run->joint - 1, joint->n);
    statements_add(last, "%s[%u] = 0;", arrived, run->joint - 1);
    emit_body(e, last, run->body);
}

static gboolean same_calls(const LoopRun *a, const LoopRun *b)
{
    return a->body == b->body && a->joint == b->joint;
}

/* Writes the calls after the completions of an entry. left[ENTRY] is the number of its completions
 * that are left, this one included. */
static void emit_runs(Emitter *e, Statements *out, const Loop *loop, guint entry, const char *left)
{
    enum { FEW = 3 };
    const GArray *runs = loop->runs[entry];
    const LoopRun *run = &g_array_index(runs, LoopRun, 0);
    guint64 times = loop->times[entry];
    if (runs->len == 1) {
        emit_run(e, out, loop, run);
        return;
    }
    if (runs->len <= FEW) {
        guint64 after = times;
        for (guint i = 0; i < runs->len; i++) {
            after -= run[i].times;
            if (i + 1 == runs->len && run[i].body == NO_BODY)
                break;
            g_autofree char *head =
                i + 1 < runs->len ? g_strdup_printf("if (%s > %" G_GUINT64_FORMAT ")", left, after)
                                  : g_strdup("");
            emit_run(e, i ? statements_else(out, "%s", head) : statements_block(out, "%s", head),
                     loop, &run[i]);
        }
        return;
    }
    /* the body of each completion, the last one first */
    g_autoptr(GString) list = g_string_new("");
    g_autoptr(GArray) bodies = g_array_new(FALSE, FALSE, sizeof(LoopRun));
    for (guint i = runs->len; i-- > 0;) {
        guint b = 0;
        while (b < bodies->len && !same_calls(&g_array_index(bodies, LoopRun, b), &run[i]))
            b++;
        if (b == bodies->len)
            g_array_append_val(bodies, run[i]);
        for (guint64 k = 0; k < run[i].times; k++)
            g_string_append_printf(list, "%s%u", list->len ? ", " : "", b);
    }
    g_autofree char *dimensions = g_strdup_printf("[%" G_GUINT64_FORMAT "]", times);
    g_autofree char *table = emit_literal_table(e, "int", "body", dimensions, list->str);
    g_autofree char *value = g_strdup_printf("%s[%s - 1]", table, left);
    Statements *cases = statements_switch(out, value);
    for (guint b = 0; b < bodies->len; b++) {
        if (g_array_index(bodies, LoopRun, b).body == NO_BODY)
            continue;
        Statements *one = statements_case(cases, b);
        emit_run(e, one, loop, &g_array_index(bodies, LoopRun, b));
        statements_add(one, "break;");
    }
}

/* Writes the calls after the completion of the entry "index". Returns whether they depend on it. */
static gboolean emit_bodies(Emitter *e, Statements *out, const Loop *loop, const char *left)
{
    guint first = 0, different = 0;
    gboolean any = FALSE;
    while (first + 1 < loop->n && loop->times[first] == 0)
        first++;
    const LoopRun *only = &g_array_index(loop->runs[first], LoopRun, 0);
    for (guint i = 0; i < loop->n; i++) {
        for (guint k = 0; k < loop->runs[i]->len; k++) {
            const LoopRun *run = &g_array_index(loop->runs[i], LoopRun, k);
            different += !same_calls(run, only);
            any |= run->body != NO_BODY;
        }
    }
    if (!any)
        return FALSE;
    if (!different) { /* the same for all entries */
        emit_run(e, out, loop, only);
        return FALSE;
    }
    Statements *cases = statements_switch(out, "index");
    g_autofree gboolean *done = g_new0(gboolean, loop->n);
    for (guint i = 0; i < loop->n; i++) {
        gboolean empty = loop->times[i] == 0
                         || (loop->runs[i]->len == 1
                             && g_array_index(loop->runs[i], LoopRun, 0).body == NO_BODY);
        if (empty || done[i])
            continue;
        Statements *one = NULL;
        for (guint k = i; k < loop->n; k++) {
            if (!runs_equal(loop->runs[i], loop->runs[k]))
                continue;
            done[k] = TRUE;
            one = statements_case(cases, k);
        }
        g_autofree char *own = g_strdup_printf("%s[index]", left);
        emit_runs(e, one, loop, i, own);
        statements_add(one, "break;");
    }
    return TRUE;
}

/* Whether the completions of some entry have different bodies. */
static gboolean counts_entries(const Loop *loop)
{
    gboolean counts = loop->hides;
    for (guint i = 0; i < loop->n; i++)
        counts |= loop->runs[i]->len > 1;
    return counts;
}

/* Variables of a loop. */
typedef struct {
    const char *hidden;  /* requests that are hidden; NULL: none are */
    const char *left;    /* completions that are left, by entry; NULL: nobody asks */
    const char *pending; /* those of all entries */
} LoopVariables;

/* Writes how many completions are expected of each entry, and of all. */
static void begin_loop(Emitter *e, Statements *out, const Loop *loop, const LoopVariables *v)
{
    if (v->left) {
        g_autoptr(GString) times = g_string_new("");
        for (guint i = 0; i < loop->n; i++)
            g_string_append_printf(times, "%s%" G_GUINT64_FORMAT, i ? ", " : "", loop->times[i]);
        g_autofree char *dimensions = g_strdup_printf("[%u]", loop->n),
                        *table = emit_literal_table(e, "long", "times", dimensions, times->str);
        changes_comment(e, out, CHANGE_ANY_ORDER, loop->terminal, NULL);
        statements_add(out, "memcpy(%s, %s, sizeof %s);", v->left, table, table);
    } else {
        changes_comment(e, out, CHANGE_ALL_COMPLETE, loop->terminal, NULL);
    }
    if (loop->joints->len > 0) {
        const char *arrived = locals_variable(e, "int", "arrived", loop->joints->len);
        statements_comment(out,
                           "Some calls come after several completions, which arrived[] counts.");
        statements_add(out, "memset(%s, 0, sizeof %s);", arrived, arrived);
    }
    statements_add(out, "%s = %" G_GINT64_FORMAT ";", v->pending, loop->total);
}

/* Writes the call that completes requests. */
static void complete_some(Emitter *e, Statements *out, const Loop *loop, CallCode *code,
                          const LoopVariables *v)
{
    statements_move(out, g_steal_pointer(&code->before));
    if (v->hidden) {
        e->needs[HELPER_hide_completed] = e->needs[HELPER_show_others] = TRUE;
        statements_add(out, "hide_completed(%u, %s, %s, %s);", loop->n, code->requests, v->hidden,
                       v->left);
    }
    statements_add(out, "%s;", code->expression);
    if (v->hidden)
        statements_add(out, "show_others(%u, %s, %s);", loop->n, code->requests, v->hidden);
    statements_move(out, g_steal_pointer(&code->after));
}

/* Writes what follows the completion that a Waitany or Testany returned: BODIES, which it takes. */
static void after_completion(Statements *out, Statements *bodies, gboolean polls,
                             const LoopVariables *v)
{
    if (polls)
        statements_add_under(out, "if (!flag)", "continue;");
    statements_move(out, bodies);
    if (v->left)
        statements_add(out, "%s[index]--;", v->left);
    statements_add(out, "%s--;", v->pending);
}

/* The same for each completion of a Waitsome or Testsome. BY_INDEX: BODIES depends on its entry. */
static void after_completions(Statements *out, Statements *bodies, gboolean by_index,
                              const LoopVariables *v)
{
    if (v->left || statements_count(bodies) > 0) {
        Statements *each = statements_block(out, "for (int k = 0; k < outcount; k++)");
        if (v->left || by_index)
            statements_add(each, "int index = array_of_indices[k];");
        statements_move(each, g_steal_pointer(&bodies));
        if (v->left)
            statements_add(each, "%s[index]--;", v->left);
    }
    statements_free(bodies);
    statements_add(out, "%s -= outcount;", v->pending);
}

void emit_loop(Emitter *e, Statements *out, guint rule)
{
    const Loop *loop = e->plan->rules[rule].loop;
    CallPattern *c = call_pattern_new(e->plan->program);
    call_pattern_decode(c, loop->terminal);
    CallCode code = emit_call_code(e, c);
    LoopVariables v = {NULL, NULL, NULL};
    if (loop->hides)
        v.hidden = locals_variable(e, "MPI_Request", "hidden", loop->n);
    if (counts_entries(loop))
        v.left = locals_variable(e, "long", "left", loop->n);
    v.pending = locals_variable(e, c_text_count_type((guint64)loop->total), "pending", 0);
    begin_loop(e, out, loop, &v);
    Statements *each = statements_block(out, "while (%s > 0)", v.pending),
               *bodies = statements_new();
    complete_some(e, each, loop, &code, &v);
    gboolean by_index = emit_bodies(e, bodies, loop, v.left);
    if (c->function->operation == WEND_FN_MPI_Waitany)
        after_completion(each, bodies, c->function->id == WEND_FN_MPI_Testany, &v);
    else
        after_completions(each, bodies, by_index, &v);
    emit_call_code_clear(&code);
    call_pattern_free(c);
}
