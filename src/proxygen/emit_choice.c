/* emit_choice.c: Waitany, Waitsome, Testany and Testsome: calls that complete some of a set of requests.
 *
 * outcomes.c has found out what each place in the program has to complete. Where the calls of one place complete all that is pending, they are
 * the loop that the application had, in whatever order. Elsewhere what follows may depend on who completed, so the requests that did not
 * complete in the recording are hidden (MPI_REQUEST_NULL) from that call. The recorded order has happened, so waiting for it cannot
 * deadlock. */
#include "emit.h"

#include <string.h>

static void write_lines(GString *out, int indent, const GPtrArray *lines)
{
    for (guint i = 0; i < lines->len; i++)
        write_line(out, indent, "%s", (const char *)g_ptr_array_index(lines, i));
}

/* How many requests a call has completed, taken from what is pending. */
static const char *count_down(const Call *c)
{
    if (strcmp(c->function->name, "MPI_Waitany") == 0)
        return "pending--;";
    if (strcmp(c->function->name, "MPI_Testany") == 0)
        return "pending -= flag;";
    return "pending = outcount == MPI_UNDEFINED ? 0 : pending - outcount;";
}

/* The recorded entries as a table: for each call their number and then the entries; one table by rank when they differ. */
static char *picks_table(Emitter *e, const Choice *choice, RankSet ranks)
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
            g_string_append_printf(contents, "%s%d", i ? ", " : "", g_array_index(picks, gint32, i));
        g_autofree char *dimensions = g_strdup_printf("[%u]", picks->len);
        char *name = table_of(e, "int", "completed", dimensions, contents->str);
        same &= !last || strcmp(last, name) == 0;
        g_free(last);
        last = name;
        g_string_append(list, name);
    }
    if (same)
        return g_steal_pointer(&last);
    g_autofree char *dimensions = g_strdup_printf("[%u]", n);
    g_autofree char *table = table_of(e, "int *const", "completed_by_rank", dimensions, list->str);
    return first ? g_strdup_printf("%s[rank - %u]", table, first) : g_strdup_printf("%s[rank]", table);
}

/* An expression for the entries to complete, and what moves on to the next ones. */
static char *picks_expression(Emitter *e, const Choice *choice, char **advance)
{
    *advance = NULL;
    if (choice->constant) {
        g_autoptr(GString) contents = g_string_new("");
        for (guint i = 0; i < choice->pick->len; i++)
            g_string_append_printf(contents, "%s%d", i ? ", " : "", g_array_index(choice->pick, gint32, i));
        return g_strdup_printf("(const int[]){%s}", contents->str);
    }
    g_autofree char *table = picks_table(e, choice, e->plan->rules[choice->site.rule].ranks);
    guint number = ++e->n_tables;
    write_line(e->definitions, 0, "static long completed_next_%u;", number);
    *advance = g_strdup_printf("completed_next_%u += 1 + keep[0];", number);
    return g_strdup_printf("%s + completed_next_%u", table, number);
}

static void emit_forced(Emitter *e, GString *out, int indent, const Choice *choice, const Call *c)
{
    const Arg *requests = call_arg_of_kind(c, WEND_KIND_REQUEST);
    const char *hidden = local_variable(e, "MPI_Request", "hidden", requests->n_in), *keep = local_variable(e, "const int *", "keep", 0);
    g_autofree char *list = request_array(e, c, requests);
    g_ptr_array_set_size(e->before, 0); /* what it needs comes again with the call itself */
    g_ptr_array_set_size(e->after, 0);
    g_autofree char *expression = call_expression(e, c);
    g_autofree char *advance = NULL, *picks = picks_expression(e, choice, &advance);
    e->needs[HELPER_HIDE] = TRUE;
    local_variable(e, "int", "pending", 0);

    write_comment(out, indent, "Completes what completed here when it was recorded; what follows depends on it.");
    write_lines(out, indent, e->before);
    write_line(out, indent, "%s = %s;", keep, picks);
    write_line(out, indent, "hide_others(%" G_GINT64_FORMAT ", %s, %s, %s);", requests->n_in, list, hidden, keep);
    write_line(out, indent, "pending = %s[0];", keep);
    write_line(out, indent, "do {");
    write_line(out, indent + 1, "%s;", expression);
    write_line(out, indent + 1, "%s", count_down(c));
    write_line(out, indent, "} while (pending > 0);");
    write_line(out, indent, "show_others(%" G_GINT64_FORMAT ", %s, %s);", requests->n_in, list, hidden);
    write_lines(out, indent, e->after);
    if (advance)
        write_line(out, indent, "%s", advance);
}

static void emit_drain(Emitter *e, GString *out, int indent, const Choice *choice, const Call *c)
{
    const Arg *requests = call_arg_of_kind(c, WEND_KIND_REQUEST);
    g_autofree char *list = request_array(e, c, requests);
    g_ptr_array_set_size(e->before, 0);
    g_ptr_array_set_size(e->after, 0);
    g_autofree char *expression = call_expression(e, c);
    local_variable(e, "int", "pending", 0);
    write_lines(out, indent, e->before);
    if (choice->pending >= 0) {
        write_line(out, indent, "pending = %" G_GINT64_FORMAT ";", choice->pending);
    } else {
        e->needs[HELPER_ACTIVE] = TRUE;
        write_line(out, indent, "pending = active(%" G_GINT64_FORMAT ", %s);", requests->n_in, list);
    }
    write_line(out, indent, "while (pending > 0) {");
    write_line(out, indent + 1, "%s;", expression);
    write_line(out, indent + 1, "%s", count_down(c));
    write_line(out, indent, "}");
    write_lines(out, indent, e->after);
}

guint emit_choice(Emitter *e, GString *out, int indent, const Choice *choice, guint terminal, guint64 exponent)
{
    Call *c = call_new(e->plan->program);
    GPtrArray *before = e->before, *after = e->after;
    e->before = g_ptr_array_new_with_free_func(g_free);
    e->after = g_ptr_array_new_with_free_func(g_free);
    call_decode(c, terminal);
    if (choice->kind == CHOICE_DRAIN) {
        emit_drain(e, out, indent, choice, c);
    } else if (exponent > 1) {
        write_line(out, indent, "for (%s i = 0; i < %" G_GUINT64_FORMAT "; i++) {", exponent > G_MAXINT32 ? "long" : "int", exponent);
        emit_forced(e, out, indent + 1, choice, c);
        write_line(out, indent, "}");
    } else {
        emit_forced(e, out, indent, choice, c);
    }
    g_ptr_array_unref(e->before);
    g_ptr_array_unref(e->after);
    e->before = before;
    e->after = after;
    call_free(c);
    return 2;
}
