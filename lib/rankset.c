/* rankset.c: sets of ranks as series. */
#include "rankset.h"

#include <string.h>

static RankSet from_builder(SeriesBuilder *b)
{
    RankSet s = {.numbers = series_builder_end(b)};
    s.n = s.numbers ? (guint32)series_length(s.numbers) : 0;
    return s;
}

static void add_run(SeriesBuilder *b, RankRun run)
{
    series_builder_add(b, (SeriesRun){(gint64)run.first + 1, run.step, run.count});
}

RankSet rankset_single(guint32 rank)
{
    return (RankSet){1, series_new_run((SeriesRun){(gint64)rank + 1, 0, 1})};
}

RankSet rankset_from_sorted(const guint32 *ranks, guint32 n)
{
    SeriesBuilder *b = series_builder_new();
    for (guint32 i = 0; i < n; i++) add_run(b, (RankRun){ranks[i], 1, 1});
    return from_builder(b);
}

RankSet rankset_copy(const RankSet *s)
{
    return (RankSet){s->n, series_ref(s->numbers)};
}

RankSet rankset_moved(const RankSet *s, guint32 by)
{
    SeriesBuilder *b = series_builder_new();
    for (guint32 i = 0; i < s->n;) {
        RankRun run = rankset_run(s, i);
        i += run.count;
        run.first += by;
        add_run(b, run);
    }
    return from_builder(b);
}

void rankset_clear(RankSet *s)
{
    series_unref(s->numbers);
    memset(s, 0, sizeof *s);
}

RankRun rankset_run(const RankSet *s, guint32 index)
{
    SeriesRun run = series_run(s->numbers, index);
    return (RankRun){(guint32)(run.value - 1), (guint32)run.count, (guint32)run.step};
}

RankRun rankset_stretch(const RankSet *s, guint32 index)
{
    guint32 first = rankset_run(s, index).first, count = 1;
    guint32 step = index + 1 < s->n ? rankset_run(s, index + 1).first - first : 0;
    for (guint32 at = index + 1; step && at < s->n; at = index + count) { /* a run of the series may be only the step to it */
        RankRun more = rankset_run(s, at);
        if (more.first != first + count * step) break;
        gboolean all = more.count == 1 || more.step == step;
        count += all ? more.count : 1;
        if (!all) break;
    }
    return count > 2 || step == 1 ? (RankRun){first, count, step} : (RankRun){first, 1, 1};
}

guint32 *rankset_expand(const RankSet *s)
{
    guint32 *ranks = g_new(guint32, MAX(s->n, 1));
    for (guint32 i = 0; i < s->n;) {
        RankRun run = rankset_run(s, i);
        for (guint32 k = 0; k < run.count; k++) ranks[i++] = run.first + k * run.step;
    }
    return ranks;
}

guint32 rankset_lowest(const RankSet *s)
{
    return rankset_run(s, 0).first;
}

gboolean rankset_find(const RankSet *s, guint32 rank, guint32 *index)
{
    guint64 at;
    if (s->n == 0 || !series_find(s->numbers, (gint64)rank + 1, &at)) return FALSE;
    *index = (guint32)at;
    return TRUE;
}

gboolean rankset_contains(const RankSet *s, guint32 rank)
{
    guint32 index;
    return rankset_find(s, rank, &index);
}

gboolean rankset_equal(const RankSet *a, const RankSet *b)
{
    return a->n == b->n && (a->n == 0 || series_equal(a->numbers, b->numbers));
}

/* -- two sets -- */

gboolean rankset_zip(RankZip *z, int *side, guint32 *index, RankRun *run)
{
    RankRun next[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++)
        if (z->at[k] < z->sets[k]->n) next[k] = rankset_run(z->sets[k], z->at[k]);
    if (!next[0].count && !next[1].count) return FALSE;
    int k = !next[0].count || (next[1].count && next[1].first < next[0].first);
    RankRun one = next[k], other = next[!k];
    if (other.count && one.count > 1) /* up to where the other set goes on */
        one.count = MIN(one.count, (MAX(other.first, one.first + 1) - one.first + one.step - 1) / one.step);
    *side = k;
    *index = z->at[k];
    *run = one;
    z->at[k] += one.count;
    return TRUE;
}

/* FALSE, and a is as it was: they overlap, which they MAY not. */
static gboolean unite(RankSet *a, const RankSet *b, gboolean may)
{
    SeriesBuilder *builder = series_builder_new();
    RankZip zip = {.sets = {a, b}};
    RankRun run;
    int side;
    guint32 index;
    gint64 last = -1;
    gboolean disjoint = TRUE;
    while ((disjoint || may) && rankset_zip(&zip, &side, &index, &run)) {
        if (run.first <= last) { /* the first alone: where the other set goes on a run ends */
            disjoint = FALSE;
            run.first += run.step;
            if (--run.count == 0) continue;
        }
        last = (gint64)run.first + (gint64)(run.count - 1) * run.step;
        add_run(builder, run);
    }
    RankSet united = from_builder(builder);
    RankSet *superfluous = disjoint || may ? a : &united;
    rankset_clear(superfluous);
    if (superfluous == a) *a = united;
    return disjoint;
}

gboolean rankset_unite(RankSet *a, const RankSet *b)
{
    return unite(a, b, FALSE);
}

void rankset_include(RankSet *a, const RankSet *b)
{
    unite(a, b, TRUE);
}

/* -- as bytes -- */

/* Few runs are written one by one; else 0, the number of ranks and the series. */
enum { RUNS_MAX = 3 };

/* The set as stretches. 0: they are more than RUNS_MAX. */
static guint few_runs(const RankSet *s, RankRun *runs)
{
    guint n = 0;
    for (guint32 i = 0; i < s->n; i += runs[n++].count) {
        if (n == RUNS_MAX) return 0;
        runs[n] = rankset_stretch(s, i);
    }
    return n;
}

void rankset_encode(const RankSet *s, WendBuf *out)
{
    RankRun runs[RUNS_MAX];
    guint n = few_runs(s, runs);
    guint32 last = 0;
    wend_buf_unsigned(out, n);
    for (guint i = 0; i < n; i++) {
        wend_buf_unsigned(out, runs[i].first - last);
        wend_buf_unsigned(out, runs[i].count);
        if (runs[i].count > 1) wend_buf_unsigned(out, runs[i].step);
        last = runs[i].first + (runs[i].count - 1) * runs[i].step;
    }
    if (n > 0) return;
    wend_buf_unsigned(out, s->n);
    if (s->n > 0) series_encode(s->numbers, out, NULL);
}

static gboolean decode_runs(SeriesBuilder *b, guint64 n, WendCursor *c, guint32 world)
{
    guint64 next = 0, last = 0; /* next: the lowest rank that may come */
    for (guint64 i = 0; i < n; i++) {
        guint64 first = wend_read_unsigned(c), count = wend_read_unsigned(c);
        guint64 step = count > 1 ? wend_read_unsigned(c) : 1;
        if (c->failed || first > world || count > world || step > world) return FALSE;
        first += last;
        last = first + (count - 1) * step;
        if (count == 0 || step == 0 || first < next || last >= world) return FALSE;
        add_run(b, (RankRun){(guint32)first, (guint32)count, (guint32)step});
        next = last + 1;
    }
    return TRUE;
}

gboolean rankset_decode(RankSet *s, WendCursor *c, guint32 world)
{
    memset(s, 0, sizeof *s);
    guint64 n_runs = wend_read_unsigned(c);
    if (n_runs > 0) {
        SeriesBuilder *b = series_builder_new();
        if (!decode_runs(b, n_runs, c, world)) c->failed = true;
        *s = from_builder(b);
    } else {
        guint64 n = wend_read_unsigned(c);
        s->numbers = c->failed || n == 0 || n > world ? NULL : series_decode(c, n, NULL, 0);
        s->n = (guint32)n;
        if (!s->numbers || !series_ascends(s->numbers, world)) c->failed = true;
    }
    if (c->failed || s->n == 0) {
        c->failed = true;
        rankset_clear(s);
        return FALSE;
    }
    return TRUE;
}
