/* SPDX-License-Identifier: BSD-3-Clause */
/* rankset.c: see rankset.h. */
#include "base/allowance.h"
#include "rankset.h"

#include <string.h>

static RankSet from_builder(DeltaSequenceBuilder *b)
{
    RankSet s = {.numbers = delta_sequence_builder_end(b)};
    s.n = s.numbers ? (uint32_t)delta_sequence_length(s.numbers) : 0;
    return s;
}

static void add_run(DeltaSequenceBuilder *b, RankRun run)
{
    delta_sequence_builder_add(b, (DeltaSequenceRun){(int64_t)run.first + 1, run.step, run.count});
}

RankSet rankset_single(uint32_t rank)
{
    return (RankSet){1, delta_sequence_new_run((DeltaSequenceRun){(int64_t)rank + 1, 0, 1})};
}

RankSet rankset_from_sorted(const uint32_t *ranks, uint32_t n)
{
    DeltaSequenceBuilder *b = delta_sequence_builder_new();
    for (uint32_t i = 0; i < n; i++)
        add_run(b, (RankRun){ranks[i], 1, 1});
    return from_builder(b);
}

RankSet rankset_copy(const RankSet *s)
{
    return (RankSet){s->n, delta_sequence_ref(s->numbers)};
}

RankSet rankset_moved(const RankSet *s, uint32_t by)
{
    DeltaSequenceBuilder *b = delta_sequence_builder_new();
    for (uint32_t i = 0; i < s->n;) {
        RankRun run = rankset_run(s, i);
        i += run.count;
        run.first += by;
        add_run(b, run);
    }
    return from_builder(b);
}

void rankset_clear(RankSet *s)
{
    delta_sequence_unref(s->numbers);
    memset(s, 0, sizeof *s);
}

RankRun rankset_run(const RankSet *s, uint32_t index)
{
    DeltaSequenceRun run = delta_sequence_run(s->numbers, index);
    return (RankRun){(uint32_t)(run.value - 1), (uint32_t)run.count, (uint32_t)run.step};
}

RankRun rankset_stretch(const RankSet *s, uint32_t index)
{
    uint32_t first = rankset_run(s, index).first, count = 1;
    uint32_t step = index + 1 < s->n ? rankset_run(s, index + 1).first - first : 0;
    /* the delta sequence may have the step to a run as a run of its own */
    for (uint32_t at = index + 1; step && at < s->n; at = index + count) {
        RankRun more = rankset_run(s, at);
        if (more.first != first + count * step)
            break;
        bool all = more.count == 1 || more.step == step;
        count += all ? more.count : 1;
        if (!all)
            break;
    }
    return count > 2 || step == 1 ? (RankRun){first, count, step} : (RankRun){first, 1, 1};
}

uint32_t *rankset_expand(const RankSet *s)
{
    uint32_t *ranks = NEW(uint32_t, MAX(s->n, 1));
    for (uint32_t i = 0; i < s->n;) {
        RankRun run = rankset_run(s, i);
        for (uint32_t k = 0; k < run.count; k++)
            ranks[i++] = run.first + k * run.step;
    }
    return ranks;
}

uint32_t rankset_lowest(const RankSet *s)
{
    return rankset_run(s, 0).first;
}

bool rankset_find(const RankSet *s, uint32_t rank, uint32_t *index)
{
    uint64_t at;
    if (s->n == 0 || !delta_sequence_find(s->numbers, (int64_t)rank + 1, &at))
        return false;
    *index = (uint32_t)at;
    return true;
}

bool rankset_contains(const RankSet *s, uint32_t rank)
{
    uint32_t index;
    return rankset_find(s, rank, &index);
}

bool rankset_equal(const RankSet *a, const RankSet *b)
{
    return a->n == b->n && (a->n == 0 || delta_sequence_equal(a->numbers, b->numbers));
}

/* -- two sets -- */

bool rankset_zip(RankZip *z, int *side, uint32_t *index, RankRun *run)
{
    RankRun next[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++)
        if (z->at[k] < z->sets[k]->n)
            next[k] = rankset_run(z->sets[k], z->at[k]);
    if (!next[0].count && !next[1].count)
        return false;
    int k = !next[0].count || (next[1].count && next[1].first < next[0].first);
    RankRun one = next[k], other = next[!k];
    if (other.count && one.count > 1) /* up to the next rank of the other set */
        one.count =
            MIN(one.count, (MAX(other.first, one.first + 1) - one.first + one.step - 1) / one.step);
    *side = k;
    *index = z->at[k];
    *run = one;
    z->at[k] += one.count;
    return true;
}

/* Adds the ranks of B to A. MAY: they may overlap. false: they overlap but may not, and A is
 * unchanged. */
static bool unite(RankSet *a, const RankSet *b, bool may)
{
    DeltaSequenceBuilder *builder = delta_sequence_builder_new();
    RankZip zip = {.sets = {a, b}};
    RankRun run;
    int side;
    uint32_t index;
    int64_t last = -1;
    bool disjoint = true;
    while ((disjoint || may) && rankset_zip(&zip, &side, &index, &run)) {
        if (run.first
            <= last) { /* only the first can be: a run ends at the other set's next rank */
            disjoint = false;
            run.first += run.step;
            if (--run.count == 0)
                continue;
        }
        last = (int64_t)run.first + (int64_t)(run.count - 1) * run.step;
        add_run(builder, run);
    }
    RankSet united = from_builder(builder);
    RankSet *superfluous = disjoint || may ? a : &united;
    rankset_clear(superfluous);
    if (superfluous == a)
        *a = united;
    return disjoint;
}

bool rankset_unite(RankSet *a, const RankSet *b)
{
    return unite(a, b, false);
}

void rankset_include(RankSet *a, const RankSet *b)
{
    unite(a, b, true);
}

/* -- as bytes -- */

/* Up to this number of runs are written one by one. Otherwise 0, the number of ranks and the delta
 * sequence are written. */
enum { RUNS_MAX = 3 };

/* The set as stretches; returns their number, or 0 if they are more than RUNS_MAX. */
static uint32_t few_runs(const RankSet *s, RankRun *runs)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i += runs[n++].count) {
        if (n == RUNS_MAX)
            return 0;
        runs[n] = rankset_stretch(s, i);
    }
    return n;
}

static void encode(const RankSet *s, WendBuf *out, bool shortest)
{
    RankRun runs[RUNS_MAX];
    uint32_t n = few_runs(s, runs);
    uint32_t last = 0;
    buf_unsigned(out, n);
    for (uint32_t i = 0; i < n; i++) {
        buf_unsigned(out, runs[i].first - last);
        buf_unsigned(out, runs[i].count);
        if (runs[i].count > 1)
            buf_unsigned(out, runs[i].step);
        last = runs[i].first + (runs[i].count - 1) * runs[i].step;
    }
    if (n > 0)
        return;
    buf_unsigned(out, s->n);
    if (s->n == 0)
        return;
    if (shortest)
        delta_sequence_encode_shortest(s->numbers, out, NULL);
    else
        delta_sequence_encode(s->numbers, out, NULL);
}

void rankset_encode(const RankSet *s, WendBuf *out)
{
    encode(s, out, false);
}

void rankset_encode_shortest(const RankSet *s, WendBuf *out)
{
    encode(s, out, true);
}

/* Bytes that a run takes while a set is made from it. */
enum { RUN_MEMORY = 128 };

/* Adds a run of an archive. Its first rank must be *NEXT or higher; *NEXT becomes the lowest rank
 * that may follow. false: the run is invalid, or exceeds WORLD. */
static bool add_checked_run(DeltaSequenceBuilder *b, uint64_t first, uint64_t count, uint64_t step,
                            uint64_t *next, uint32_t world)
{
    if (first < *next || first >= world || count == 0 || count > world || step == 0 || step > world)
        return false;
    uint64_t last = first + (count - 1) * step; /* world is at most RANKSET_MAX */
    if (last >= world)
        return false;
    add_run(b, (RankRun){(uint32_t)first, (uint32_t)count, (uint32_t)step});
    *next = last + 1;
    return true;
}

static bool decode_runs(DeltaSequenceBuilder *b, uint64_t n, WendCursor *c, uint32_t world)
{
    uint64_t next = 0, last = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t first = cursor_unsigned(c), count = cursor_unsigned(c);
        uint64_t step = count > 1 ? cursor_unsigned(c) : 1;
        if (c->failed || first > world || !allowance_take(c->allowance, 1, RUN_MEMORY)
            || !add_checked_run(b, last + first, count, step, &next, world))
            return false;
        last = next - 1;
    }
    return true;
}

bool rankset_decode(RankSet *s, WendCursor *c, uint32_t world)
{
    memset(s, 0, sizeof *s);
    uint64_t n_runs = cursor_unsigned(c);
    if (n_runs > 0) {
        DeltaSequenceBuilder *b = delta_sequence_builder_new();
        if (!decode_runs(b, n_runs, c, world))
            c->failed = true;
        *s = from_builder(b);
    } else {
        uint64_t n = cursor_unsigned(c);
        s->numbers = c->failed || n == 0 || n > world ? NULL : delta_sequence_decode(c, n, NULL, 0);
        s->n = (uint32_t)n;
        if (!s->numbers || !delta_sequence_ascends(s->numbers, world))
            c->failed = true;
    }
    if (c->failed || s->n == 0) {
        c->failed = true;
        rankset_clear(s);
        return false;
    }
    return true;
}

/* -- several -- */

/* The stretch from INDEX on. A set of only two ranks is one run, also with a gap between them. */
static RankRun row_run(const RankSet *s, uint32_t index)
{
    if (s->n != 2)
        return rankset_stretch(s, index);
    uint32_t first = rankset_lowest(s);
    return (RankRun){first, 2, rankset_run(s, 1).first - first};
}

static bool encode_columns(const RankSet *sets, uint32_t n, WendBuf *out)
{
    enum { RUNS, FIRST, COUNT, STEP, COLUMNS };
    DeltaSequenceBuilder *columns[COLUMNS];
    bool few = true;
    for (int k = 0; k < COLUMNS; k++)
        columns[k] = delta_sequence_builder_new();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t runs = 0;
        for (uint32_t at = 0; few && at < sets[i].n; runs++) {
            RankRun run = row_run(&sets[i], at);
            const int64_t words[] = {run.first, run.count, run.step};
            for (int k = FIRST; k < COLUMNS; k++)
                delta_sequence_builder_add(columns[k], (DeltaSequenceRun){words[k - FIRST], 0, 1});
            at += run.count;
            few = runs < RUNS_MAX;
        }
        delta_sequence_builder_add(columns[RUNS], (DeltaSequenceRun){runs, 0, 1});
    }
    WendBuf told = WEND_BUF_INIT;
    for (int k = 0; k < COLUMNS; k++)
        delta_sequence_builder_encode(columns[k], &told, NULL);
    if (few)
        buf_bytes(out, told.data, told.len);
    buf_clear(&told);
    return few;
}

void ranksets_encode(const RankSet *sets, uint32_t n, WendBuf *out)
{
    size_t before = out->len;
    WendBuf columns = WEND_BUF_INIT;
    buf_unsigned(out, false);
    for (uint32_t i = 0; i < n; i++)
        rankset_encode_shortest(&sets[i], out);
    buf_unsigned(&columns, true);
    if (encode_columns(sets, n, &columns))
        buf_shorten(out, before, &columns);
    else
        buf_clear(&columns);
}

/* Reads a column of N words. NULL: damaged. */
static DeltaSequence *decode_column(WendCursor *c, uint64_t n)
{
    return n > 0 && !c->failed ? delta_sequence_decode(c, n, NULL, 0) : NULL;
}

static bool decode_columns(RankSet *sets, uint32_t n, WendCursor *c, uint32_t world)
{
    uint64_t n_runs = 0;
    AUTO(DeltaSequence) runs = decode_column(c, n);
    for (uint32_t i = 0; i < n; i++) {
        int64_t own = runs ? delta_sequence_at(runs, i) : -1;
        if (own < 0 || own > world)
            return false;
        n_runs += (uint64_t)own;
    }
    if (!allowance_take(c->allowance, n_runs, RUN_MEMORY))
        return false;
    AUTO(DeltaSequence)
    firsts = decode_column(c, n_runs), counts = firsts ? decode_column(c, n_runs) : NULL,
    steps = counts ? decode_column(c, n_runs) : NULL;
    if (!steps)
        return n_runs == 0 && !c->failed;
    for (uint32_t i = 0, run = 0; i < n; i++) {
        DeltaSequenceBuilder *b = delta_sequence_builder_new();
        uint64_t next = 0;
        bool good = true;
        /* as an unsigned number a negative word is too large */
        for (int64_t left = delta_sequence_at(runs, i); left > 0 && good; left--, run++)
            good = add_checked_run(b, (uint64_t)delta_sequence_at(firsts, run),
                                   (uint64_t)delta_sequence_at(counts, run),
                                   (uint64_t)delta_sequence_at(steps, run), &next, world);
        sets[i] = from_builder(b);
        if (!good)
            return false;
    }
    return true;
}

bool ranksets_decode(RankSet *sets, uint32_t n, WendCursor *c, uint32_t world)
{
    uint64_t columns = cursor_unsigned(c);
    memset(sets, 0, n * sizeof *sets);
    if (c->failed || columns > 1)
        return false;
    bool good = !columns || decode_columns(sets, n, c, world);
    for (uint32_t i = 0; good && !columns && i < n; i++)
        good = rankset_decode(&sets[i], c, world);
    for (uint32_t i = 0; good && i < n; i++)
        good = sets[i].n > 0;
    return good;
}
