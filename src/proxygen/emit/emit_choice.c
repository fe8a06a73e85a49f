/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_choice.c: Waitany, Waitsome, Testany and Testsome, which complete some of several requests.
 *
 * outcomes.c has found the requests that each site must complete. If the calls of one site complete
 * all pending requests, they become a loop as in the application, in any order. Elsewhere the calls
 * that follow may depend on the completed request. So requests that did not complete in the
 * recording are hidden from the call (MPI_REQUEST_NULL). The recorded order is possible, so waiting
 * for it cannot deadlock. loops.c finds loops with bodies that depend on the completed request. */
#include <string.h>

#include "changes.h"
#include "row_tables.h"
#include "src/proxygen/plan/passes.h"

static void write_lines(GString *out, int indent, const GPtrArray *lines)
{
    for (guint i = 0; i < lines->len; i++)
        c_text_line(out, indent, "%s", (const char *)g_ptr_array_index(lines, i));
}

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
    g_autoptr(GString) list = g_string_new("");
    g_autofree char *last = NULL;
    gboolean same = TRUE;
    guint first = ranks.ranks[0], n = ranks.ranks[ranks.n - 1] - first + 1;
    for (guint r = first; r < first + n; r++) {
        GArray *picks = g_hash_table_lookup(choice->picks, GUINT_TO_POINTER(r));
        g_string_append(list, r > first ? ", " : "");
        if (!picks) {
            g_string_append(list, "NULL");
            continue;
        }
        g_autoptr(GString) contents = g_string_new("");
        for (guint i = 0; i < picks->len; i++)
            g_string_append_printf(contents, "%s%d", i ? ", " : "",
                                   g_array_index(picks, gint32, i));
        g_autofree char *dimensions = g_strdup_printf("[%u]", picks->len);
        char *name = literal_table(e, "int", "completed", dimensions, contents->str);
        same &= !last || strcmp(last, name) == 0;
        g_free(last);
        last = name;
        g_string_append(list, name);
    }
    if (same)
        return g_steal_pointer(&last);
    g_autofree char *dimensions = g_strdup_printf("[%u]", n);
    g_autofree char *table =
        literal_table(e, "int *const", "completed_by_rank", dimensions, list->str);
    return first ? g_strdup_printf("%s[rank - %u]", table, first)
                 : g_strdup_printf("%s[rank]", table);
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
    guint number = ++e->n_tables;
    c_text_line(e->definitions, 0, "static long completed_next_%u;", number);
    *advance = g_strdup_printf("completed_next_%u += 1 + keep[0];", number);
    return g_strdup_printf("%s + completed_next_%u", table, number);
}

static void emit_forced(Emitter *e, GString *out, int indent, const Choice *choice,
                        const CallPattern *c)
{
    const Arg *requests = call_pattern_arg_of_kind(c, WEND_KIND_REQUEST);
    const char *hidden = locals_variable(e, "MPI_Request", "hidden", requests->n_in),
               *keep = locals_variable(e, "const int *", "keep", 0);
    g_autofree char *list = emit_request_array(e, c, requests);
    g_ptr_array_set_size(e->before, 0); /* the call itself adds these statements again */
    g_ptr_array_set_size(e->after, 0);
    g_autofree char *expression = emit_call_expression(e, c);
    g_autofree char *advance = NULL, *picks = picks_expression(e, choice, &advance);
    e->needs[HELPER_HIDE] = TRUE;
    locals_variable(e, "int", "pending", 0);

    changes_comment(
        e, out, indent, CHANGE_RECORDED_ORDER, c->terminal,
        "what follows waits for others, or belongs to requests that have to do with each other");
    write_lines(out, indent, e->before);
    c_text_line(out, indent, "%s = %s;", keep, picks);
    c_text_line(out, indent, "hide_others(%" G_GINT64_FORMAT ", %s, %s, %s);", requests->n_in, list,
                hidden, keep);
    c_text_line(out, indent, "pending = %s[0];", keep);
    c_text_line(out, indent, "do {");
    c_text_line(out, indent + 1, "%s;", expression);
    c_text_line(out, indent + 1, "%s", count_down(c));
    c_text_line(out, indent, "} while (pending > 0);");
    c_text_line(out, indent, "show_others(%" G_GINT64_FORMAT ", %s, %s);", requests->n_in, list,
                hidden);
    write_lines(out, indent, e->after);
    if (advance)
        c_text_line(out, indent, "%s", advance);
}

static void emit_drain(Emitter *e, GString *out, int indent, const Choice *choice,
                       const CallPattern *c)
{
    const Arg *requests = call_pattern_arg_of_kind(c, WEND_KIND_REQUEST);
    g_autofree char *list = emit_request_array(e, c, requests);
    g_ptr_array_set_size(e->before, 0);
    g_ptr_array_set_size(e->after, 0);
    g_autofree char *expression = emit_call_expression(e, c);
    locals_variable(e, "int", "pending", 0);
    write_lines(out, indent, e->before);
    if (choice->pending >= 0) {
        g_autofree char *pending = column_index(e, choice->pending);
        c_text_line(out, indent, "pending = %s;", pending);
    } else {
        e->needs[HELPER_ACTIVE] = TRUE;
        c_text_line(out, indent, "pending = active(%" G_GINT64_FORMAT ", %s);", requests->n_in,
                    list);
    }
    c_text_line(out, indent, "while (pending > 0) {");
    c_text_line(out, indent + 1, "%s;", expression);
    c_text_line(out, indent + 1, "%s", count_down(c));
    c_text_line(out, indent, "}");
    write_lines(out, indent, e->after);
}

guint emit_choice(Emitter *e, GString *out, int indent, const Choice *choice, guint terminal,
                  guint64 repeats)
{
    CallPattern *c = call_pattern_new(e->plan->program);
    GPtrArray *before = e->before, *after = e->after;
    e->before = g_ptr_array_new_with_free_func(g_free);
    e->after = g_ptr_array_new_with_free_func(g_free);
    call_pattern_decode(c, terminal);
    if (choice->kind == CHOICE_DRAIN) {
        emit_shared(e, out, indent, terminal, FALSE, TRUE);
        emit_drain(e, out, indent, choice, c);
        emit_shared(e, out, indent, terminal, TRUE, TRUE);
    } else {
        if (repeats > 1)
            c_text_line(out, indent, "for (%s i = 0; i < %" G_GUINT64_FORMAT "; i++) {",
                        repeats > G_MAXINT32 ? "long" : "int", repeats);
        int inner = repeats > 1 ? indent + 1 : indent;
        emit_shared(e, out, inner, terminal, FALSE, TRUE);
        emit_forced(e, out, inner, choice, c);
        emit_shared(e, out, inner, terminal, TRUE, TRUE);
        if (repeats > 1)
            c_text_line(out, indent, "}");
    }
    g_ptr_array_unref(e->before);
    g_ptr_array_unref(e->after);
    e->before = before;
    e->after = after;
    call_pattern_free(c);
    return 2;
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

/* Writes the calls of a body. Returns the number of statements. */
static guint emit_body(Emitter *e, GString *out, int indent, guint body)
{
    if (body == NO_BODY)
        return 0;
    const PlanRule *rule = &e->plan->rules[body];
    if (rule->inlined) {
        emit_symbols(e, out, indent, body, rule->symbols, 0, rule->n);
        return 2;
    }
    g_autofree char *name = emit_rule_name(e, body);
    c_text_line(out, indent, "%s();", name);
    return 1;
}

/* Writes the calls after a completion of the run. Returns the number of statements. */
static guint emit_run(Emitter *e, GString *out, int indent, const Loop *loop, const LoopRun *run)
{
    if (!run->joint || run->body == NO_BODY)
        return emit_body(e, out, indent, run->body);
    const char *heard = locals_variable(e, "int", "heard", loop->joints->len);
    const LoopJoint *joint = &g_array_index(loop->joints, LoopJoint, run->joint - 1);
    c_text_line(out, indent, "if (++%s[%u] == %u) {", heard, run->joint - 1, joint->n);
    c_text_line(out, indent + 1, "%s[%u] = 0;", heard, run->joint - 1);
    emit_body(e, out, indent + 1, run->body);
    c_text_line(out, indent, "}");
    return 2;
}

static gboolean same_calls(const LoopRun *a, const LoopRun *b)
{
    return a->body == b->body && a->joint == b->joint;
}

/* Writes the calls after the completions of an entry. left[ENTRY] is the number of its completions
 * that are left, this one included. */
static void emit_runs(Emitter *e, GString *out, int indent, const Loop *loop, guint entry,
                      const char *left)
{
    enum { FEW = 3 };
    const GArray *runs = loop->runs[entry];
    const LoopRun *run = &g_array_index(runs, LoopRun, 0);
    guint64 times = loop->times[entry];
    if (runs->len == 1) {
        emit_run(e, out, indent, loop, run);
        return;
    }
    if (runs->len <= FEW) {
        guint64 after = times;
        for (guint i = 0; i < runs->len; i++) {
            after -= run[i].times;
            if (i + 1 < runs->len)
                c_text_line(out, indent, "%sif (%s > %" G_GUINT64_FORMAT ") {", i ? "} else " : "",
                            left, after);
            else if (run[i].body != NO_BODY)
                c_text_line(out, indent, "} else {");
            emit_run(e, out, indent + 1, loop, &run[i]);
        }
        c_text_line(out, indent, "}");
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
    g_autofree char *table = literal_table(e, "int", "body", dimensions, list->str);
    c_text_line(out, indent, "switch (%s[%s - 1]) {", table, left);
    for (guint b = 0; b < bodies->len; b++) {
        if (g_array_index(bodies, LoopRun, b).body == NO_BODY)
            continue;
        c_text_line(out, indent, "case %u:", b);
        emit_run(e, out, indent + 1, loop, &g_array_index(bodies, LoopRun, b));
        c_text_line(out, indent + 1, "break;");
    }
    c_text_line(out, indent, "}");
}

/* Writes the calls after the completion of entry INDEX. */
static void emit_bodies(Emitter *e, GString *out, int indent, const Loop *loop, const char *index,
                        const char *left)
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
        return;
    if (!different) { /* the same for all entries */
        emit_run(e, out, indent, loop, only);
        return;
    }
    c_text_line(out, indent, "switch (%s) {", index);
    g_autofree gboolean *done = g_new0(gboolean, loop->n);
    for (guint i = 0; i < loop->n; i++) {
        gboolean empty = loop->times[i] == 0
                         || (loop->runs[i]->len == 1
                             && g_array_index(loop->runs[i], LoopRun, 0).body == NO_BODY);
        if (empty || done[i])
            continue;
        for (guint k = i; k < loop->n; k++) {
            if (!runs_equal(loop->runs[i], loop->runs[k]))
                continue;
            done[k] = TRUE;
            c_text_line(out, indent, "case %u:", k);
        }
        g_autofree char *own = g_strdup_printf("%s[%s]", left, index);
        emit_runs(e, out, indent + 1, loop, i, own);
        c_text_line(out, indent + 1, "break;");
    }
    c_text_line(out, indent, "}");
}

/* Whether the completions of some entry have different bodies. */
static gboolean counts_entries(const Loop *loop)
{
    gboolean counts = loop->hides;
    for (guint i = 0; i < loop->n; i++)
        counts |= loop->runs[i]->len > 1;
    return counts;
}

void emit_loop(Emitter *e, GString *out, int indent, guint rule)
{
    const Loop *loop = e->plan->rules[rule].loop;
    CallPattern *c = call_pattern_new(e->plan->program);
    GPtrArray *before = e->before, *after = e->after;
    e->before = g_ptr_array_new_with_free_func(g_free);
    e->after = g_ptr_array_new_with_free_func(g_free);
    call_pattern_decode(c, loop->terminal);
    gboolean any = c->function->operation == WEND_FN_MPI_Waitany, counts = counts_entries(loop);
    const Arg *requests = call_pattern_arg_of_kind(c, WEND_KIND_REQUEST);
    g_autofree char *list = emit_request_array(e, c, requests);
    g_ptr_array_set_size(e->before, 0);
    g_ptr_array_set_size(e->after, 0);
    g_autofree char *expression = emit_call_expression(e, c);
    const char *hidden = loop->hides ? locals_variable(e, "MPI_Request", "hidden", loop->n) : NULL;
    const char *left = counts ? locals_variable(e, "long", "left", loop->n) : NULL;
    const char *pending =
        locals_variable(e, loop->total > G_MAXINT32 ? "long" : "int", "pending", 0);
    if (counts) {
        g_autoptr(GString) times = g_string_new("");
        for (guint i = 0; i < loop->n; i++)
            g_string_append_printf(times, "%s%" G_GUINT64_FORMAT, i ? ", " : "", loop->times[i]);
        g_autofree char *dimensions = g_strdup_printf("[%u]", loop->n),
                        *table = literal_table(e, "long", "times", dimensions, times->str);
        changes_comment(e, out, indent, CHANGE_ANY_ORDER, loop->terminal, NULL);
        c_text_line(out, indent, "memcpy(%s, %s, sizeof %s);", left, table, table);
    } else {
        changes_comment(e, out, indent, CHANGE_ALL_COMPLETE, loop->terminal, NULL);
    }
    if (loop->joints->len > 0) {
        const char *heard = locals_variable(e, "int", "heard", loop->joints->len);
        c_text_comment(out, indent,
                       "Some calls come after several completions, which heard[] counts.");
        c_text_line(out, indent, "memset(%s, 0, sizeof %s);", heard, heard);
    }
    c_text_line(out, indent, "%s = %" G_GINT64_FORMAT ";", pending, loop->total);
    c_text_line(out, indent, "while (%s > 0) {", pending);
    write_lines(out, indent + 1, e->before);
    if (loop->hides) {
        e->needs[HELPER_HIDE_COMPLETED] = TRUE;
        c_text_line(out, indent + 1, "hide_completed(%u, %s, %s, %s);", loop->n, list, hidden,
                    left);
    }
    c_text_line(out, indent + 1, "%s;", expression);
    if (loop->hides)
        c_text_line(out, indent + 1, "show_others(%u, %s, %s);", loop->n, list, hidden);
    write_lines(out, indent + 1, e->after);
    g_autoptr(GString) bodies = g_string_new("");
    g_ptr_array_set_size(e->before, 0);
    g_ptr_array_set_size(e->after, 0);
    const char *index = "index";
    int inner = any ? indent + 1 : indent + 2;
    emit_bodies(e, bodies, inner, loop, index, left);
    if (any) {
        if (c->function->id == WEND_FN_MPI_Testany) {
            c_text_line(out, indent + 1, "if (!flag)");
            c_text_line(out, indent + 2, "continue;");
        }
        g_string_append(out, bodies->str);
        if (counts)
            c_text_line(out, indent + 1, "%s[%s]--;", left, index);
        c_text_line(out, indent + 1, "%s--;", pending);
    } else {
        if (counts || bodies->len) {
            c_text_line(out, indent + 1, "for (int k = 0; k < outcount; k++) {");
            if (counts || strstr(bodies->str, "switch (index)"))
                c_text_line(out, indent + 2, "int index = array_of_indices[k];");
            g_string_append(out, bodies->str);
            if (counts)
                c_text_line(out, indent + 2, "%s[%s]--;", left, index);
            c_text_line(out, indent + 1, "}");
        }
        c_text_line(out, indent + 1, "%s -= outcount;", pending);
    }
    c_text_line(out, indent, "}");
    g_ptr_array_unref(e->before);
    g_ptr_array_unref(e->after);
    e->before = before;
    e->after = after;
    call_pattern_free(c);
}
