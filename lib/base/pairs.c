/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.c: see pairs.h. */
#include "pairs.h"

#include "word-hash.h"

Pairs pairs_new(guint32 n_a)
{
    return (Pairs){
        g_hash_table_new_full(wend_word_hash, g_int64_equal, g_free, NULL),
        {g_array_new(FALSE, FALSE, sizeof(guint32)), g_array_new(FALSE, FALSE, sizeof(guint32))},
        n_a,
        g_new0(guint32, (gsize)n_a + 1)};
}

guint32 pairs_number(Pairs *p, guint32 a, guint32 b)
{
    guint32 *last = &p->last[a == PAIR_NONE ? p->n_a : a];
    if (*last && g_array_index(p->of[1], guint32, *last - 1) == b)
        return *last - 1;
    gint64 pair = (gint64)((guint64)a << 32 | b);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(p->numbers, &pair));
    if (!number) {
        g_array_append_val(p->of[0], a);
        g_array_append_val(p->of[1], b);
        number = p->of[0]->len;
        g_hash_table_insert(p->numbers, g_memdup2(&pair, sizeof pair), GUINT_TO_POINTER(number));
    }
    *last = number;
    return number - 1;
}

void pairs_clear(Pairs *p)
{
    for (int k = 0; k < 2; k++)
        g_array_unref(p->of[k]);
    g_hash_table_unref(p->numbers);
    g_free(p->last);
}
