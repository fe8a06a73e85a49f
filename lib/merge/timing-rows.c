/* SPDX-License-Identifier: BSD-3-Clause */
/* timing-rows.c: see timing-rows.h. */
#include "timing-rows.h"

/* The number of terminals of a shape, and the row that the first of them had before. */
typedef struct {
    guint64 n;
    guint32 first;
} OfShape;

guint timing_rows(const guint32 *shapes, const guint32 *counts, guint32 *rows, guint n)
{
    /* row before -> 1 + row after; no row has terminals of several shapes */
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    /* -> OfShape */
    g_autoptr(GHashTable) by_shape = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    guint n_rows = 0;
    for (guint i = 0; i < n; i++) {
        OfShape *s = g_hash_table_lookup(by_shape, GUINT_TO_POINTER(shapes[i]));
        if (!s) {
            s = g_new(OfShape, 1);
            *s = (OfShape){0, rows[i]};
            g_hash_table_insert(by_shape, GUINT_TO_POINTER(shapes[i]), s);
        }
        s->n += counts ? counts[i] : 1;
    }
    for (guint i = 0; i < n; i++) {
        const OfShape *s = g_hash_table_lookup(by_shape, GUINT_TO_POINTER(shapes[i]));
        gpointer before = GUINT_TO_POINTER(s->n > WEND_TIMED_APART ? s->first : rows[i]);
        guint row = GPOINTER_TO_UINT(g_hash_table_lookup(known, before));
        if (!row)
            g_hash_table_insert(known, before, GUINT_TO_POINTER(row = ++n_rows));
        rows[i] = row - 1;
    }
    return n_rows;
}

void shared_rows_init(SharedRows *r, guint n_groups, guint n_terminals)
{
    *r = (SharedRows){g_new0(GArray *, n_groups + 1), g_new0(guint32, n_groups + 1),
                      g_new0(guint32, n_terminals + 1), n_groups, 0};
}

void shared_rows_clear(SharedRows *r)
{
    for (guint i = 0; i < r->n_groups; i++)
        g_clear_pointer(&r->of_group[i], g_array_unref);
    g_free(r->of_group);
    g_free(r->likely_of_group);
    g_free(r->likely_of_terminal);
}

guint32 shared_rows_count(const SharedRows *r, guint group)
{
    return r->of_group[group] ? r->of_group[group]->len : 0;
}

guint32 shared_rows_at(const SharedRows *r, guint group, guint32 i)
{
    return g_array_index(r->of_group[group], guint32, i);
}

static guint32 add_row(SharedRows *r, guint group)
{
    if (!r->of_group[group])
        r->of_group[group] = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_array_append_val(r->of_group[group], r->n);
    return r->n++;
}

guint32 shared_rows_likely(const SharedRows *r, guint group, guint32 terminal)
{
    return r->likely_of_terminal[terminal] ? r->likely_of_terminal[terminal]
                                           : r->likely_of_group[group];
}

static void had_row(SharedRows *r, guint group, guint32 terminal, guint32 row)
{
    r->likely_of_group[group] = r->likely_of_terminal[terminal] = row + 1;
}

gint64 shared_rows_encode(SharedRows *r, guint group, guint32 terminal, guint32 row)
{
    gboolean likely = shared_rows_likely(r, group, terminal) == row + 1;
    had_row(r, group, terminal, row);
    if (likely)
        return ROW_LIKELY;
    if (row == r->n) {
        add_row(r, group);
        return ROW_NEW;
    }
    guint32 n = shared_rows_count(r, group), low = 0, high = n; /* the group's rows ascend */
    while (low + 1 < high) {
        guint32 middle = low + (high - low) / 2;
        if (shared_rows_at(r, group, middle) <= row)
            low = middle;
        else
            high = middle;
    }
    return ROW_NEW + (gint64)(n - low);
}

gboolean shared_rows_read(SharedRows *r, guint group, guint32 terminal, gint64 told, guint32 *row)
{
    guint32 n = shared_rows_count(r, group), likely = shared_rows_likely(r, group, terminal);
    if (told < 0 || told > ROW_NEW + (gint64)n || (told == ROW_LIKELY && !likely))
        return FALSE;
    *row = told == ROW_LIKELY ? likely - 1
           : told == ROW_NEW  ? add_row(r, group)
                              : shared_rows_at(r, group, n - (guint32)(told - ROW_NEW));
    had_row(r, group, terminal, *row);
    return TRUE;
}
