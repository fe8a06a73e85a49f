/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_request_slots.c: writes the tables of request slots that differ by rank or in time
 * (request_slots.c).
 *
 * For each thread that makes requests there is an array "at": at[3] is the current slot of request
 * 3 (in the order of request numbers) in the array of requests. It is set before the first call.
 * Requests that move have lists of their slots. */
#include "emitter.h"
#include "variable_names.h"

static const char *const next_slot_text =
    "/* Where a request goes that is made now. */\n"
    "@int next_slot#(int request)\n"
    "{\n"
    "    static int made[%];\n"
    "    const int *move = moves#[request];\n"
    "    if (!move)\n"
    "        return at#[request]; /* this rank does not move it */\n"
    "    if (made[request]++ == move[0]) {\n"
    "        move += 2;\n"
    "        if (move[0] == 0) /* the end: the last ones come again */\n"
    "            move -= move[1];\n"
    "        moves#[request] = move;\n"
    "        made[request] = 1;\n"
    "    }\n"
    "    return move[1];\n"
    "}\n"
    "\n";

/* TEXT with the linkage instead of @, the thread's suffix instead of #, and the number of requests
 * instead of %. */
static char *text_for(const char *text, const char *linkage, const char *suffix, guint requests)
{
    GString *s = g_string_new("");
    for (; *text; text++) {
        if (*text == '@')
            g_string_append(s, linkage);
        else if (*text == '#')
            g_string_append(s, suffix);
        else if (*text == '%')
            g_string_append_printf(s, "%u", requests);
        else
            g_string_append_c(s, *text);
    }
    return g_string_free(s, FALSE);
}

/* Writes the lists of the thread's requests that move, for each layout that moves them. Appends
 * initializers to SET. */
static gboolean emit_moves(Emitter *e, const RequestSlots *p, guint thread, GString *set)
{
    gboolean any = FALSE;
    for (guint l = 0; l < p->layouts->len; l++) {
        const RequestLayout *layout = g_ptr_array_index(p->layouts, l);
        for (guint i = 0; i < request_numbers_count(p->numbers); i++) {
            if (request_numbers_thread(p->numbers, i) != thread || !layout->moves[i])
                continue;
            g_autoptr(GString) list = g_string_new("");
            for (guint k = 0; k < layout->moves[i]->len; k++) {
                const RequestMove *move = &g_array_index(layout->moves[i], RequestMove, k);
                g_string_append_printf(list, "%" G_GUINT64_FORMAT ", %" G_GINT64_FORMAT ", ",
                                       move->times, move->place);
            }
            g_string_append_printf(list, "0, %u", 2 * MAX(layout->again[i], 1));
            g_autofree char *dimensions = g_strdup_printf("[%u]", 2 * layout->moves[i]->len + 2),
                            *table =
                                literal_table(e, "int", "times_and_place", dimensions, list->str);
            g_string_append_printf(set, "%s{%u, %u, %s}", any ? ", " : "", l,
                                   request_numbers_index(p->numbers, i), table);
            any = TRUE;
        }
    }
    return any;
}

static void emit_thread(Emitter *e, GString *declarations, GString *definitions, GString *body,
                        const RequestSlots *p, guint thread)
{
    g_autofree char *suffix = variable_name_suffix(thread);
    guint n = request_slots_count(p, thread);
    g_string_append_printf(definitions, "%sint at%s[%u];\n", e->linkage, suffix, n);

    g_autofree gint64 *places = g_new(gint64, n);
    g_autoptr(GString) rows = g_string_new("");
    for (guint l = 0; l < p->layouts->len; l++) {
        const RequestLayout *layout = g_ptr_array_index(p->layouts, l);
        for (guint i = 0; i < request_numbers_count(p->numbers); i++)
            if (request_numbers_thread(p->numbers, i) == thread)
                places[request_numbers_index(p->numbers, i)] = MAX(layout->place[i], 0);
        g_string_append(rows, l ? ", {" : "{");
        for (guint i = 0; i < n; i++)
            g_string_append_printf(rows, "%s%" G_GINT64_FORMAT, i ? ", " : "", places[i]);
        g_string_append_c(rows, '}');
    }
    g_autofree char *dimensions = g_strdup_printf("[%u][%u]", p->layouts->len, n),
                    *table = literal_table(e, "int", "places", dimensions, rows->str);
    c_text_line(body, 1, "memcpy(at%s, %s[layout], sizeof at%s);", suffix, table, suffix);

    g_autoptr(GString) moves = g_string_new("");
    if (emit_moves(e, p, thread, moves)) {
        g_string_append_printf(definitions, "static const int *moves%s[%u];\n", suffix, n);
        g_autofree char *next = text_for(next_slot_text, e->linkage, suffix, n);
        g_string_append_printf(definitions, "\n%s", next);
        c_text_line(
            body, 1,
            "static const struct { int layout, request; const int *moves; } moving%s[] = {%s};",
            suffix, moves->str);
        c_text_line(body, 1, "for (size_t i = 0; i < sizeof moving%s / sizeof *moving%s; i++)",
                    suffix, suffix);
        c_text_line(body, 2, "if (moving%s[i].layout == layout)", suffix);
        c_text_line(body, 3, "moves%s[moving%s[i].request] = moving%s[i].moves;", suffix, suffix,
                    suffix);
        if (!*e->linkage)
            g_string_append_printf(declarations, "int next_slot%s(int request);\n", suffix);
    }
    if (!*e->linkage)
        g_string_append_printf(declarations, "extern int at%s[%u];\n", suffix, n);
}

void emit_request_slots(Emitter *e, GString *declarations, GString *definitions)
{
    const RequestSlots *p = variables_request_slots(e->plan);
    if (!p || !p->vary)
        return;
    g_autoptr(GString) body = g_string_new("");
    g_autofree gint64 *layouts = g_new(gint64, e->plan->n_ranks);
    g_autofree guint *ranks = g_new(guint, e->plan->n_ranks);
    g_autoptr(GHashTable) threads = g_hash_table_new(NULL, NULL);
    for (guint r = 0; r < e->plan->n_ranks; r++) {
        ranks[r] = r;
        layouts[r] = p->layout_of[r];
    }
    c_text_comment(definitions, 0,
                   "Where the requests are in their array, by their number: that differs by rank, "
                   "and where requests move, from time to time.");
    for (guint i = 0; i < request_numbers_count(p->numbers); i++) {
        guint thread = request_numbers_thread(p->numbers, i);
        if (g_hash_table_add(threads, GUINT_TO_POINTER(thread)))
            emit_thread(e, declarations, definitions, body, p, thread);
    }
    g_autofree char *layout =
        expression_by_rank(e, (RankList){e->plan->n_ranks, ranks}, layouts, "int", "layouts");
    g_string_append_printf(definitions, "\n%s", e->definitions->str);
    g_string_set_size(e->definitions, 0);
    g_string_append_printf(definitions,
                           "%svoid place_requests(void)\n{\n    int layout = %s;\n%s}\n\n",
                           e->linkage, layout, body->str);
    if (!*e->linkage)
        g_string_append(declarations, "void place_requests(void);\n");
}
