/* rankset.c: sets of ranks as runs. */
#include "rankset.h"

#include <string.h>

RankSet rankset_single(guint32 rank)
{
    return rankset_from_sorted(&rank, 1);
}

RankSet rankset_from_sorted(const guint32 *ranks, guint32 n)
{
    GArray *runs = g_array_new(FALSE, FALSE, sizeof(RankRun));
    for (guint32 i = 0; i < n;) {
        RankRun run = {ranks[i], 1, 1};
        if (i + 1 < n) {
            guint32 step = ranks[i + 1] - ranks[i], count = 2;
            while (i + count < n && ranks[i + count] - ranks[i + count - 1] == step) count++;
            /* A pair with a gap is more often the border of two longer runs than a run. */
            if (count > 2 || step == 1) {
                run.count = count;
                run.step = step;
            }
        }
        i += run.count;
        g_array_append_val(runs, run);
    }
    RankSet s = {.n = n, .n_runs = runs->len};
    s.runs = (RankRun *)g_array_free(runs, FALSE);
    return s;
}

RankSet rankset_copy(const RankSet *s)
{
    RankSet copy = *s;
    copy.runs = g_memdup2(s->runs, s->n_runs * sizeof(RankRun));
    return copy;
}

void rankset_clear(RankSet *s)
{
    g_free(s->runs);
    memset(s, 0, sizeof *s);
}

guint32 *rankset_expand(const RankSet *s)
{
    guint32 *ranks = g_new(guint32, MAX(s->n, 1)), *p = ranks;
    for (guint i = 0; i < s->n_runs; i++)
        for (guint32 k = 0; k < s->runs[i].count; k++) *p++ = s->runs[i].first + k * s->runs[i].step;
    return ranks;
}

guint32 rankset_lowest(const RankSet *s)
{
    return s->runs[0].first;
}

gboolean rankset_contains(const RankSet *s, guint32 rank)
{
    guint low = 0, high = s->n_runs; /* the last run that begins at or before rank */
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (s->runs[middle].first <= rank) low = middle + 1; else high = middle;
    }
    if (low == 0) return FALSE;
    const RankRun *run = &s->runs[low - 1];
    guint32 away = rank - run->first;
    return away % run->step == 0 && away / run->step < run->count;
}

gboolean rankset_equal(const RankSet *a, const RankSet *b)
{
    return a->n == b->n && a->n_runs == b->n_runs && (a->n_runs == 0 || memcmp(a->runs, b->runs, a->n_runs * sizeof(RankRun)) == 0);
}

gboolean ranks_merge(const guint32 *a, guint32 n_a, const guint32 *b, guint32 n_b, guint32 *out)
{
    guint32 i = 0, j = 0;
    while (i < n_a || j < n_b) {
        if (i < n_a && j < n_b && a[i] == b[j]) return FALSE;
        if (j == n_b || (i < n_a && a[i] < b[j])) *out++ = a[i++]; else *out++ = b[j++];
    }
    return TRUE;
}

gboolean rankset_unite(RankSet *a, const RankSet *b)
{
    g_autofree guint32 *ranks_a = rankset_expand(a), *ranks_b = rankset_expand(b);
    g_autofree guint32 *both = g_new(guint32, MAX(a->n + b->n, 1));
    if (!ranks_merge(ranks_a, a->n, ranks_b, b->n, both)) return FALSE;
    RankSet united = rankset_from_sorted(both, a->n + b->n);
    rankset_clear(a);
    *a = united;
    return TRUE;
}

void rankset_encode(const RankSet *s, WendBuf *out)
{
    guint32 last = 0;
    wend_buf_unsigned(out, s->n_runs);
    for (guint i = 0; i < s->n_runs; i++) {
        const RankRun *run = &s->runs[i];
        wend_buf_unsigned(out, run->first - last);
        wend_buf_unsigned(out, run->count);
        if (run->count > 1) wend_buf_unsigned(out, run->step);
        last = run->first + (run->count - 1) * run->step;
    }
}

gboolean rankset_decode(RankSet *s, WendCursor *c, guint32 world)
{
    memset(s, 0, sizeof *s);
    gsize n_runs = wend_read_count(c, 2);
    if (c->failed) return FALSE;
    s->n_runs = n_runs;
    s->runs = g_new(RankRun, MAX(n_runs, 1));
    guint64 next = 0, last = 0; /* next: the lowest rank that may come */
    for (guint i = 0; i < s->n_runs; i++) {
        guint64 first = wend_read_unsigned(c), count = wend_read_unsigned(c);
        guint64 step = count > 1 ? wend_read_unsigned(c) : 1;
        if (first > world || count > world || step > world) c->failed = true;
        first += last;
        last = first + (count - 1) * step;
        if (c->failed || count == 0 || step == 0 || first < next || last >= world) {
            c->failed = true;
            rankset_clear(s);
            return FALSE;
        }
        s->runs[i] = (RankRun){first, count, step};
        s->n += count;
        next = last + 1;
    }
    return TRUE;
}
