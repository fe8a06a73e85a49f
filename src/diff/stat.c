/* SPDX-License-Identifier: BSD-3-Clause */
/* stat.c: see stat.h. */
#include "config.h"

#include "stat.h"

#include <string.h>

#include "lib/analysis/summary.h"
#include "src/command/text.h"
#include "src/read/wrap.h"

static const FunctionRow *row_of(const Summary *s, const char *name)
{
    for (guint i = 0; i < s->functions->len; i++)
        if (strcmp(g_array_index(s->functions, FunctionRow, i).name, name) == 0)
            return &g_array_index(s->functions, FunctionRow, i);
    return NULL;
}

/* The functions of both recordings, those of the first one first. */
static GPtrArray *names_of(Summary *const summaries[2])
{
    GPtrArray *names = g_ptr_array_new();
    for (guint input = 0; input < 2; input++)
        for (guint i = 0; i < summaries[input]->functions->len; i++) {
            const char *name = g_array_index(summaries[input]->functions, FunctionRow, i).name;
            if (input == 0 || !row_of(summaries[0], name))
                g_ptr_array_add(names, (gpointer)name);
        }
    return names;
}

static void put_cell(GString *out, int width, GString *cell)
{
    g_string_append_printf(out, " %*s", width, cell->str);
    g_string_truncate(cell, 0);
}

typedef void (*PutNumber)(GString *out, guint64 n);

/* Appends both numbers, and their difference. */
static void put_numbers(GString *out, GString *cell, const guint64 n[2], PutNumber put, int width)
{
    for (guint input = 0; input < 2; input++) {
        put(cell, n[input]);
        put_cell(out, width, cell);
    }
    if (n[0] != n[1]) {
        g_string_append_c(cell, n[1] > n[0] ? '+' : '-');
        put(cell, n[1] > n[0] ? n[1] - n[0] : n[0] - n[1]);
    } else {
        g_string_append_c(cell, '=');
    }
    put_cell(out, width, cell);
}

/* Appends both times, and the second relative to the first. A missing row has no time. */
static void put_times(GString *out, GString *cell, const FunctionRow *const rows[2],
                      const Summary *const summaries[2])
{
    double seconds[2] = {0, 0};
    for (guint input = 0; input < 2; input++) {
        const FunctionRow *row = rows[input];
        if (row != NULL && row->duration.count > 0) {
            double n = (double)row->duration.count;
            seconds[input] = n * row->duration.mean;
            text_seconds_known(cell, seconds[input],
                               n * MAX(row->mean_error, summaries[input]->resolution));
        } else {
            g_string_append_c(cell, '-');
        }
        put_cell(out, 8, cell);
    }
    if (seconds[0] > 0 && seconds[1] > 0)
        g_string_append_printf(cell, "%.2g", seconds[1] / seconds[0]);
    else
        g_string_append_c(cell, '-');
    put_cell(out, 7, cell);
    g_string_append_c(out, '\n');
}

static void put_counts(GString *out, GString *cell, const char *name, guint64 a, guint64 b)
{
    if (a == 0 && b == 0)
        return;
    g_string_append_printf(out, "%-26s", name);
    put_numbers(out, cell, (const guint64[]){a, b}, text_count, 10);
    g_string_append_c(out, '\n');
}

/* -- durations -- */

static const double percents[] = {50, 90, 99};

static void put_mean(GString *out, GString *cell, const FunctionRow *row, const Summary *s)
{
    if (row != NULL && row->duration.count > 0)
        text_seconds_known(cell, row->duration.mean, MAX(row->mean_error, s->resolution));
    else
        g_string_append_c(cell, '-');
    put_cell(out, 8, cell);
}

static void put_percentile(GString *out, GString *cell, WendRead *r, const char *name,
                           double percent, const Summary *s)
{
    const WendReadFunction *f;
    WendReadPercentile p;
    if (wend_read_function_named(r, name, &f) == WEND_READ_OK
        && wend_read_percentile(r, f, percent, &p) == WEND_READ_OK)
        text_seconds_known(cell, p.seconds, MAX(p.error * p.seconds, s->resolution));
    else
        g_string_append_c(cell, '-');
    put_cell(out, 8, cell);
}

/* A table of the durations of calls, if one of the recordings has the time of each call. */
static void put_durations(GString *out, const GPtrArray *names, Summary *const summaries[2],
                          WendRead *const readers[2])
{
    g_autoptr(GString) cell = g_string_new(NULL);
    bool has[2] = {false, false};
    for (guint input = 0; input < 2; input++)
        wend_read_has_times(readers[input], &has[input]); /* damaged times are none */
    if (!has[0] && !has[1])
        return;
    g_string_append_printf(out, "\n%-26s %8s %8s %8s %8s %8s %8s %8s %8s\n", "duration", "mean A",
                           "mean B", "median A", "median B", "90 % A", "90 % B", "99 % A",
                           "99 % B");
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        text_foreign(cell, name);
        g_string_append_printf(out, "%-26s", cell->str);
        g_string_truncate(cell, 0);
        for (guint input = 0; input < 2; input++)
            put_mean(out, cell, row_of(summaries[input], name), summaries[input]);
        for (guint k = 0; k < G_N_ELEMENTS(percents); k++)
            for (guint input = 0; input < 2; input++)
                put_percentile(out, cell, readers[input], name, percents[k], summaries[input]);
        g_string_append_c(out, '\n');
    }
}

void stat_print(GString *out, const WendProgram *const programs[2], const char *const paths[2])
{
    Summary *summaries[2] = {summary_new(programs[0]), summary_new(programs[1])};
    g_autoptr(GPtrArray) names = names_of(summaries);
    g_autoptr(GString) cell = g_string_new(NULL);
    g_string_append_printf(out,
                           "\nA is %s, B is %s\n%-26s %10s %10s %10s %10s %10s %10s %8s %8s %7s\n",
                           paths[0], paths[1], "function", "calls A", "calls B", "B - A", "bytes A",
                           "bytes B", "B - A", "time A", "time B", "B / A");
    for (guint i = 0; i < names->len; i++) {
        const FunctionRow *rows[2];
        guint64 calls[2], bytes[2];
        for (guint input = 0; input < 2; input++) {
            rows[input] = row_of(summaries[input], names->pdata[i]);
            calls[input] = rows[input] != NULL ? rows[input]->calls : 0;
            bytes[input] = rows[input] != NULL ? rows[input]->traffic.bytes : 0;
        }
        text_foreign(cell, names->pdata[i]);
        g_string_append_printf(out, "%-26s", cell->str);
        g_string_truncate(cell, 0);
        put_numbers(out, cell, calls, text_count, 10);
        if (bytes[0] > 0 || bytes[1] > 0)
            put_numbers(out, cell, bytes, text_bytes, 10);
        else
            g_string_append_printf(out, " %10s %10s %10s", "-", "-", "-");
        put_times(out, cell, rows, (const Summary *const *)summaries);
    }
    const WendTotals *a = &summaries[0]->totals, *b = &summaries[1]->totals;
    put_counts(out, cell, "all MPI calls", a->mpi_calls, b->mpi_calls);
    put_counts(out, cell, "unsuccessful polls", a->polls, b->polls);
    put_counts(out, cell, "frees", a->frees, b->frees);
    WendRead *readers[2] = {read_wrap(programs[0]), read_wrap(programs[1])};
    put_durations(out, names, summaries, readers);
    for (guint input = 0; input < 2; input++) {
        wend_read_free(readers[input]);
        summary_free(summaries[input]);
    }
}
