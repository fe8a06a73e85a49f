/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.c: what the parts of the archive are written with. */
#include <string.h>

#include "write-private.h"

void writer_member(Writer *w, const char *name)
{
    w->failed |= w->out.failed;
    bundle_add(w->bundle, name, w->out.data, w->out.len);
    wend_buf_clear(&w->out);
}

void writer_shorter(Writer *w, WendBuf *plain, WendBuf *other)
{
    const WendBuf *less = other && other->len < plain->len ? other : plain;
    wend_buf_bytes(&w->out, less->data, less->len);
    w->failed |= plain->failed || (other && other->failed);
    wend_buf_clear(plain);
    if (other) wend_buf_clear(other);
}

gboolean writer_each_sequence(Writer *w, SequenceFunction function)
{
    for (guint i = 0; i < w->r->classes->len; i++) {
        const RecordedClass *k = &g_array_index(w->r->classes, RecordedClass, i);
        for (guint q = 0; q < k->class->n_sequences; q++)
            if (!function(w, k, &k->sequences[q])) return FALSE;
    }
    return TRUE;
}

gboolean writer_if_told(Writer *w, SequenceFunction function, void (*end)(Writer *w))
{
    gsize before = w->out.len;
    w->told = FALSE;
    wend_buf_unsigned(&w->out, 1);
    if (!writer_each_sequence(w, function)) return FALSE;
    if (end) end(w);
    if (w->told || w->out.failed) return TRUE;
    w->out.len = before;
    wend_buf_unsigned(&w->out, 0);
    return TRUE;
}

/* Adds how often each terminal and shape occurs in the sequence of N_RANKS ranks that have these
 * trip counts. RULE_TIMES: scratch. */
static gboolean count_variant(Writer *w, const RecordedSequence *s, const guint64 *trips,
    guint32 n_ranks, guint64 *rule_times, guint64 *total)
{
    guint64 length = 0;
    memset(rule_times, 0, (s->rule + 1) * sizeof *rule_times);
    rule_times[s->rule] = n_ranks;
    for (guint rule = s->rule + 1; rule-- > 0;) { /* users come after what they use */
        const Rule *body = &g_array_index(w->r->rules, Rule, rule);
        if (!rule_times[rule]) continue;
        for (guint k = 0; k < body->n; k++) {
            const WendSymbol *y = &body->symbols[k];
            guint64 exponent = y->exponent, times;
            if (exponent & RULE_TRIP) exponent = trips[exponent - RULE_TRIP];
            guint64 *sum = y->is_rule ? &rule_times[y->id] : &w->calls[y->id];
            if (__builtin_mul_overflow(rule_times[rule], exponent, &times) ||
                __builtin_add_overflow(*sum, times, sum))
                return FALSE;
            if (y->is_rule) continue;
            w->shape_calls[g_array_index(w->r->signatures, Signature, y->id).shape] += times;
            if (__builtin_add_overflow(length, times, &length) || length > G_MAXINT64 / 2)
                return FALSE;
        }
    }
    return !__builtin_add_overflow(*total, length, total);
}

gboolean writer_count_calls(Writer *w, const RecordedClass *k, const RecordedSequence *s,
    const Variant *variant, guint64 *total)
{
    memset(w->calls, 0, (w->r->signatures->len + 1) * sizeof(guint64));
    memset(w->shape_calls, 0, (w->r->shapes->len + 1) * sizeof(guint64));
    g_autofree guint64 *rule_times = g_new(guint64, s->rule + 1);
    *total = 0;
    if (variant) return count_variant(w, s, variant->trips, variant->ranks.n, rule_times, total);
    if (!k->variants) return count_variant(w, s, NULL, k->class->ranks.n, rule_times, total);
    for (guint i = 0; i < k->variants->n; i++) {
        const Variant *v = &k->variants->variants[i];
        if (!count_variant(w, s, v->trips, v->ranks.n, rule_times, total)) return FALSE;
    }
    return TRUE;
}
