/* pieces.c: streams of outcomes. */
#include "pieces.h"

#include <string.h>

#include "codec.h"

void pieces_init(Pieces *p, const void *bytes, gsize n, const gint64 *constants, guint n_constants)
{
    *p = (Pieces){.c = wend_cursor(bytes, n), .constants = constants, .n_constants = n_constants};
    p->words = g_array_sized_new(FALSE, TRUE, sizeof(gint64), 8);
    p->first = g_array_sized_new(FALSE, TRUE, sizeof(gsize), 2);
}

static void end_piece(Pieces *p)
{
    if (p->repeats) return; /* there are many of these */
    expansion_clear(&p->expansion);
    rules_clear(&p->rules);
}

void pieces_clear(Pieces *p)
{
    end_piece(p);
    g_clear_pointer(&p->words, g_array_unref);
    g_clear_pointer(&p->first, g_array_unref);
}

static void read_entries(Pieces *p, gsize n)
{
    gsize at = 0;
    g_array_set_size(p->words, 0);
    g_array_set_size(p->first, 0);
    g_array_append_val(p->first, at);
    while (n-- > 0 && !p->c.failed) {
        gsize width = wend_read_count(&p->c, 1);
        if (width > G_MAXINT32 - at) p->c.failed = true;
        if (p->c.failed) return;
        g_array_set_size(p->words, (guint)(at + width));
        gint64 *words = (gint64 *)(gpointer)p->words->data + at;
        for (gsize i = 0; i < width; i++) words[i] = p->constants ? codec_word(&p->c, p->constants, p->n_constants) : wend_read_signed(&p->c);
        at += width;
        g_array_append_val(p->first, at);
    }
}

static gboolean has_empty_rule(const RuleRow *row)
{
    for (guint i = 0; i < row->n_rules; i++)
        if (row->rules[i].n == 0) return TRUE;
    return FALSE;
}

gboolean pieces_next(Pieces *p)
{
    end_piece(p);
    if (p->c.p == p->c.end) return FALSE;
    p->length = p->repeats = wend_read_unsigned(&p->c);
    read_entries(p, p->repeats ? 1 : wend_read_count(&p->c, 1));
    /* a rule of nothing, often, would take time to go through */
    if (!p->repeats && (p->c.failed || pieces_entries(p) == 0 || !rules_read(&p->rules, &p->c, pieces_entries(p), RULES_PLAIN) || has_empty_rule(&p->rules) || !rules_length(&p->rules, &p->length))) p->c.failed = true;
    return !p->c.failed;
}

gboolean pieces_next_run(Pieces *p, guint64 *repeats, const gint64 **words, guint *n)
{
    if (p->expansion.run) expansion_advance(&p->expansion, p->expansion.run);
    if (!p->expansion.run) {
        if (!pieces_next(p)) return FALSE;
        if (!p->repeats) p->expansion = rules_expand(&p->rules);
    }
    *repeats = p->repeats ? p->repeats : p->expansion.run;
    *words = pieces_entry(p, p->repeats ? 0 : p->expansion.terminal, n);
    return TRUE;
}

guint pieces_entries(const Pieces *p)
{
    return p->first->len - 1;
}

const gint64 *pieces_entry(const Pieces *p, guint entry, guint *n)
{
    gsize first = g_array_index(p->first, gsize, entry);
    *n = (guint)(g_array_index(p->first, gsize, entry + 1) - first);
    return (const gint64 *)(gpointer)p->words->data + first;
}
