/* SPDX-License-Identifier: BSD-3-Clause */
/* derive.c: see derive.h. */
#include "derive.h"

#include "record/words.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Has the slot a pattern? Then it is short already, and may have a million ranks. */
static gboolean has_pattern(const RankVector *v, guint32 n_ranks)
{
    return v->value != RANK_VECTOR_DELTAS || delta_sequence_size(v->deltas) <= n_ranks / 4;
}

/* The least number of slots: three counts, and displacements, which have one of the counts and one
 * sum. */
enum { LEAST = 5 };

static gboolean may_derive(const RankVector *slots, guint n, guint32 n_ranks)
{
    guint without = 0;
    for (guint k = 0; k < n && without < LEAST; k++)
        without += !has_pattern(&slots[k], n_ranks);
    return without == LEAST;
}

/* Sets *NUMBER to the value at the rank with this index. FALSE: it depends on self, or is
 * special. */
static gboolean number_at(const RankVector *v, guint64 index, gint64 *number)
{
    if (v->value == RANK_VECTOR_RELATIVE || v->value == RANK_VECTOR_DELTAS_OF_SELF)
        return FALSE;
    *number = rank_vector_at(v, index, 0);
    return !wend_word_is_special(*number);
}

static void expand(const RankVector *v, guint32 n_ranks, gint64 *words)
{
    for (guint32 r = 0; r < n_ranks; r++)
        words[r] = rank_vector_at(v, r, 0);
}

/* -- arrays across -- */

/* Hashes of windows of N words that roll (Karp and Rabin, "Efficient randomized pattern-matching
 * algorithms", 1987), modulo 2^64. */
static const guint64 base = 0x9e3779b97f4a7c15;

static guint64 rolled(guint64 hash, gint64 word)
{
    return hash * base + ((guint64)word ^ 0x2545f4914f6cdd1d) * 0xd6e8feb86659fd93;
}

static gboolean is_across(const RankVector *a, const RankVector *b, guint32 n)
{
    guint32 constant = 0;
    while (constant < n && rank_vector_is_constant(&b[constant]))
        constant++;
    /* the values do not depend on the rank, and those of a are equal */
    if (constant == n)
        return FALSE;
    for (guint32 i = 0; i < n; i++)
        for (guint32 j = 0; j < n; j++) {
            gint64 x, y;
            if (!number_at(&a[i], j, &x) || !number_at(&b[j], i, &y) || x != y)
                return FALSE;
        }
    return TRUE;
}

/* The values of the first slot of an array are those of the first rank in the slots of the other
 * array. Their hash finds it. */
static gboolean find_across(const RankVector *slots, guint n, guint32 n_ranks, Derived *derived)
{
    gboolean found = FALSE;
    if (n_ranks < 2 || n / 2 < n_ranks)
        return FALSE;
    /* hash -> 1 + its first slot */
    g_autoptr(GHashTable) windows =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    /* hash of the first rank's words of the slots before */
    g_autofree guint64 *until = g_new(guint64, (gsize)n + 1);
    /* by slot: the number of slots before it that are numbers */
    g_autofree guint *known = g_new(guint, (gsize)n + 1);
    guint64 power = 1;
    for (guint32 r = 0; r < n_ranks; r++)
        power *= base;
    until[0] = known[0] = 0;
    for (guint k = 0; k < n; k++) {
        gint64 number = 0;
        known[k + 1] = known[k] + number_at(&slots[k], 0, &number);
        until[k + 1] = rolled(until[k], number);
    }
    guint added = 0;
    for (guint q = n_ranks; q <= n - n_ranks; q++) {
        for (; added + n_ranks <= q; added++) {
            gint64 hash = (gint64)(until[added + n_ranks] - until[added] * power);
            if (known[added + n_ranks] - known[added] == n_ranks)
                g_hash_table_replace(windows, g_memdup2(&hash, sizeof hash),
                                     GUINT_TO_POINTER(added + 1));
        }
        if (has_pattern(&slots[q], n_ranks))
            continue;
        guint64 hash = 0;
        for (guint32 r = 0; r < n_ranks; r++)
            hash = rolled(hash, rank_vector_at(&slots[q], r, 0));
        guint window = GPOINTER_TO_UINT(g_hash_table_lookup(windows, &(gint64){(gint64)hash}));
        if (!window || !is_across(&slots[q], &slots[window - 1], n_ranks))
            continue;
        for (guint32 i = 0; i < n_ranks; i++)
            derived[q + i] = (Derived){DERIVED_ACROSS, q - (window - 1)};
        found = TRUE;
        q += n_ranks - 1;
    }
    return found;
}

/* -- sums -- */

static gboolean subtract(const gint64 *from, const gint64 *what, guint32 n_ranks,
                         gint64 *difference)
{
    for (guint32 r = 0; r < n_ranks; r++)
        if (!rank_vector_word_difference(from[r], what[r], &difference[r]))
            return FALSE;
    return TRUE;
}

static gboolean is_row(const RankVector *v, const gint64 *words, guint32 n_ranks)
{
    for (guint32 r = 0; r < n_ranks; r++)
        if (rank_vector_at(v, r, 0) != words[r])
            return FALSE;
    return TRUE;
}

static gboolean find_sums(const RankVector *slots, guint n, guint32 n_ranks, Derived *derived)
{
    gboolean found = FALSE;
    /* hash of a slot's words -> 1 + slot */
    g_autoptr(GHashTable) by_words =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autofree gint64 *words = g_new(gint64, n_ranks), *before = g_new(gint64, n_ranks),
                      *difference = g_new(gint64, n_ranks);
    for (guint k = 0; k < n; k++) {
        if (has_pattern(&slots[k], n_ranks))
            continue;
        expand(&slots[k], n_ranks, words);
        /* the first displacement is 0, the second one the first count */
        if (k > 0 && !derived[k].kind
            && (rank_vector_is_constant(&slots[k - 1]) || !has_pattern(&slots[k - 1], n_ranks))) {
            expand(&slots[k - 1], n_ranks, before);
            if (subtract(words, before, n_ranks, difference)) {
                gint64 hash = (gint64)XXH3_64bits(difference, n_ranks * sizeof *difference);
                guint32 addend = GPOINTER_TO_UINT(g_hash_table_lookup(by_words, &hash));
                if (addend && is_row(&slots[addend - 1], difference, n_ranks)) {
                    derived[k] = (Derived){DERIVED_SUM, k - (addend - 1)};
                    found = TRUE;
                }
            }
        }
        gint64 hash = (gint64)XXH3_64bits(words, n_ranks * sizeof *words);
        g_hash_table_replace(by_words, g_memdup2(&hash, sizeof hash), GUINT_TO_POINTER(k + 1));
    }
    return found;
}

Derived *derive_slots(const RankVector *slots, guint n, guint32 n_ranks)
{
    if (!may_derive(slots, n, n_ranks))
        return NULL;
    g_autofree Derived *derived = g_new0(Derived, n);
    gboolean across = find_across(slots, n, n_ranks, derived),
             sums = find_sums(slots, n, n_ranks, derived);
    return across || sums ? g_steal_pointer(&derived) : NULL;
}
