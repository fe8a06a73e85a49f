/* SPDX-License-Identifier: BSD-3-Clause */
/* derive.c: see derive.h. */
#include "derive.h"

#include "record/words.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Has the slot a pattern? Then it is short already, and may have a million ranks. */
static bool has_pattern(const RankVector *v, uint32_t n_ranks)
{
    return v->value != RANK_VECTOR_DELTAS || delta_sequence_size(v->deltas) <= n_ranks / 4;
}

/* The least number of slots: three counts, and displacements, which have one of the counts and one
 * sum. */
enum { LEAST = 5 };

static bool may_derive(const RankVector *slots, uint32_t n, uint32_t n_ranks)
{
    uint32_t without = 0;
    for (uint32_t k = 0; k < n && without < LEAST; k++)
        without += !has_pattern(&slots[k], n_ranks);
    return without == LEAST;
}

/* Sets *NUMBER to the value at the rank with this index. false: it depends on self, or is
 * special. */
static bool number_at(const RankVector *v, uint64_t index, int64_t *number)
{
    if (v->value == RANK_VECTOR_RELATIVE || v->value == RANK_VECTOR_DELTAS_OF_SELF)
        return false;
    *number = rank_vector_at(v, index, 0);
    return !word_is_special(*number);
}

static void expand(const RankVector *v, uint32_t n_ranks, int64_t *words)
{
    for (uint32_t r = 0; r < n_ranks; r++)
        words[r] = rank_vector_at(v, r, 0);
}

/* -- arrays across -- */

/* Hashes of windows of N words that roll (Karp and Rabin, "Efficient randomized pattern-matching
 * algorithms", 1987), modulo 2^64. */
static const uint64_t base = 0x9e3779b97f4a7c15;

static uint64_t rolled(uint64_t hash, int64_t word)
{
    return hash * base + ((uint64_t)word ^ 0x2545f4914f6cdd1d) * 0xd6e8feb86659fd93;
}

static bool is_across(const RankVector *a, const RankVector *b, uint32_t n)
{
    uint32_t constant = 0;
    while (constant < n && rank_vector_is_constant(&b[constant]))
        constant++;
    /* the values do not depend on the rank, and those of a are equal */
    if (constant == n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            int64_t x, y;
            if (!number_at(&a[i], j, &x) || !number_at(&b[j], i, &y) || x != y)
                return false;
        }
    return true;
}

/* The values of the first slot of an array are those of the first rank in the slots of the other
 * array. Their hash finds it. */
static bool find_across(const RankVector *slots, uint32_t n, uint32_t n_ranks, Derived *derived)
{
    bool found = false;
    if (n_ranks < 2 || n / 2 < n_ranks)
        return false;
    /* hash -> 1 + its first slot */
    AUTO(Map) windows = map_new(map_word_hash, map_word_equal, memory_free, NULL);
    /* hash of the first rank's words of the slots before */
    AUTOFREE uint64_t *until = NEW(uint64_t, (size_t)n + 1);
    /* by slot: the number of slots before it that are numbers */
    AUTOFREE uint32_t *known = NEW(uint32_t, (size_t)n + 1);
    uint64_t power = 1;
    for (uint32_t r = 0; r < n_ranks; r++)
        power *= base;
    until[0] = known[0] = 0;
    for (uint32_t k = 0; k < n; k++) {
        int64_t number = 0;
        known[k + 1] = known[k] + number_at(&slots[k], 0, &number);
        until[k + 1] = rolled(until[k], number);
    }
    uint32_t added = 0;
    for (uint32_t q = n_ranks; q <= n - n_ranks; q++) {
        for (; added + n_ranks <= q; added++) {
            int64_t hash = (int64_t)(until[added + n_ranks] - until[added] * power);
            if (known[added + n_ranks] - known[added] == n_ranks)
                map_replace(windows, memory_copy(&hash, sizeof hash), OF_NUMBER(added + 1));
        }
        if (has_pattern(&slots[q], n_ranks))
            continue;
        uint64_t hash = 0;
        for (uint32_t r = 0; r < n_ranks; r++)
            hash = rolled(hash, rank_vector_at(&slots[q], r, 0));
        uint32_t window = NUMBER_OF(map_get(windows, &(int64_t){(int64_t)hash}));
        if (!window || !is_across(&slots[q], &slots[window - 1], n_ranks))
            continue;
        for (uint32_t i = 0; i < n_ranks; i++)
            derived[q + i] = (Derived){DERIVED_ACROSS, q - (window - 1)};
        found = true;
        q += n_ranks - 1;
    }
    return found;
}

/* -- sums -- */

static bool subtract(const int64_t *from, const int64_t *what, uint32_t n_ranks,
                     int64_t *difference)
{
    for (uint32_t r = 0; r < n_ranks; r++)
        if (!rank_vector_word_difference(from[r], what[r], &difference[r]))
            return false;
    return true;
}

static bool is_row(const RankVector *v, const int64_t *words, uint32_t n_ranks)
{
    for (uint32_t r = 0; r < n_ranks; r++)
        if (rank_vector_at(v, r, 0) != words[r])
            return false;
    return true;
}

static bool find_sums(const RankVector *slots, uint32_t n, uint32_t n_ranks, Derived *derived)
{
    bool found = false;
    /* hash of a slot's words -> 1 + slot */
    AUTO(Map) by_words = map_new(map_word_hash, map_word_equal, memory_free, NULL);
    AUTOFREE int64_t *words = NEW(int64_t, n_ranks), *before = NEW(int64_t, n_ranks),
                     *difference = NEW(int64_t, n_ranks);
    for (uint32_t k = 0; k < n; k++) {
        if (has_pattern(&slots[k], n_ranks))
            continue;
        expand(&slots[k], n_ranks, words);
        /* the first displacement is 0, the second one the first count */
        if (k > 0 && !derived[k].kind
            && (rank_vector_is_constant(&slots[k - 1]) || !has_pattern(&slots[k - 1], n_ranks))) {
            expand(&slots[k - 1], n_ranks, before);
            if (subtract(words, before, n_ranks, difference)) {
                int64_t hash = (int64_t)XXH3_64bits(difference, n_ranks * sizeof *difference);
                uint32_t addend = NUMBER_OF(map_get(by_words, &hash));
                if (addend && is_row(&slots[addend - 1], difference, n_ranks)) {
                    derived[k] = (Derived){DERIVED_SUM, k - (addend - 1)};
                    found = true;
                }
            }
        }
        int64_t hash = (int64_t)XXH3_64bits(words, n_ranks * sizeof *words);
        map_replace(by_words, memory_copy(&hash, sizeof hash), OF_NUMBER(k + 1));
    }
    return found;
}

Derived *derive_slots(const RankVector *slots, uint32_t n, uint32_t n_ranks)
{
    if (!may_derive(slots, n, n_ranks))
        return NULL;
    AUTOFREE Derived *derived = NEW0(Derived, n);
    bool across = find_across(slots, n, n_ranks, derived),
         sums = find_sums(slots, n, n_ranks, derived);
    return across || sums ? STEAL(derived) : NULL;
}
