/* sums.c: see sums.h. */
#include "sums.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What has a pattern is short as it is, and may be of a million ranks. */
static gboolean has_pattern(const Vector *v, guint32 n_ranks)
{
    return v->constant || v->relative || v->of_self || series_size(v->series) <= n_ranks / 4;
}

/* An array of counts and its running sum have as many at least: three counts, of which the displacements have one and a sum. */
enum { LEAST = 5 };

static gboolean may_sum(const Vector *slots, guint n, guint32 n_ranks)
{
    guint without = 0;
    for (guint k = 0; k < n && without < LEAST; k++) without += !has_pattern(&slots[k], n_ranks);
    return without == LEAST;
}

static void expand(const Vector *v, guint32 n_ranks, gint64 *words)
{
    for (guint32 r = 0; r < n_ranks; r++) words[r] = series_at(v->series, r);
}

static gboolean subtract(const gint64 *from, const gint64 *what, guint32 n_ranks, gint64 *difference)
{
    for (guint32 r = 0; r < n_ranks; r++)
        if (!word_difference(from[r], what[r], &difference[r])) return FALSE;
    return TRUE;
}

static gboolean is_row(const Vector *v, const gint64 *words, guint32 n_ranks)
{
    for (guint32 r = 0; r < n_ranks; r++)
        if (series_at(v->series, r) != words[r]) return FALSE;
    return TRUE;
}

guint32 *sums_find(const Vector *slots, guint n, guint32 n_ranks)
{
    if (!may_sum(slots, n, n_ranks)) return NULL;
    g_autoptr(GHashTable) by_words = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL); /* hash of a slot's words -> 1 + slot */
    g_autofree gint64 *words = g_new(gint64, n_ranks), *before = g_new(gint64, n_ranks), *difference = g_new(gint64, n_ranks);
    guint32 *addends = NULL;
    gboolean follows = FALSE;
    for (guint k = 0; k < n; k++) {
        if (has_pattern(&slots[k], n_ranks)) {
            follows = FALSE;
            continue;
        }
        expand(&slots[k], n_ranks, words);
        if (follows && subtract(words, before, n_ranks, difference)) {
            gint64 hash = (gint64)XXH3_64bits(difference, n_ranks * sizeof *difference);
            guint32 addend = GPOINTER_TO_UINT(g_hash_table_lookup(by_words, &hash));
            if (addend && is_row(&slots[addend - 1], difference, n_ranks)) {
                if (!addends) addends = g_new0(guint32, n);
                addends[k] = addend;
            }
        }
        gint64 hash = (gint64)XXH3_64bits(words, n_ranks * sizeof *words);
        g_hash_table_replace(by_words, g_memdup2(&hash, sizeof hash), GUINT_TO_POINTER(k + 1));
        gint64 *free_row = before;
        before = words;
        words = free_row;
        follows = TRUE;
    }
    return addends;
}
