/* SPDX-License-Identifier: BSD-3-Clause */
/* show-terminations.c: see show-terminations.h. */
#include "config.h"

#include "show-terminations.h"

#include "src/command/command_text.h"
#include "src/command/value.h"

enum { LAST_CALLS = 3, LABEL_WIDTH = 16 };

/* Pushes the last N symbols of RULE, the last one on top. */
static void push_symbols(GArray *stack, WendRead *r, guint rule, guint n)
{
    const WendReadRule *info;
    WendReadSymbol s;
    if (wend_read_rule(r, rule, &info) < 0)
        return;
    for (guint i = info->n_symbols - MIN(info->n_symbols, n); i < info->n_symbols; i++)
        if (wend_read_symbol(r, rule, i, &s) == WEND_READ_OK)
            g_array_append_val(stack, s);
}

/* The last N signatures of RULE, in order. Rules are not empty, so the last N symbols of each are
 * enough. */
static GArray *last_signatures(WendRead *r, guint rule, guint n)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(WendReadSymbol));
    push_symbols(stack, r, rule, n);
    while (stack->len > 0 && found->len < n) {
        WendReadSymbol s = g_array_index(stack, WendReadSymbol, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        for (guint64 i = 0; !s.is_rule && i < s.repeats && found->len < n; i++)
            g_array_prepend_val(found, s.number);
        if (!s.is_rule)
            continue;
        if (--s.repeats > 0)
            g_array_append_val(stack, s);
        push_symbols(stack, r, s.number, n);
    }
    return found;
}

static void put_place(GString *out, WendRead *r, guint rank, const WendReadSequence *q)
{
    const gboolean callback = q->callback;
    const gint64 id = q->id;
    g_autoptr(GArray) last = last_signatures(r, q->rule, LAST_CALLS);
    for (guint i = 0; i < last->len; i++) {
        const WendReadCall *call;
        if (wend_read_signature(r, g_array_index(last, guint32, i), rank, &call) < 0)
            continue;
        g_string_append_printf(out, "%*s", LABEL_WIDTH + 2, "");
        text_sequence(out, callback, id);
        g_string_append(out, "  ");
        g_string_append(out, call->function->name);
        g_string_append_c(out, '(');
        value_call_arguments(out, call);
        g_string_append(out, call->unfinished ? ") has not returned\n" : ")\n");
    }
}

static char *place_of(WendRead *r, guint rank, guint n_sequences)
{
    GString *out = g_string_new(NULL);
    const WendReadSequence *q;
    for (guint i = 0; i < n_sequences; i++)
        if (wend_read_sequence(r, rank, i, &q) == WEND_READ_OK
            && (!q->callback || i + 1 == n_sequences))
            put_place(out, r, rank, q);
    return g_string_free(out, FALSE);
}

/* How and where RANK ended, as text. */
static char *ending_of(WendRead *r, guint rank)
{
    const WendReadRank *info;
    if (wend_read_rank(r, rank, &info) < 0)
        return g_strdup("");
    g_autofree char *end = text_foreign_new(info->termination ? info->termination : "MPI_Finalize");
    g_autofree char *place = place_of(r, rank, info->n_sequences);
    return g_strdup_printf("%s\n%s", end, place);
}

/* -- all -- */

static void show_one(GString *out, const char *text, const GArray *ranks, gboolean first)
{
    g_string_append_printf(out, "%-*s%s ", LABEL_WIDTH, first ? "ended" : "",
                           ranks->len == 1 ? "rank" : "ranks");
    text_ranks(out, (const guint *)(gconstpointer)ranks->data, ranks->len);
    g_string_append_printf(out, ": %s", text);
}

static gboolean ended_early(WendRead *r, guint n_ranks)
{
    const WendReadRank *info;
    for (guint rank = 0; rank < n_ranks; rank++)
        if (wend_read_rank(r, rank, &info) == WEND_READ_OK && info->termination != NULL)
            return TRUE;
    return FALSE;
}

/* Notes that RANK ended as TEXT says. Takes TEXT. */
static void note_ending(GHashTable *ranks, GPtrArray *texts, char *text, guint rank)
{
    GArray *known = g_hash_table_lookup(ranks, text);
    if (known != NULL) {
        g_free(text);
    } else {
        known = g_array_new(FALSE, FALSE, sizeof(guint));
        g_hash_table_insert(ranks, text, known);
        g_ptr_array_add(texts, text);
    }
    g_array_append_val(known, rank);
}

void terminations_show(GString *out, WendRead *r, guint limit)
{
    const WendReadFacts *facts;
    if (wend_read_facts(r, WEND_READ_JOB, &facts) < 0 || !ended_early(r, facts->n_ranks))
        return;
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    g_autoptr(GHashTable) ranks =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    for (guint rank = 0; rank < facts->n_ranks; rank++)
        note_ending(ranks, texts, ending_of(r, rank), rank);
    for (guint i = 0; i < texts->len && i < limit; i++)
        show_one(out, texts->pdata[i], g_hash_table_lookup(ranks, texts->pdata[i]), i == 0);
    if (texts->len > limit)
        g_string_append_printf(out, "%*sand %u ways more (wend show --all)\n", LABEL_WIDTH, "",
                               texts->len - limit);
}
