/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-times-read.c: reads the part "times of ranks". */
#include "merge/rank-times.h"
#include "merge/timing.h"
#include "program-private.h"

/* Reads N numbers, each at least LEAST and at most MOST. NULL: they are damaged. The caller frees
 * them with g_free. */
static gint64 *read_row(Member *m, guint64 n, gint64 least, gint64 most)
{
    if (m->c.failed || !member_admits(m, n, sizeof(gint64)))
        return NULL;
    AUTO(DeltaSequence) row = delta_sequence_decode(&m->c, n, NULL, 0);
    gint64 *numbers = g_new(gint64, n);
    gboolean good = row != NULL;
    for (guint64 i = 0; good && i < n; i++) {
        numbers[i] = delta_sequence_at(row, i);
        good = numbers[i] >= least && numbers[i] <= most;
    }
    if (good)
        return numbers;
    g_free(numbers);
    return NULL;
}

static gboolean take_ranks(Member *m, WendRankTimes *f, const RankSet *set)
{
    guint32 *ranks = member_block(m, set->n, sizeof *ranks);
    double *seconds = member_block(m, set->n, sizeof *seconds);
    if (!ranks || !seconds)
        return FALSE;
    for (guint32 k = 0; k < set->n;) {
        RankRun run = rankset_stretch(set, k);
        for (guint32 i = 0; i < run.count; i++)
            ranks[k++] = run.first + i * run.step;
    }
    f->n = set->n;
    f->ranks = ranks;
    f->seconds = seconds;
    return TRUE;
}

static gboolean read_each(Member *m, WendRankTimes *of, guint n, const RankSet *sets)
{
    guint64 all = 0;
    for (guint i = 0; i < n; i++) {
        if (!take_ranks(m, &of[i], &sets[i]))
            return FALSE;
        all += sets[i].n;
    }
    g_autofree gint64 *medians = read_row(m, n, 0, G_MAXINT32);
    g_autofree gint64 *codes = medians ? read_row(m, all, -(gint64)G_MAXINT32, G_MAXINT32) : NULL;
    const gint64 *code = codes;
    for (guint i = 0; codes && i < n; i++)
        for (guint k = 0; k < of[i].n; k++) {
            gint64 sum = medians[i] + *code++;
            if (sum < 0 || sum > G_MAXINT32)
                return FALSE;
            of[i].seconds[k] = timing_seconds((guint32)sum, RANK_TIMES_BITS);
        }
    return codes != NULL;
}

/* The ranks of each function, and their times. */
static gboolean read_all_ranks(Member *m, WendRankTimes *of, guint n)
{
    g_autofree RankSet *sets = g_new0(RankSet, n);
    gboolean good = ranksets_decode(sets, n, &m->c, m->p->ranks) && read_each(m, of, n, sets);
    for (guint i = 0; i < n; i++)
        rankset_clear(&sets[i]);
    return good;
}

/* How many ranks have each time, and the extremes. */
static gboolean read_distribution(Member *m, WendRankTimes *of, guint n)
{
    guint64 all = 0, at = 0;
    g_autofree gint64 *lengths = read_row(m, n, 1, G_MAXINT32);
    for (guint i = 0; lengths && i < n; i++)
        all += (guint64)lengths[i];
    g_autofree gint64 *steps = lengths ? read_row(m, all, 0, G_MAXINT32) : NULL,
                      *counts = steps ? read_row(m, all, 1, m->p->ranks) : NULL,
                      *fastest = counts ? read_row(m, n, 0, m->p->ranks - 1) : NULL,
                      *slowest = fastest ? read_row(m, n, 0, m->p->ranks - 1) : NULL;
    for (guint i = 0; slowest && i < n; i++) {
        guint32 *ranks = member_block(m, (guint64)lengths[i], sizeof *ranks);
        double *seconds = member_block(m, (guint64)lengths[i], sizeof *seconds);
        gint64 code = 0;
        if (!ranks || !seconds)
            return FALSE;
        of[i].n = (guint)lengths[i];
        of[i].counts = ranks;
        of[i].seconds = seconds;
        of[i].fastest = (guint32)fastest[i];
        of[i].slowest = (guint32)slowest[i];
        for (guint k = 0; k < of[i].n; k++, at++) {
            code += steps[at];
            if ((k > 0 && steps[at] == 0) || code > G_MAXINT32)
                return FALSE;
            ranks[k] = (guint32)counts[at];
            seconds[k] = timing_seconds((guint32)code, RANK_TIMES_BITS);
        }
    }
    return slowest != NULL;
}

gboolean read_rank_times(Member *m)
{
    WendProgram *p = m->p;
    if (!m->c.failed && m->c.p == m->c.end)
        return TRUE; /* the member has no such part */
    guint64 n = cursor_unsigned(&m->c);
    if (n == 0)
        return !m->c.failed || member_bad(m, "truncated");
    if (n > p->n_functions || p->ranks == 0)
        return member_bad(m, "has more functions than there are");
    WendRankTimes *of = member_block(m, n, sizeof *of);
    g_autofree gint64 *functions = of ? read_row(m, n, 0, p->n_functions - 1) : NULL;
    gboolean good = functions != NULL;
    for (guint i = 0; good && i < n; i++) {
        of[i].function = &p->functions[functions[i]];
        good = i == 0 || functions[i] > functions[i - 1];
    }
    good = good
           && (p->ranks <= RANK_TIMES_EACH ? read_all_ranks(m, of, (guint)n)
                                           : read_distribution(m, of, (guint)n));
    if (!good)
        return member_bad(m, "is damaged");
    p->rank_times = (WendWorldTimes){(guint)n, of};
    return TRUE;
}
