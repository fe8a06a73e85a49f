/* SPDX-License-Identifier: BSD-3-Clause */
/* endings.c: see endings.h. */
#include "config.h"

#include "endings.h"

#include "lib/read/ends.h"
#include "src/command/command_text.h"
#include "src/command/value.h"

enum { LAST_CALLS = 3, LABEL_WIDTH = 16 };

/* The last N terminals of RULE, in order. A rule has no empty ones in it, so N symbols of each are enough. */
static GArray *last_terminals(const WendProgram *p, guint rule, guint n)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    g_array_append_val(stack, ((WendSymbol){TRUE, rule, 1}));
    while (stack->len > 0 && found->len < n) {
        WendSymbol s = g_array_index(stack, WendSymbol, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        for (guint64 i = 0; !s.is_rule && i < s.exponent && found->len < n; i++)
            g_array_prepend_val(found, s.id);
        if (!s.is_rule)
            continue;
        const WendRule *r = wend_program_rule(p, s.id);
        if (--s.exponent > 0)
            g_array_append_val(stack, s);
        g_array_append_vals(stack, r->symbols + (r->n > n ? r->n - n : 0), MIN(r->n, n));
    }
    return found;
}

static void put_place(GString *out, const WendProgram *p, WendDecoder *decoder, guint rank, const WendSequence *q)
{
    g_autoptr(GArray) last = last_terminals(p, q->rule, LAST_CALLS);
    for (guint i = 0; i < last->len; i++) {
        const WendCall *call = wend_decoder_call(decoder, g_array_index(last, guint32, i), rank);
        g_string_append_printf(out, "%*s", LABEL_WIDTH + 2, "");
        text_sequence(out, q);
        g_string_append(out, "  ");
        value_name(out, call->function->name, VALUE_TEXT);
        g_string_append_c(out, '(');
        value_call_arguments(out, p, NULL, call);
        g_string_append(out, call->unfinished ? ") has not returned\n" : ")\n");
    }
}

static char *place_of(const WendProgram *p, WendDecoder *decoder, guint rank)
{
    GString *out = g_string_new(NULL);
    guint index = wend_program_class_of(p, rank);
    const WendClass *class = index != G_MAXUINT ? wend_program_class(p, index) : NULL;
    for (guint i = 0; class && i < class->n_sequences; i++)
        if (class->sequences[i].kind == WEND_SEQUENCE_THREAD || i + 1 == class->n_sequences)
            put_place(out, p, decoder, rank, &class->sequences[i]);
    return g_string_free(out, FALSE);
}

/* -- all -- */

static void show_one(GString *out, const char *text, const GArray *ranks, gboolean first)
{
    g_string_append_printf(out, "%-*s%s ", LABEL_WIDTH, first ? "ended" : "", ranks->len == 1 ? "rank" : "ranks");
    text_ranks(out, (const guint *)(gconstpointer)ranks->data, ranks->len);
    g_string_append_printf(out, ": %s", text);
}

void endings_show(GString *out, const WendProgram *p, guint limit)
{
    if (!wend_program_ended_early(p))
        return;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free), texts = g_ptr_array_new();
    g_autoptr(GHashTable) ranks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    g_autofree const char **how = wend_program_ends(p, names);
    WendDecoder *decoder = wend_decoder_new(p);
    for (guint r = 0; r < wend_program_ranks(p); r++) {
        g_autofree char *place = place_of(p, decoder, r);
        g_autofree char *end = text_foreign_new(how[r] ? how[r] : "MPI_Finalize");
        char *text = g_strdup_printf("%s\n%s", end, place);
        GArray *known = g_hash_table_lookup(ranks, text);
        if (known) {
            g_free(text);
        } else {
            known = g_array_new(FALSE, FALSE, sizeof(guint));
            g_hash_table_insert(ranks, text, known);
            g_ptr_array_add(texts, text);
        }
        g_array_append_val(known, r);
    }
    for (guint i = 0; i < texts->len && i < limit; i++)
        show_one(out, g_ptr_array_index(texts, i), g_hash_table_lookup(ranks, g_ptr_array_index(texts, i)), i == 0);
    if (texts->len > limit)
        g_string_append_printf(out, "%*sand %u ways more (wend show --all)\n", LABEL_WIDTH, "", texts->len - limit);
    wend_decoder_free(decoder);
}
