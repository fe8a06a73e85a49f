/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.c: functions that write the parts of the archive. */
#include <string.h>

#include "write-private.h"

void writer_member(Writer *w, const char *name)
{
    w->failed |= w->out.failed;
    w->member_bytes = w->out.len;
    container_add(w->container, name, w->out.data, w->out.len);
    wend_buf_clear(&w->out);
}

void writer_shorter(Writer *w, WendBuf *plain, WendBuf *other)
{
    const WendBuf *less = other && other->len < plain->len ? other : plain;
    wend_buf_bytes(&w->out, less->data, less->len);
    w->failed |= plain->failed || (other && other->failed);
    wend_buf_clear(plain);
    if (other)
        wend_buf_clear(other);
}

gboolean writer_each_sequence(Writer *w, SequenceFunction function)
{
    for (guint i = 0; i < w->r->classes->len; i++) {
        const RecordedClass *k = &g_array_index(w->r->classes, RecordedClass, i);
        for (guint q = 0; q < k->class->n_sequences; q++)
            if (!function(w, k, &k->sequences[q]))
                return FALSE;
    }
    return TRUE;
}

gboolean writer_if_encoded(Writer *w, SequenceFunction function, void (*end)(Writer *w))
{
    gsize before = w->out.len;
    w->encoded = FALSE;
    wend_buf_unsigned(&w->out, 1);
    if (!writer_each_sequence(w, function))
        return FALSE;
    if (end)
        end(w);
    if (w->encoded || w->out.failed)
        return TRUE;
    w->out.len = before;
    wend_buf_unsigned(&w->out, 0);
    return TRUE;
}

static gint ascending(gconstpointer a, gconstpointer b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return x < y ? -1 : x > y;
}

static gint descending(gconstpointer a, gconstpointer b)
{
    return ascending(b, a);
}

/* Sets w->rules to START and the rules that it needs, in descending order. A rule has a larger
 * number than the rules that it uses, so it comes before them here. Without this list, each
 * sequence would take time for all rules of all classes. */
static void find_rules(Writer *w, guint32 start)
{
    g_array_set_size(w->rules, 0);
    g_array_append_val(w->rules, start);
    w->rule_times[start] = 1;
    for (guint at = 0; at < w->rules->len; at++) {
        guint32 rule = g_array_index(w->rules, guint32, at);
        const Rule *body = &g_array_index(w->r->rules, Rule, rule);
        for (guint k = 0; k < body->n; k++) {
            guint32 id = body->symbols[k].id;
            if (!body->symbols[k].is_rule || w->rule_times[id])
                continue;
            w->rule_times[id] = 1;
            g_array_append_val(w->rules, id);
        }
    }
    for (guint i = 0; i < w->rules->len; i++)
        w->rule_times[g_array_index(w->rules, guint32, i)] = 0;
    g_array_sort(w->rules, descending);
}

/* Adds the calls of each terminal and shape in the sequence of w->rules, on N_RANKS ranks with the
 * trip counts TRIPS. FALSE: a number is too large. */
static gboolean count_variant(Writer *w, const guint64 *trips, guint32 n_ranks, guint64 *total)
{
    guint64 length = 0;
    w->rule_times[g_array_index(w->rules, guint32, 0)] = n_ranks;
    for (guint i = 0; i < w->rules->len; i++) {
        guint32 rule = g_array_index(w->rules, guint32, i);
        const Rule *body = &g_array_index(w->r->rules, Rule, rule);
        guint64 used = w->rule_times[rule];
        w->rule_times[rule] = 0;
        for (guint k = 0; used && k < body->n; k++) {
            const WendSymbol *y = &body->symbols[k];
            guint64 repeats = y->repeats & RULE_TRIP ? trips[y->repeats - RULE_TRIP] : y->repeats;
            guint64 times, *sum = y->is_rule ? &w->rule_times[y->id] : &w->calls[y->id];
            gboolean first = *sum == 0;
            if (__builtin_mul_overflow(used, repeats, &times)
                || __builtin_add_overflow(*sum, times, sum))
                return FALSE;
            if (y->is_rule || times == 0)
                continue;
            if (first)
                g_array_append_vals(w->called, (const guint32[]){y->id}, 1);
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
    gboolean good = TRUE;
    for (guint i = 0; i < w->called->len; i++)
        w->calls[g_array_index(w->called, guint32, i)] = 0;
    g_array_set_size(w->called, 0);
    memset(w->shape_calls, 0, (w->r->shapes->len + 1) * sizeof(guint64));
    find_rules(w, s->rule);
    *total = 0;
    if (variant || !k->variants)
        good = count_variant(w, variant ? variant->trips : NULL,
                             variant ? variant->ranks.n : k->class->ranks.n, total);
    for (guint i = 0; good && !variant && k->variants && i < k->variants->n; i++) {
        const Variant *v = &k->variants->variants[i];
        good = count_variant(w, v->trips, v->ranks.n, total);
    }
    g_array_sort(w->called, ascending);
    return good;
}
