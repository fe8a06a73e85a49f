/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence-patterns.c: delta sequences with patterns for which an archive has a form. */
#include <string.h>

#include "delta-sequence-private.h"

/* -- turned blocks -- */

/* Beyond the slope, word i is higher by TURN, or lower by the rest of the block. */
DeltaSequenceRun turned_run(const Turned *t, uint64_t index, uint64_t n)
{
    uint64_t in_block = index % t->block, wraps = t->block - t->turn,
             end = in_block < wraps ? wraps : t->block;
    int64_t away = in_block < wraps ? (int64_t)t->turn : -(int64_t)wraps;
    return (DeltaSequenceRun){delta_sequence_sum(delta_sequence_sum(t->base, away),
                                                 delta_sequence_multiple(t->slope, index)),
                              t->slope, MIN(end - in_block, n - index)};
}

bool turned_in_range(const Turned *t, uint64_t n)
{
    if (t->block > n || t->turn == 0 || t->turn >= t->block || (t->slope & 1) != t->slope)
        return false;
    __extension__ __int128 least = (__int128)t->base - (__int128)t->block,
                           most = (__int128)t->base + (__int128)t->block + (__int128)n;
    return least >= WEND_SPECIAL_BASE && most <= INT64_MAX;
}

/* Takes the words minus SLOPE × i. Returns the one at *AT, and moves *AT to the first that differs
 * from it. */
static int64_t level_at(const DeltaSequence *s, int64_t slope, uint64_t *at)
{
    int64_t level =
        delta_sequence_difference(delta_sequence_at(s, *at), delta_sequence_multiple(slope, *at));
    while (*at < s->n) {
        DeltaSequenceRun run = delta_sequence_run(s, *at);
        if (delta_sequence_difference(run.value, delta_sequence_multiple(slope, *at)) != level)
            break;
        *at += run.count > 1 && run.step == slope ? run.count : 1;
    }
    return level;
}

static bool turned_by(const DeltaSequence *s, int64_t slope, Turned *t)
{
    uint64_t wraps = 0, end;
    int64_t high = level_at(s, slope, &wraps), away;
    if (wraps == s->n)
        return false;
    end = wraps;
    int64_t low = level_at(s, slope, &end);
    if (word_is_special(high) || word_is_special(low) || __builtin_sub_overflow(high, low, &away)
        || away <= 0 || (uint64_t)away != end || end == wraps)
        return false;
    uint64_t turn = end - wraps;
    *t = (Turned){delta_sequence_difference(high, (int64_t)turn), slope, end, turn};
    const DeltaSequence candidate = {.n = s->n, .form = OF_TURNED, .turned = t};
    return turned_in_range(t, s->n) && delta_sequence_equal(s, &candidate);
}

bool turned_find(const DeltaSequence *s, Turned *t)
{
    return turned_by(s, 1, t) || turned_by(s, 0, t);
}

/* Words at numbers, less SLOPE times the number: in a torus these are two distances, the higher one
 * of those that do not wrap. */
typedef struct {
    const DeltaSequence *words, *numbers; /* the latter + 1 */
    int64_t slope;
} Distances;

/* COUNT numbers that have one distance: FIRST, FIRST + STEP, … 0: a word is special. */
typedef struct {
    uint64_t first, step, count;
    int64_t distance;
} DistanceRun;

static DistanceRun distance_run(const Distances *d, uint64_t index)
{
    DeltaSequenceRun words = delta_sequence_run(d->words, index),
                     numbers = delta_sequence_run(d->numbers, index);
    DistanceRun run = {(uint64_t)numbers.value - 1, (uint64_t)numbers.step, 1, 0};
    run.distance =
        delta_sequence_difference(words.value, delta_sequence_multiple(d->slope, run.first));
    if (word_is_special(words.value))
        run.count = 0;
    else if (words.step == delta_sequence_multiple(d->slope, run.step))
        run.count = MIN(words.count, numbers.count);
    return run;
}

static bool two_distances(const Distances *d, int64_t *high, int64_t *low)
{
    DistanceRun run = distance_run(d, 0);
    *high = *low = run.distance;
    for (uint64_t i = 0; i < d->words->n && run.count > 0; i += run.count) {
        run = distance_run(d, i);
        if (*low == *high) {
            *low = MIN(run.distance, *low);
            *high = MAX(run.distance, *high);
        }
        if (run.distance != *low && run.distance != *high)
            return false;
    }
    return run.count > 0 && *low < *high;
}

/* Whether the ranks at the end of each block, and no others, have the lower distance. */
static bool wraps_so(const Distances *d, int64_t high, const Turned *t)
{
    for (uint64_t i = 0; i < d->words->n;) {
        DistanceRun run = distance_run(d, i);
        for (uint64_t k = 0; k < run.count; k++) {
            uint64_t place = (run.first + run.step * k) % t->block;
            if ((place < t->block - t->turn) != (run.distance == high))
                return false;
        }
        i += run.count;
    }
    return true;
}

DeltaSequence *delta_sequence_complete_torus(const DeltaSequence *words,
                                             const DeltaSequence *numbers, bool distances,
                                             bool slope, uint64_t n)
{
    const Distances d = {words, numbers, distances ? 0 : 1};
    int64_t high, low, away;
    if (!two_distances(&d, &high, &low) || __builtin_sub_overflow(high, low, &away))
        return NULL;
    const Turned t = {0, slope ? 1 : 0, (uint64_t)away, (uint64_t)high};
    if (!turned_in_range(&t, n) || !wraps_so(&d, high, &t))
        return NULL;
    DeltaSequence *all = delta_sequence_new_run((DeltaSequenceRun){0, 0, n});
    all->turned = memory_copy(&t, sizeof t);
    all->form = OF_TURNED;
    return all;
}

/* -- geometric stretches -- */

bool geometric_next(int64_t word, int64_t ratio, int64_t *product)
{
    return !word_is_special(word) && !__builtin_mul_overflow(word, ratio, product)
           && !word_is_special(*product);
}

/* Sets *RATIO to WHOLE / PART. false: that is no whole number, or 1 or -1. */
static bool ratio_of(int64_t whole, int64_t part, int64_t *ratio)
{
    if (part == 0 || word_is_special(part) || word_is_special(whole) || whole % part)
        return false;
    *ratio = whole / part; /* the least word is special: -1 overflows nothing */
    return *ratio < -1 || *ratio > 1;
}

Geometric geometric_find(const int64_t *words, uint64_t n)
{
    Geometric best = {0};
    for (uint64_t i = 0, end; i + 1 < n; i = end) {
        Geometric g = {.before = i};
        int64_t product;
        end = i + 1;
        g.falls = !ratio_of(words[end], words[i], &g.ratio);
        if (g.falls && !ratio_of(words[i], words[end], &g.ratio))
            continue;
        for (; end < n; end++) {
            int64_t one = words[g.falls ? end : end - 1], other = words[g.falls ? end - 1 : end];
            if (!geometric_next(one, g.ratio, &product) || other != product)
                break;
        }
        g.count = end - i;
        if (g.count > best.count)
            best = g;
        end--; /* the last one may begin another */
    }
    return best;
}
