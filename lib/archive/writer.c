/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.c: functions that write the parts of the archive. */
#include <string.h>

#include "write-private.h"

void writer_member(Writer *w, const char *name)
{
    w->member_bytes = w->out.len;
    container_add(w->container, name, w->out.data, w->out.len);
    buf_clear(&w->out);
}

void writer_shorter(Writer *w, WendBuf *plain, WendBuf *other)
{
    const WendBuf *less = other && other->len < plain->len ? other : plain;
    buf_bytes(&w->out, less->data, less->len);
    buf_clear(plain);
    if (other)
        buf_clear(other);
}

bool writer_each_sequence(Writer *w, SequenceFunction function)
{
    for (uint32_t i = 0; i < w->r->classes->len; i++) {
        const RecordedClass *k = &VECTOR_AT(w->r->classes, RecordedClass, i);
        for (uint32_t q = 0; q < k->class->n_sequences; q++)
            if (!function(w, k, &k->sequences[q]))
                return false;
    }
    return true;
}

bool writer_if_encoded(Writer *w, SequenceFunction function, void (*end)(Writer *w))
{
    size_t before = w->out.len;
    w->encoded = false;
    buf_unsigned(&w->out, 1);
    if (!writer_each_sequence(w, function))
        return false;
    if (end)
        end(w);
    if (w->encoded)
        return true;
    w->out.len = before;
    buf_unsigned(&w->out, 0);
    return true;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int descending(const void *a, const void *b)
{
    return ascending(b, a);
}

/* Sets w->rules to START and the rules that it needs, in descending order. A rule has a larger
 * number than the rules that it uses, so it comes before them here. Without this list, each
 * sequence would take time for all rules of all classes. */
static void find_rules(Writer *w, uint32_t start)
{
    vector_resize(w->rules, 0);
    VECTOR_APPEND(w->rules, start);
    w->rule_times[start] = 1;
    for (uint32_t at = 0; at < w->rules->len; at++) {
        uint32_t rule = VECTOR_AT(w->rules, uint32_t, at);
        const Rule *body = &VECTOR_AT(w->r->rules, Rule, rule);
        for (uint32_t k = 0; k < body->n; k++) {
            uint32_t id = body->symbols[k].id;
            if (!body->symbols[k].is_rule || w->rule_times[id])
                continue;
            w->rule_times[id] = 1;
            VECTOR_APPEND(w->rules, id);
        }
    }
    for (uint32_t i = 0; i < w->rules->len; i++)
        w->rule_times[VECTOR_AT(w->rules, uint32_t, i)] = 0;
    vector_sort(w->rules, descending);
}

/* Adds the calls of each terminal and shape in the sequence of w->rules, on N_RANKS ranks with the
 * trip counts TRIPS. false: a number is too large. */
static bool count_variant(Writer *w, const uint64_t *trips, uint32_t n_ranks, uint64_t *total)
{
    uint64_t length = 0;
    w->rule_times[VECTOR_AT(w->rules, uint32_t, 0)] = n_ranks;
    for (uint32_t i = 0; i < w->rules->len; i++) {
        uint32_t rule = VECTOR_AT(w->rules, uint32_t, i);
        const Rule *body = &VECTOR_AT(w->r->rules, Rule, rule);
        uint64_t used = w->rule_times[rule];
        w->rule_times[rule] = 0;
        for (uint32_t k = 0; used && k < body->n; k++) {
            const WendSymbol *y = &body->symbols[k];
            uint64_t repeats = y->repeats & RULE_TRIP ? trips[y->repeats - RULE_TRIP] : y->repeats;
            uint64_t times, *sum = y->is_rule ? &w->rule_times[y->id] : &w->calls[y->id];
            bool first = *sum == 0;
            if (__builtin_mul_overflow(used, repeats, &times)
                || __builtin_add_overflow(*sum, times, sum))
                return false;
            if (y->is_rule || times == 0)
                continue;
            if (first)
                vector_append_all(w->called, (const uint32_t[]){y->id}, 1);
            w->shape_calls[VECTOR_AT(w->r->signatures, Signature, y->id).shape] += times;
            if (__builtin_add_overflow(length, times, &length) || length > INT64_MAX / 2)
                return false;
        }
    }
    return !__builtin_add_overflow(*total, length, total);
}

bool writer_count_calls(Writer *w, const RecordedClass *k, const RecordedSequence *s,
                        const Variant *variant, uint64_t *total)
{
    bool good = true;
    for (uint32_t i = 0; i < w->called->len; i++)
        w->calls[VECTOR_AT(w->called, uint32_t, i)] = 0;
    vector_resize(w->called, 0);
    memset(w->shape_calls, 0, (w->r->shapes->len + 1) * sizeof(uint64_t));
    find_rules(w, s->rule);
    *total = 0;
    if (variant || !k->variants)
        good = count_variant(w, variant ? variant->trips : NULL,
                             variant ? variant->ranks.n : k->class->ranks.n, total);
    for (uint32_t i = 0; good && !variant && k->variants && i < k->variants->n; i++) {
        const Variant *v = &k->variants->variants[i];
        good = count_variant(w, v->trips, v->ranks.n, total);
    }
    vector_sort(w->called, ascending);
    return good;
}
