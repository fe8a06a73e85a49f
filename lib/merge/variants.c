/* SPDX-License-Identifier: BSD-3-Clause */
/* variants.c: see variants.h. */
#include "variants.h"

#include <string.h>

/* A class that may be a variant, and the counts of all its symbols: sequence by sequence, rule by
 * rule. */
typedef struct {
    Class *class;
    GArray *repeats; /* guint64 */
} Candidate;

static void candidate_free(gpointer candidate)
{
    Candidate *c = candidate;
    g_array_unref(c->repeats);
    g_free(c);
}

static void variants_free(gpointer variants)
{
    Variants *v = variants;
    for (guint i = 0; i < v->n; i++) {
        rankset_clear(&v->variants[i].ranks);
        g_free(v->variants[i].trips);
    }
    g_free(v->variants);
    g_free(v->trip_of);
    g_free(v);
}

/* Appends to KEY what variants have in common: everything except the counts of repeated symbols. */
static gboolean add_skeleton(const Sequence *s, WendBuf *key, GArray *repeats)
{
    RuleRow row;
    if (!rules_from(&row, s->grammar, s->table.n_terminals))
        return FALSE;
    wend_buf_unsigned(key, s->kind);
    wend_buf_signed(key, s->id);
    wend_buf_unsigned(key, g_bytes_get_size(s->table.structure));
    wend_buf_bytes(key, g_bytes_get_data(s->table.structure, NULL),
                   g_bytes_get_size(s->table.structure));
    wend_buf_unsigned(key, row.n_rules);
    for (guint i = 0; i < row.n_rules; i++) {
        wend_buf_unsigned(key, row.rules[i].n);
        for (guint k = 0; k < row.rules[i].n; k++) {
            const WendSymbol *y = &row.rules[i].symbols[k];
            wend_buf_unsigned(key, (guint64)y->id << 2 | (y->repeats > 1 ? 2 : 0)
                                       | (y->is_rule ? 1 : 0));
            g_array_append_val(repeats, y->repeats);
        }
    }
    rules_clear(&row);
    return TRUE;
}

static gint by_lowest(gconstpointer a, gconstpointer b)
{
    guint32 x = rankset_lowest(&(*(Candidate *const *)a)->class->ranks),
            y = rankset_lowest(&(*(Candidate *const *)b)->class->ranks);
    return x < y ? -1 : x > y;
}

/* By symbol: 1 + the number of its trip count, or 0. Symbols whose counts are equal in each variant
 * have one trip count. */
static guint32 *number_trips(GArray *const *repeats, guint n_variants, GArray *first_symbol)
{
    guint n = repeats[0]->len;
    g_autoptr(GHashTable) numbers =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    g_autofree guint64 *row = g_new(guint64, n_variants);
    guint32 *trip_of = g_new0(guint32, n + 1);
    for (guint y = 0; y < n; y++) {
        gboolean differs = FALSE;
        for (guint i = 0; i < n_variants; i++) {
            row[i] = g_array_index(repeats[i], guint64, y);
            differs |= row[i] != row[0];
        }
        if (!differs)
            continue;
        g_autoptr(GBytes) key = g_bytes_new(row, n_variants * sizeof *row);
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));
        if (!number) {
            g_array_append_val(first_symbol, y);
            g_hash_table_insert(numbers, g_steal_pointer(&key),
                                GUINT_TO_POINTER(number = first_symbol->len));
        }
        trip_of[y] = number;
    }
    return trip_of;
}

Variants *variants_new(guint n, const RankSet *ranks, GArray *const *repeats)
{
    g_autoptr(GArray) first_symbol = g_array_new(FALSE, FALSE, sizeof(guint)); /* by trip */
    guint32 *trip_of = number_trips(repeats, n, first_symbol);
    Variants *v = g_new(Variants, 1);
    *v = (Variants){n, first_symbol->len, g_new0(Variant, n), trip_of};
    for (guint i = 0; i < n; i++) {
        v->variants[i] = (Variant){rankset_copy(&ranks[i]), g_new(guint64, v->n_trips + 1)};
        for (guint t = 0; t < v->n_trips; t++)
            v->variants[i].trips[t] =
                g_array_index(repeats[i], guint64, g_array_index(first_symbol, guint, t));
    }
    return v;
}

/* Joins the candidates' classes into that of the first one. The others may not be used any more. */
static Variants *join(GPtrArray *candidates)
{
    g_ptr_array_sort(candidates, by_lowest);
    g_autofree RankSet *ranks = g_new(RankSet, candidates->len);
    g_autofree GArray **repeats = g_new(GArray *, candidates->len);
    for (guint i = 0; i < candidates->len; i++) {
        const Candidate *c = candidates->pdata[i];
        ranks[i] = c->class->ranks;
        repeats[i] = c->repeats;
    }
    Variants *v = variants_new(candidates->len, ranks, repeats);
    Class *one = ((const Candidate *)candidates->pdata[0])->class;
    for (guint i = 1; i < v->n; i++)
        class_join(one, ((const Candidate *)candidates->pdata[i])->class);
    return v;
}

/* Adds the classes to ALIKE: skeleton -> candidates. */
static gboolean find_alike(const WendMerge *m, GHashTable *alike)
{
    for (guint i = 0; i < m->classes->len; i++) {
        Candidate *c = g_new(Candidate, 1);
        *c = (Candidate){g_ptr_array_index(m->classes, i),
                         g_array_new(FALSE, FALSE, sizeof(guint64))};
        WendBuf b = WEND_BUF_INIT;
        gboolean good = TRUE;
        for (guint q = 0; good && q < c->class->n_sequences; q++)
            good = add_skeleton(&c->class->sequences[q], &b, c->repeats);
        /* a class that is not joined */
        if (class_is_strided(c->class))
            wend_buf_unsigned(&b, rankset_lowest(&c->class->ranks));
        g_autoptr(GBytes) key = g_bytes_new(b.data, b.len);
        good = good && !b.failed;
        wend_buf_clear(&b);
        GPtrArray *candidates = g_hash_table_lookup(alike, key);
        if (!candidates)
            g_hash_table_insert(alike, g_steal_pointer(&key),
                                candidates = g_ptr_array_new_with_free_func(candidate_free));
        g_ptr_array_add(candidates, c);
        if (!good)
            return FALSE;
    }
    return TRUE;
}

static GHashTable *alike_new(void)
{
    return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref,
                                 (GDestroyNotify)g_ptr_array_unref);
}

guint variants_kinds(const WendMerge *m)
{
    g_autoptr(GHashTable) alike = alike_new();
    /* of a damaged grammar variants_join says it */
    return find_alike(m, alike) ? g_hash_table_size(alike) : 0;
}

GHashTable *variants_join(WendMerge *m)
{
    GHashTable *all = g_hash_table_new_full(NULL, NULL, NULL, variants_free);
    if (m->classes->len < 2)
        return all;
    g_autoptr(GHashTable) alike = alike_new();
    if (!find_alike(m, alike)) {
        g_hash_table_unref(all);
        return NULL;
    }
    GHashTableIter iter;
    gpointer value;
    g_free(g_ptr_array_steal(m->classes, NULL)); /* the classes are the candidates' */
    g_hash_table_remove_all(m->by_key);
    g_hash_table_remove_all(m->by_shapes);
    g_hash_table_iter_init(&iter, alike);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        GPtrArray *candidates = value;
        Variants *v = candidates->len > 1 ? join(candidates) : NULL;
        Class *one = ((const Candidate *)candidates->pdata[0])->class;
        if (v)
            g_hash_table_insert(all, one, v);
        g_ptr_array_add(m->classes, one);
        for (guint i = 1; i < candidates->len; i++)
            class_free(((const Candidate *)candidates->pdata[i])->class);
    }
    return all;
}
