/* SPDX-License-Identifier: BSD-3-Clause */
/* variants.c: see variants.h. */
#include "variants.h"

#include <string.h>

/* A class that may be a variant, and the counts of all its symbols: sequence by sequence, rule by
 * rule. */
typedef struct {
    Class *class;
    Vector *repeats; /* uint64_t */
} Candidate;

static void candidate_free(void *candidate)
{
    Candidate *c = candidate;
    vector_unref(c->repeats);
    memory_free(c);
}

static void variants_free(void *variants)
{
    Variants *v = variants;
    for (uint32_t i = 0; i < v->n; i++) {
        rankset_clear(&v->variants[i].ranks);
        memory_free(v->variants[i].trips);
    }
    memory_free(v->variants);
    memory_free(v->trip_of);
    memory_free(v);
}

/* Appends to KEY what variants have in common: everything except the counts of repeated symbols. */
static bool add_skeleton(const Sequence *s, WendBuf *key, Vector *repeats)
{
    RuleRow row;
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return false;
    buf_unsigned(key, s->kind);
    buf_signed(key, s->id);
    buf_counted(key, s->table.structure->data, s->table.structure->n);
    buf_unsigned(key, row.n_rules);
    for (uint32_t i = 0; i < row.n_rules; i++) {
        buf_unsigned(key, row.rules[i].n);
        for (uint32_t k = 0; k < row.rules[i].n; k++) {
            const WendSymbol *y = &row.rules[i].symbols[k];
            buf_unsigned(key,
                         (uint64_t)y->id << 2 | (y->repeats > 1 ? 2 : 0) | (y->is_rule ? 1 : 0));
            VECTOR_APPEND(repeats, y->repeats);
        }
    }
    rules_clear(&row);
    return true;
}

static int by_lowest(const void *a, const void *b)
{
    uint32_t x = rankset_lowest(&(*(Candidate *const *)a)->class->ranks),
             y = rankset_lowest(&(*(Candidate *const *)b)->class->ranks);
    return x < y ? -1 : x > y;
}

/* By symbol: 1 + the number of its trip count, or 0. Symbols whose counts are equal in each variant
 * have one trip count. */
static uint32_t *number_trips(Vector *const *repeats, uint32_t n_variants, Vector *first_symbol)
{
    uint32_t n = repeats[0]->len;
    AUTO(Map) numbers = map_of_bytes(NULL);
    AUTOFREE uint64_t *row = NEW(uint64_t, n_variants);
    uint32_t *trip_of = NEW0(uint32_t, n + 1);
    for (uint32_t y = 0; y < n; y++) {
        bool differs = false;
        for (uint32_t i = 0; i < n_variants; i++) {
            row[i] = VECTOR_AT(repeats[i], uint64_t, y);
            differs |= row[i] != row[0];
        }
        if (!differs)
            continue;
        bool is_new;
        trip_of[y] = 1 + map_number(numbers, row, n_variants * sizeof *row, &is_new);
        if (is_new)
            VECTOR_APPEND(first_symbol, y);
    }
    return trip_of;
}

Variants *variants_new(uint32_t n, const RankSet *ranks, Vector *const *repeats)
{
    AUTO(Vector) first_symbol = vector_new(sizeof(uint32_t)); /* by trip */
    uint32_t *trip_of = number_trips(repeats, n, first_symbol);
    Variants *v = NEW(Variants, 1);
    *v = (Variants){n, first_symbol->len, NEW0(Variant, n), trip_of};
    for (uint32_t i = 0; i < n; i++) {
        v->variants[i] = (Variant){rankset_copy(&ranks[i]), NEW(uint64_t, v->n_trips + 1)};
        for (uint32_t t = 0; t < v->n_trips; t++)
            v->variants[i].trips[t] =
                VECTOR_AT(repeats[i], uint64_t, VECTOR_AT(first_symbol, uint32_t, t));
    }
    return v;
}

/* Joins the candidates' classes into that of the first one. The others may not be used any more. */
static Variants *join(Vector *candidates)
{
    vector_sort(candidates, by_lowest);
    AUTOFREE RankSet *ranks = NEW(RankSet, candidates->len);
    AUTOFREE Vector **repeats = NEW(Vector *, candidates->len);
    for (uint32_t i = 0; i < candidates->len; i++) {
        const Candidate *c = VECTOR_POINTER(candidates, i);
        ranks[i] = c->class->ranks;
        repeats[i] = c->repeats;
    }
    Variants *v = variants_new(candidates->len, ranks, repeats);
    Class *one = ((const Candidate *)VECTOR_POINTER(candidates, 0))->class;
    for (uint32_t i = 1; i < v->n; i++)
        class_join(one, ((const Candidate *)VECTOR_POINTER(candidates, i))->class);
    return v;
}

/* Adds the classes to ALIKE: skeleton -> candidates. */
static bool find_alike(const WendMerge *m, Map *alike)
{
    for (uint32_t i = 0; i < m->classes->len; i++) {
        Candidate *c = NEW(Candidate, 1);
        *c = (Candidate){VECTOR_POINTER(m->classes, i), vector_new(sizeof(uint64_t))};
        WendBuf b = WEND_BUF_INIT;
        bool good = true;
        for (uint32_t q = 0; good && q < c->class->n_sequences; q++)
            good = add_skeleton(&c->class->sequences[q], &b, c->repeats);
        Vector *candidates = map_get_bytes(alike, b.data, b.len);
        if (!candidates)
            map_put_bytes(alike, b.data, b.len, candidates = vector_of_pointers(candidate_free));
        buf_clear(&b);
        vector_add(candidates, c);
        if (!good)
            return false;
    }
    return true;
}

static Map *alike_new(void)
{
    return map_of_bytes((Release)vector_unref);
}

uint32_t variants_kinds(const WendMerge *m)
{
    AUTO(Map) alike = alike_new();
    /* of a damaged grammar variants_join says it */
    return find_alike(m, alike) ? map_size(alike) : 0;
}

Map *variants_join(WendMerge *m)
{
    Map *all = map_new(NULL, NULL, NULL, variants_free);
    if (m->classes->len < 2)
        return all;
    AUTO(Map) alike = alike_new();
    if (!find_alike(m, alike)) {
        map_unref(all);
        return NULL;
    }
    m->classes->len = 0; /* the classes are the candidates' */
    map_clear(m->by_key);
    map_clear(m->by_shapes);
    for (MapPlace p = {.map = alike}; map_next(&p);) {
        Vector *candidates = p.value;
        Variants *v = candidates->len > 1 ? join(candidates) : NULL;
        Class *one = ((const Candidate *)VECTOR_POINTER(candidates, 0))->class;
        if (v)
            map_put(all, one, v);
        vector_add(m->classes, one);
        for (uint32_t i = 1; i < candidates->len; i++)
            class_free(((const Candidate *)VECTOR_POINTER(candidates, i))->class);
    }
    return all;
}
