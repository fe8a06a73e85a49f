/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-times-write.c: writes the part "times of ranks". */
#include "write-private.h"

static int by_value(const void *a, const void *b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return x < y ? -1 : x > y;
}

static guint32 median(const FunctionTimes *f)
{
    g_autofree guint32 *codes = g_new(guint32, f->times->len);
    for (guint i = 0; i < f->times->len; i++)
        codes[i] = g_array_index(f->times, RankTime, i).value;
    qsort(codes, f->times->len, sizeof *codes, by_value);
    return codes[f->times->len / 2];
}

static void add(DeltaSequenceBuilder *b, gint64 word)
{
    delta_sequence_builder_add(b, (DeltaSequenceRun){word, 0, 1});
}

/* The ranks of each function, and their codes as differences to the function's median. */
static void put_each(Writer *w, const RankTimes *t)
{
    DeltaSequenceBuilder *medians = delta_sequence_builder_new(),
                         *codes = delta_sequence_builder_new();
    g_autofree RankSet *sets = g_new(RankSet, t->functions->len);
    for (guint i = 0; i < t->functions->len; i++) {
        const FunctionTimes *f = &g_array_index(t->functions, FunctionTimes, i);
        g_autofree guint32 *ranks = g_new(guint32, f->times->len);
        gint64 middle = median(f);
        add(medians, middle);
        for (guint k = 0; k < f->times->len; k++) {
            const RankTime *one = &g_array_index(f->times, RankTime, k);
            ranks[k] = one->key;
            add(codes, (gint64)one->value - middle);
        }
        sets[i] = rankset_from_sorted(ranks, f->times->len);
    }
    ranksets_encode(sets, t->functions->len, &w->out);
    delta_sequence_builder_encode(medians, &w->out, NULL);
    delta_sequence_builder_encode(codes, &w->out, NULL);
    for (guint i = 0; i < t->functions->len; i++)
        rankset_clear(&sets[i]);
}

/* How many ranks have each code, and the extremes. */
static void put_distribution(Writer *w, const RankTimes *t)
{
    enum { LENGTH, CODE, RANKS, FASTEST, SLOWEST, COLUMNS };
    DeltaSequenceBuilder *columns[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        columns[c] = delta_sequence_builder_new();
    for (guint i = 0; i < t->functions->len; i++) {
        const FunctionTimes *f = &g_array_index(t->functions, FunctionTimes, i);
        guint32 last = 0;
        add(columns[LENGTH], f->times->len);
        add(columns[FASTEST], f->fastest);
        add(columns[SLOWEST], f->slowest);
        for (guint k = 0; k < f->times->len; k++) {
            const RankTime *one = &g_array_index(f->times, RankTime, k);
            add(columns[CODE], (gint64)one->key - last);
            add(columns[RANKS], one->value);
            last = one->key;
        }
    }
    for (int c = 0; c < COLUMNS; c++)
        delta_sequence_builder_encode(columns[c], &w->out, NULL);
}

void write_rank_times(Writer *w)
{
    const RankTimes *t = w->r->merge->rank_times;
    wend_buf_unsigned(&w->out, t->functions->len);
    if (t->functions->len == 0)
        return;
    DeltaSequenceBuilder *functions = delta_sequence_builder_new();
    for (guint i = 0; i < t->functions->len; i++)
        add(functions, w->function_number[g_array_index(t->functions, FunctionTimes, i).function]);
    delta_sequence_builder_encode(functions, &w->out, NULL);
    if (rank_times_each(t))
        put_each(w, t);
    else
        put_distribution(w, t);
}
