/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome-runs.c: see outcome-runs.h. */
#include "outcome-runs.h"

#include <string.h>

#include "codec.h"
#include "words.h"

void outcome_runs_init(OutcomeRuns *p, const void *bytes, gsize n, const gint64 *constants,
                       guint n_constants)
{
    *p = (OutcomeRuns){
        .c = wend_cursor(bytes, n), .constants = constants, .n_constants = n_constants};
    p->words = g_array_sized_new(FALSE, TRUE, sizeof(gint64), 8);
    p->first = g_array_sized_new(FALSE, TRUE, sizeof(gsize), 2);
    p->counts = g_array_sized_new(FALSE, TRUE, sizeof(guint64), 2);
    p->reached = g_array_sized_new(FALSE, TRUE, sizeof(gint64), 8);
}

void outcome_runs_init_part(OutcomeRuns *p, const void *bytes, gsize n)
{
    outcome_runs_init(p, bytes, n, NULL, 0);
    p->in_part = TRUE;
}

static void end_piece(OutcomeRuns *p)
{
    if (p->repeats)
        return; /* the frequent case */
    expansion_clear(&p->expansion);
    rules_clear(&p->rules);
}

void outcome_runs_clear(OutcomeRuns *p)
{
    end_piece(p);
    g_clear_pointer(&p->words, g_array_unref);
    g_clear_pointer(&p->first, g_array_unref);
    g_clear_pointer(&p->counts, g_array_unref);
    g_clear_pointer(&p->reached, g_array_unref);
}

/* Is an arithmetic run of COUNT entries from WORDS on valid? No word with a step may overflow or be
 * special. */
static gboolean is_arithmetic(const gint64 *words, const gint64 *steps, gsize width, guint64 count)
{
    if (count < 2 || count > G_MAXINT64)
        return FALSE;
    for (gsize i = 0; i < width; i++) {
        gint64 away, last;
        if (steps[i] == 0)
            continue;
        if (wend_word_is_special(words[i]) || wend_word_is_special(steps[i])
            || __builtin_mul_overflow(steps[i], (gint64)(count - 1), &away)
            || __builtin_add_overflow(words[i], away, &last) || wend_word_is_special(last))
            return FALSE;
    }
    return TRUE;
}

/* Reads the count and the steps of an arithmetic run with WIDTH words. Returns the count. */
static guint64 read_arithmetic(OutcomeRuns *p, gsize at, gsize width)
{
    guint64 count = wend_cursor_unsigned(&p->c);
    if (width > (gsize)(p->c.end - p->c.p))
        p->c.failed = true;
    if (p->c.failed)
        return 0;
    g_array_set_size(p->words, (guint)(at + 2 * width));
    gint64 *words = (gint64 *)(gpointer)p->words->data + at;
    for (gsize i = 0; i < width; i++)
        words[width + i] = wend_cursor_signed(&p->c);
    if (!is_arithmetic(words, words + width, width, count))
        p->c.failed = true;
    return count;
}

static void read_entries(OutcomeRuns *p, gsize n)
{
    gsize at = 0;
    g_array_set_size(p->words, 0);
    g_array_set_size(p->first, 0);
    g_array_set_size(p->counts, 0);
    g_array_append_val(p->first, at);
    while (n-- > 0 && !p->c.failed) {
        guint64 head = wend_cursor_unsigned(&p->c), width = p->in_part ? head >> 1 : head;
        if (width > (gsize)(p->c.end - p->c.p) || 2 * width > G_MAXINT32 - at)
            p->c.failed = true;
        if (p->c.failed)
            return;
        g_array_set_size(p->words, (guint)(at + width));
        gint64 *words = (gint64 *)(gpointer)p->words->data + at;
        for (gsize i = 0; i < width; i++)
            words[i] = p->constants ? codec_word(&p->c, p->constants, p->n_constants)
                                    : wend_cursor_signed(&p->c);
        guint64 count = p->in_part && head & 1 ? read_arithmetic(p, at, width) : 0;
        at += count ? 2 * width : width;
        g_array_append_val(p->counts, count);
        g_array_append_val(p->first, at);
    }
}

static gboolean has_empty_rule(const RuleRow *row)
{
    for (guint i = 0; i < row->n_rules; i++)
        if (row->rules[i].n == 0)
            return TRUE;
    return FALSE;
}

gboolean outcome_runs_next(OutcomeRuns *p)
{
    end_piece(p);
    if (p->c.p == p->c.end)
        return FALSE;
    p->length = p->repeats = wend_cursor_unsigned(&p->c);
    read_entries(p, p->repeats ? 1 : wend_cursor_count(&p->c, 1));
    /* empty rules with large counts would take time and give nothing */
    if (!p->repeats
        && (p->c.failed || outcome_runs_entries(p) == 0
            || !rules_read(&p->rules, &p->c, outcome_runs_entries(p), RULES_PLAIN)
            || has_empty_rule(&p->rules) || !rules_length(&p->rules, &p->length)))
        p->c.failed = true;
    return !p->c.failed;
}

/* The next run of equal entries or arithmetic runs. */
static gboolean next_run(OutcomeRuns *p, guint64 *repeats, guint *entry)
{
    if (p->expansion.run)
        expansion_advance(&p->expansion, p->expansion.run);
    if (!p->expansion.run) {
        if (!outcome_runs_next(p))
            return FALSE;
        if (!p->repeats)
            p->expansion = rules_expand(&p->rules);
    }
    *repeats = p->repeats ? p->repeats : p->expansion.run;
    *entry = p->repeats ? 0 : p->expansion.terminal;
    return TRUE;
}

gboolean outcome_runs_next_arithmetic(OutcomeRuns *p, guint64 *repeats, const gint64 **words,
                                      guint *n, const gint64 **steps)
{
    guint entry;
    if (p->again > 1) { /* the same arithmetic run */
        p->again--;
        entry = p->repeats ? 0 : p->expansion.terminal;
    } else {
        if (!next_run(p, repeats, &entry))
            return FALSE;
        if (outcome_runs_count(p, entry))
            p->again = *repeats;
    }
    *words = outcome_runs_entry(p, entry, n);
    *steps = NULL;
    guint64 count = outcome_runs_count(p, entry);
    if (!count)
        return TRUE;
    *repeats = count;
    *steps = *words + *n;
    return TRUE;
}

/* The next entry of an arithmetic run. */
gboolean outcome_runs_next_run(OutcomeRuns *p, guint64 *repeats, const gint64 **words, guint *n)
{
    const gint64 *steps;
    if (p->left == 0) {
        if (!outcome_runs_next_arithmetic(p, repeats, words, n, &steps))
            return FALSE;
        if (!steps)
            return TRUE;
        p->left = *repeats;
        g_array_set_size(p->reached, 0);
        g_array_append_vals(p->reached, *words, *n);
    } else {
        const gint64 *steps = outcome_runs_entry(p, p->repeats ? 0 : p->expansion.terminal, n);
        for (guint i = 0; i < *n; i++)
            g_array_index(p->reached, gint64, i) += steps[*n + i];
    }
    p->left--;
    *repeats = 1;
    *words = (const gint64 *)(gpointer)p->reached->data;
    return TRUE;
}

guint64 outcome_runs_count(const OutcomeRuns *p, guint entry)
{
    return g_array_index(p->counts, guint64, entry);
}

guint outcome_runs_entries(const OutcomeRuns *p)
{
    return p->first->len - 1;
}

const gint64 *outcome_runs_entry(const OutcomeRuns *p, guint entry, guint *n)
{
    gsize first = g_array_index(p->first, gsize, entry);
    *n = (guint)(g_array_index(p->first, gsize, entry + 1) - first)
         / (outcome_runs_count(p, entry) ? 2 : 1);
    return (const gint64 *)(gpointer)p->words->data + first;
}
