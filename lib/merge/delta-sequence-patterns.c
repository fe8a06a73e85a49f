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
    return (DeltaSequenceRun){
        deltas_sum(deltas_sum(t->base, away), deltas_multiple(t->slope, index)), t->slope,
        MIN(end - in_block, n - index)};
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
    gint64 level = deltas_difference(deltas_at(s, *at), deltas_multiple(slope, *at));
    while (*at < s->n) {
        DeltaSequenceRun run = deltas_run(s, *at);
        if (deltas_difference(run.value, deltas_multiple(slope, *at)) != level)
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
    if (wend_is_special(high) || wend_is_special(low) || __builtin_sub_overflow(high, low, &away)
        || away <= 0 || (guint64)away != end || end == wraps)
        return FALSE;
    guint64 turn = end - wraps;
    *t = (Turned){deltas_difference(high, (gint64)turn), slope, end, turn};
    const DeltaSequence candidate = {.n = s->n, .form = OF_TURNED, .turned = t};
    return turned_in_range(t, s->n) && deltas_equal(s, &candidate);
}

gboolean turned_find(const DeltaSequence *s, Turned *t)
{
    return turned_by(s, 1, t) || turned_by(s, 0, t);
}

/* -- geometric stretches -- */

gboolean geometric_next(gint64 word, gint64 ratio, gint64 *product)
{
    return !wend_is_special(word) && !__builtin_mul_overflow(word, ratio, product)
           && !wend_is_special(*product);
}

/* Sets *RATIO to WHOLE / PART. FALSE: that is no whole number, or 1 or -1. */
static gboolean ratio_of(gint64 whole, gint64 part, gint64 *ratio)
{
    if (part == 0 || wend_is_special(part) || wend_is_special(whole) || whole % part)
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
