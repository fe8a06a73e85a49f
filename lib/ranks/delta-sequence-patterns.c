/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence-patterns.c: delta sequences with patterns for which an archive has a form. */
#include <string.h>

#include "delta-sequence-private.h"

/* -- turned blocks -- */

/* Beyond the slope, word i is higher by TURN, or lower by the rest of the block. */
DeltaSequenceRun turned_run(const Turned *t, guint64 index, guint64 n)
{
    guint64 in_block = index % t->block, wraps = t->block - t->turn,
            end = in_block < wraps ? wraps : t->block;
    gint64 away = in_block < wraps ? (gint64)t->turn : -(gint64)wraps;
    return (DeltaSequenceRun){delta_sequence_sum(delta_sequence_sum(t->base, away),
                                                 delta_sequence_multiple(t->slope, index)),
                              t->slope, MIN(end - in_block, n - index)};
}

gboolean turned_in_range(const Turned *t, guint64 n)
{
    if (t->block > n || t->turn == 0 || t->turn >= t->block || (t->slope & 1) != t->slope)
        return FALSE;
    __extension__ __int128 least = (__int128)t->base - (__int128)t->block,
                           most = (__int128)t->base + (__int128)t->block + (__int128)n;
    return least >= WEND_SPECIAL_BASE && most <= G_MAXINT64;
}

/* Takes the words minus SLOPE × i. Returns the one at *AT, and moves *AT to the first that differs
 * from it. */
static gint64 level_at(const DeltaSequence *s, gint64 slope, guint64 *at)
{
    gint64 level =
        delta_sequence_difference(delta_sequence_at(s, *at), delta_sequence_multiple(slope, *at));
    while (*at < s->n) {
        DeltaSequenceRun run = delta_sequence_run(s, *at);
        if (delta_sequence_difference(run.value, delta_sequence_multiple(slope, *at)) != level)
            break;
        *at += run.count > 1 && run.step == slope ? run.count : 1;
    }
    return level;
}

static gboolean turned_by(const DeltaSequence *s, gint64 slope, Turned *t)
{
    guint64 wraps = 0, end;
    gint64 high = level_at(s, slope, &wraps), away;
    if (wraps == s->n)
        return FALSE;
    end = wraps;
    gint64 low = level_at(s, slope, &end);
    if (wend_word_is_special(high) || wend_word_is_special(low)
        || __builtin_sub_overflow(high, low, &away) || away <= 0 || (guint64)away != end
        || end == wraps)
        return FALSE;
    guint64 turn = end - wraps;
    *t = (Turned){delta_sequence_difference(high, (gint64)turn), slope, end, turn};
    const DeltaSequence candidate = {.n = s->n, .form = OF_TURNED, .turned = t};
    return turned_in_range(t, s->n) && delta_sequence_equal(s, &candidate);
}

gboolean turned_find(const DeltaSequence *s, Turned *t)
{
    return turned_by(s, 1, t) || turned_by(s, 0, t);
}

/* Words at numbers, less SLOPE times the number: in a torus these are two distances, the higher one
 * of those that do not wrap. */
typedef struct {
    const DeltaSequence *words, *numbers; /* the latter + 1 */
    gint64 slope;
} Distances;

/* COUNT numbers that have one distance: FIRST, FIRST + STEP, … 0: a word is special. */
typedef struct {
    guint64 first, step, count;
    gint64 distance;
} DistanceRun;

static DistanceRun distance_run(const Distances *d, guint64 index)
{
    DeltaSequenceRun words = delta_sequence_run(d->words, index),
                     numbers = delta_sequence_run(d->numbers, index);
    DistanceRun run = {(guint64)numbers.value - 1, (guint64)numbers.step, 1, 0};
    run.distance =
        delta_sequence_difference(words.value, delta_sequence_multiple(d->slope, run.first));
    if (wend_word_is_special(words.value))
        run.count = 0;
    else if (words.step == delta_sequence_multiple(d->slope, run.step))
        run.count = MIN(words.count, numbers.count);
    return run;
}

static gboolean two_distances(const Distances *d, gint64 *high, gint64 *low)
{
    DistanceRun run = distance_run(d, 0);
    *high = *low = run.distance;
    for (guint64 i = 0; i < d->words->n && run.count > 0; i += run.count) {
        run = distance_run(d, i);
        if (*low == *high) {
            *low = MIN(run.distance, *low);
            *high = MAX(run.distance, *high);
        }
        if (run.distance != *low && run.distance != *high)
            return FALSE;
    }
    return run.count > 0 && *low < *high;
}

/* Whether the ranks at the end of each block, and no others, have the lower distance. */
static gboolean wraps_so(const Distances *d, gint64 high, const Turned *t)
{
    for (guint64 i = 0; i < d->words->n;) {
        DistanceRun run = distance_run(d, i);
        for (guint64 k = 0; k < run.count; k++) {
            guint64 place = (run.first + run.step * k) % t->block;
            if ((place < t->block - t->turn) != (run.distance == high))
                return FALSE;
        }
        i += run.count;
    }
    return TRUE;
}

DeltaSequence *delta_sequence_complete_torus(const DeltaSequence *words,
                                             const DeltaSequence *numbers, gboolean distances,
                                             gboolean slope, guint64 n)
{
    const Distances d = {words, numbers, distances ? 0 : 1};
    gint64 high, low, away;
    if (!two_distances(&d, &high, &low) || __builtin_sub_overflow(high, low, &away))
        return NULL;
    const Turned t = {0, slope ? 1 : 0, (guint64)away, (guint64)high};
    if (!turned_in_range(&t, n) || !wraps_so(&d, high, &t))
        return NULL;
    DeltaSequence *all = delta_sequence_new_run((DeltaSequenceRun){0, 0, n});
    all->turned = g_memdup2(&t, sizeof t);
    all->form = OF_TURNED;
    return all;
}

/* -- geometric stretches -- */

gboolean geometric_next(gint64 word, gint64 ratio, gint64 *product)
{
    return !wend_word_is_special(word) && !__builtin_mul_overflow(word, ratio, product)
           && !wend_word_is_special(*product);
}

/* Sets *RATIO to WHOLE / PART. FALSE: that is no whole number, or 1 or -1. */
static gboolean ratio_of(gint64 whole, gint64 part, gint64 *ratio)
{
    if (part == 0 || wend_word_is_special(part) || wend_word_is_special(whole) || whole % part)
        return FALSE;
    *ratio = whole / part; /* the least word is special: -1 overflows nothing */
    return *ratio < -1 || *ratio > 1;
}

Geometric geometric_find(const gint64 *words, guint64 n)
{
    Geometric best = {0};
    for (guint64 i = 0, end; i + 1 < n; i = end) {
        Geometric g = {.before = i};
        gint64 product;
        end = i + 1;
        g.falls = !ratio_of(words[end], words[i], &g.ratio);
        if (g.falls && !ratio_of(words[i], words[end], &g.ratio))
            continue;
        for (; end < n; end++) {
            gint64 one = words[g.falls ? end : end - 1], other = words[g.falls ? end - 1 : end];
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
