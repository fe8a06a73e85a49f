/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-table.c: see show.h. wend-show(1) documents the columns of the CSV. */
#include "config.h"

#include "show.h"

#include <string.h>

#include "src/command/text.h"

/* How long the threads of RANK ran, from MPI_Init to MPI_Finalize. Negative: it is not known. */
static double seconds_of_run(WendRead *r, guint world, guint rank)
{
    const WendReadFacts *facts;
    const WendReadRank *info;
    const WendReadSequence *s;
    guint threads = 0;
    if (wend_read_facts(r, world, &facts) < 0 || wend_read_rank(r, rank, &info) < 0)
        return -1;
    double elapsed = facts->elapsed;
    guint n = info->n_sequences;
    for (guint i = 0; i < n; i++)
        if (wend_read_sequence(r, rank, i, &s) == WEND_READ_OK && !s->callback)
            threads++;
    return threads > 0 && elapsed > 0 ? elapsed * threads : -1;
}

/* Are the times of the function part of the time in MPI? As in the shares of wend show. */
static gboolean counts(const WendReadFunction *f)
{
    return (f->flags & WEND_READ_LIFETIME) == 0;
}

/* -- as CSV: each time -- */

static void put_csv(GString *out, WendRead *r, guint world, const WendReadRankTimes *t)
{
    for (guint i = 0; i < t->n; i++) {
        g_string_append_printf(out, "%u,%s,", world, t->function->name);
        if (t->ranks != NULL)
            g_string_append_printf(out, "%u,1", t->ranks[i]);
        else if (t->n > 1 && (i == 0 || i == t->n - 1))
            g_string_append_printf(out, "%u,%u", i == 0 ? t->fastest : t->slowest, t->counts[i]);
        else
            g_string_append_printf(out, ",%u", t->counts[i]);
        g_string_append_c(out, ',');
        text_double(out, "%.3g", t->seconds[i]);
        g_string_append_c(out, ',');
        double run =
            t->ranks != NULL && counts(t->function) ? seconds_of_run(r, world, t->ranks[i]) : -1;
        if (run > 0)
            text_double(out, "%.3g", t->seconds[i] / run);
        g_string_append_c(out, '\n');
    }
}

/* -- for people: the extremes of each function, and the ranks that were in MPI longest -- */

typedef struct {
    double seconds;
    guint rank, ranks; /* RANKS: with this time */
} RankSeconds;

static gint by_seconds(gconstpointer a, gconstpointer b)
{
    const RankSeconds *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void put_time(GString *out, int width, double seconds)
{
    GString *cell = g_string_new(NULL);
    text_seconds_known(cell, seconds, 0.03 * seconds);
    g_string_append_printf(out, "%*s", width, cell->str);
    g_string_free(cell, TRUE);
}

/* The times of one function, ascending. */
static GArray *sorted(const WendReadRankTimes *t)
{
    GArray *all = g_array_sized_new(FALSE, FALSE, sizeof(RankSeconds), t->n);
    for (guint i = 0; i < t->n; i++) {
        RankSeconds one = {t->seconds[i], 0, 1};
        if (t->ranks != NULL)
            one.rank = t->ranks[i];
        else
            one = (RankSeconds){t->seconds[i], i == 0 ? t->fastest : t->slowest, t->counts[i]};
        g_array_append_val(all, one);
    }
    g_array_sort(all, by_seconds);
    return all;
}

static void put_function(GString *out, const WendReadRankTimes *t)
{
    GArray *all = sorted(t);
    const RankSeconds *least = &g_array_index(all, RankSeconds, 0),
                      *most = &g_array_index(all, RankSeconds, all->len - 1);
    guint64 ranks = 0, before = 0;
    double sum = 0, median = 0;
    for (guint i = 0; i < all->len; i++) {
        const RankSeconds *one = &g_array_index(all, RankSeconds, i);
        ranks += one->ranks;
        sum += one->seconds * one->ranks;
    }
    for (guint i = 0; i < all->len && before <= ranks / 2; i++) {
        median = g_array_index(all, RankSeconds, i).seconds;
        before += g_array_index(all, RankSeconds, i).ranks;
    }
    g_string_append_printf(out, "%-28s %7" G_GUINT64_FORMAT, t->function->name, ranks);
    put_time(out, 10, least->seconds);
    g_string_append_printf(out, " %7u", least->rank);
    put_time(out, 10, median);
    put_time(out, 10, most->seconds);
    g_string_append_printf(out, " %7u", most->rank);
    if (sum > 0)
        g_string_append_printf(out, " %9.2f", most->seconds * (double)ranks / sum);
    g_string_append_c(out, '\n');
    g_array_unref(all);
}

enum { FEW_RANKS = 8 };

/* The ranks that were in MPI for the shortest and for the longest time. All if they are few. */
static void put_ranks(GString *out, WendRead *r, guint world, GArray *all)
{
    g_string_append_printf(out, "\n%7s %10s %8s\n", "rank", "in MPI", "of run");
    g_array_sort(all, by_seconds);
    for (guint i = 0; i < all->len; i++) {
        const RankSeconds *one = &g_array_index(all, RankSeconds, i);
        if (all->len > 2 * FEW_RANKS + 1 && i >= FEW_RANKS && i < all->len - FEW_RANKS) {
            if (i == FEW_RANKS)
                g_string_append_printf(out, "%7s %10s\n", "...", "");
            continue;
        }
        g_string_append_printf(out, "%7u ", one->rank);
        put_time(out, 10, one->seconds);
        double run = seconds_of_run(r, world, one->rank), share = one->seconds / run;
        GString *cell = g_string_new(NULL);
        if (run > 0)
            text_share(cell, share, 0.03 * share);
        else
            g_string_append_c(cell, '-');
        g_string_append_printf(out, " %8s\n", cell->str);
        g_string_free(cell, TRUE);
    }
}

/* Adds the times of T to those of the ranks of the world, FIRST and the N - 1 after it. */
static void add_times(GArray *all, const WendReadRankTimes *t, guint first)
{
    for (guint i = 0; t->ranks != NULL && i < t->n; i++)
        g_array_index(all, RankSeconds, t->ranks[i] - first).seconds += t->seconds[i];
}

static int world_show(GString *out, WendRead *r, guint world, gboolean csv)
{
    const WendReadWorld *w;
    const WendReadRankTimes *t;
    int status = wend_read_world(r, world, &w);
    if (status < 0)
        return status;
    const guint first = w->first_rank, n = w->n_ranks;
    GArray *all = g_array_new(FALSE, TRUE, sizeof(RankSeconds));
    gboolean known = FALSE;
    g_array_set_size(all, n);
    for (guint i = 0; i < n; i++)
        g_array_index(all, RankSeconds, i) = (RankSeconds){0, first + i, 1};
    for (guint i = 0; (status = wend_read_rank_times(r, world, i, &t)) == WEND_READ_OK; i++) {
        if (csv)
            put_csv(out, r, world, t);
        else
            put_function(out, t);
        if (counts(t->function)) {
            add_times(all, t, first);
            known = known || t->ranks != NULL;
        }
    }
    if (known && !csv)
        put_ranks(out, r, world, all);
    g_array_unref(all);
    return status == WEND_READ_ERROR_NONE ? WEND_READ_OK : status;
}

int rank_table_show(GString *out, WendRead *r, gboolean csv)
{
    const WendReadFacts *facts;
    int status = wend_read_facts(r, WEND_READ_JOB, &facts);
    if (status < 0)
        return status;
    const guint n = facts->n_worlds;
    if (csv)
        g_string_append(out, "world,function,rank,ranks,seconds,of_run\n");
    for (guint i = 0; status == WEND_READ_OK && i < n; i++) {
        if (!csv && n > 1)
            g_string_append_printf(out, "%sworld %u\n", i > 0 ? "\n" : "", i);
        if (!csv)
            g_string_append_printf(out, "%-28s %7s %9s %7s %9s %9s %7s %9s\n", "function", "ranks",
                                   "least", "rank", "median", "most", "rank", "most/mean");
        status = world_show(out, r, i, csv);
    }
    return status;
}
