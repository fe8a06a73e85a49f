/* SPDX-License-Identifier: BSD-3-Clause */
/* site-table.c: see show.h. wend-show(1) documents the columns of the CSV and the keys. */
#include "config.h"

#include "show.h"

#include <string.h>

#include "src/command/text.h"
#include "src/command/site-names.h"

/* -- for people -- */

/* At most so many callers of a call are printed. */
enum { FEW_CALLERS = 32 };

static void put_cell(GString *out, int width, const char *text)
{
    g_string_append_printf(out, " %*s", width, text);
}

/* LEAST and MOST of a rank: "12" if they are equal, else "12 - 15 (3)", where rank 3 has most. */
static void put_extremes(GString *out, int width, guint64 least, guint64 most, guint rank,
                         void (*append)(GString *, guint64))
{
    g_autoptr(GString) cell = g_string_new(NULL);
    append(cell, least);
    if (most != least) {
        g_string_append(cell, " - ");
        append(cell, most);
        g_string_append_printf(cell, " (%u)", rank);
    }
    put_cell(out, width, cell->str);
}

enum {
    FUNCTION_WIDTH = 16,
    SITE_WIDTH = 28,
    COUNT_WIDTH = 9,
    BYTES_WIDTH = 9,
    TIME_WIDTH = 9,
    RANKS_WIDTH = 5,
    TIMES_WIDTH = 33,
    CALLS_WIDTH = 15,
    EXTREMES_WIDTH = 24
};

static void put_head(GString *out)
{
    g_string_append_printf(out, "%-*s %-*s", FUNCTION_WIDTH, "function", SITE_WIDTH, "called from");
    put_cell(out, COUNT_WIDTH, "calls");
    put_cell(out, BYTES_WIDTH, "bytes");
    put_cell(out, TIME_WIDTH, "time");
    put_cell(out, TIME_WIDTH, "mean");
    put_cell(out, RANKS_WIDTH, "ranks");
    put_cell(out, TIMES_WIDTH, "time of a rank: least, mean, most");
    put_cell(out, CALLS_WIDTH, "calls of a rank");
    put_cell(out, EXTREMES_WIDTH, "bytes of a rank");
    g_string_append_c(out, '\n');
}

/* Time of the calls: "~" stands before a figure that is in part an estimate. */
static void put_time(GString *out, const WendReadSiteTotals *t, double seconds)
{
    g_autoptr(GString) cell = g_string_new(t->shared ? "~" : "");
    text_seconds_known(cell, seconds, 0.03 * seconds);
    put_cell(out, TIME_WIDTH, t->seconds < 0 ? "" : cell->str);
}

/* "3 ms (2) - 200 ms - 300 ms (0)": rank 2 has least, rank 0 has most. One time for one rank. */
static void put_rank_times(GString *out, const WendReadSiteTotals *t)
{
    const double times[] = {t->least_seconds, t->mean_seconds, t->most_seconds};
    const guint ranks[] = {t->least_seconds_rank, 0, t->most_seconds_rank};
    g_autoptr(GString) cell = g_string_new(NULL);
    for (guint i = t->n_ranks > 1 ? 0 : 1; t->least_seconds >= 0 && i < G_N_ELEMENTS(times); i++) {
        g_string_append(cell, cell->len > 0 ? " - " : t->rank_seconds_shared ? "~" : "");
        text_seconds_known(cell, times[i], 0.03 * times[i]);
        if (t->n_ranks == 1)
            break;
        if (i != 1)
            g_string_append_printf(cell, " (%u)", ranks[i]);
    }
    put_cell(out, TIMES_WIDTH, cell->str);
}

static void put_inlined(GString *out, const SiteName *name)
{
    for (guint i = 1; name != NULL && i < name->n_frames; i++) {
        const SiteFrame *f = &name->frames[i];
        g_string_append_printf(out, "%*s inlined in ", FUNCTION_WIDTH, "");
        site_frame_text(out, f);
        g_string_append_c(out, '\n');
    }
}

typedef struct {
    GString *out;
    guint n;
} Callers;

static void put_caller(gpointer data, const SiteName *name)
{
    Callers *c = data;
    if (c->n++ >= FEW_CALLERS)
        return;
    g_string_append_printf(c->out, "%*s called from ", FUNCTION_WIDTH, "");
    site_name_text(c->out, name);
    g_string_append_c(c->out, '\n');
    put_inlined(c->out, name);
}

static void put_callers(GString *out, SiteNames *names, guint site)
{
    Callers c = {out, 0};
    gboolean whole;
    if (site_stack_callers(names, site, put_caller, &c, &whole) && (!whole || c.n > FEW_CALLERS))
        g_string_append_printf(out, "%*s called from ...\n", FUNCTION_WIDTH, "");
}

static void put_row(GString *out, SiteNames *names, const WendReadSiteTotals *t)
{
    g_autoptr(GString) site = g_string_new(NULL), calls = g_string_new(NULL),
                       bytes = g_string_new(NULL);
    site_names_text(site, names, t->site);
    g_string_append_printf(out, "%-*s %-*s", FUNCTION_WIDTH, t->function->name, SITE_WIDTH,
                           site->str);
    text_count(calls, t->calls + t->polls);
    put_cell(out, COUNT_WIDTH, calls->str);
    if (t->amount.operations > t->amount.unsized)
        text_bytes(bytes, t->amount.bytes);
    put_cell(out, BYTES_WIDTH, bytes->str);
    put_time(out, t, t->seconds);
    put_time(out, t, t->calls > 0 ? t->seconds / (double)t->calls : 0);
    g_string_append_printf(out, " %*u", RANKS_WIDTH, t->n_ranks);
    put_rank_times(out, t);
    put_extremes(out, CALLS_WIDTH, t->least_calls, t->most_calls, t->most_calls_rank, text_count);
    if (t->amount.operations > t->amount.unsized)
        put_extremes(out, EXTREMES_WIDTH, t->least_bytes, t->most_bytes, t->most_bytes_rank,
                     text_bytes);
    g_string_append_c(out, '\n');
    put_inlined(out, site_name(names, t->site));
    put_callers(out, names, t->site);
    if (t->n_sites > 1)
        g_string_append_printf(out, "%*s and %u that match\n", FUNCTION_WIDTH, "", t->n_sites - 1);
}

/* -- as CSV -- */

#define SECONDS "%.3g"

static void csv_rank_times(GString *out, const WendReadSiteTotals *t)
{
    if (t->least_seconds < 0) {
        g_string_append(out, ",,,,,,0");
        return;
    }
    g_string_append_c(out, ',');
    text_double(out, SECONDS, t->least_seconds);
    g_string_append_printf(out, ",%u,", t->least_seconds_rank);
    text_double(out, SECONDS, t->mean_seconds);
    g_string_append_c(out, ',');
    text_double(out, SECONDS, t->most_seconds);
    g_string_append_printf(out, ",%u,%d", t->most_seconds_rank, t->rank_seconds_shared);
}

static void csv_row(GString *out, SiteNames *names, const WendReadSiteTotals *t, gboolean stacks)
{
    g_string_append_printf(out, "%s,", t->function->name);
    site_names_csv(out, names, t->site);
    g_string_append_printf(out,
                           ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                           ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",",
                           t->calls, t->polls, t->amount.operations, t->amount.bytes,
                           t->amount.unsized);
    if (t->seconds >= 0)
        text_double(out, SECONDS, t->seconds);
    g_string_append_printf(out,
                           ",%d,%u,%" G_GUINT64_FORMAT ",%u,%" G_GUINT64_FORMAT
                           ",%u,%" G_GUINT64_FORMAT ",%u,%" G_GUINT64_FORMAT ",%u",
                           t->shared, t->n_ranks, t->least_calls, t->least_calls_rank,
                           t->most_calls, t->most_calls_rank, t->least_bytes, t->least_bytes_rank,
                           t->most_bytes, t->most_bytes_rank);
    csv_rank_times(out, t);
    if (stacks) {
        g_string_append_printf(out, ",%u,", t->n_sites);
        site_stack_csv(out, names, t->site);
    }
    g_string_append_c(out, '\n');
}

/* -- as JSON -- */

static void json_rank_times(GString *out, const WendReadSiteTotals *t)
{
    if (t->least_seconds < 0)
        return;
    text_json_double(out, "least_seconds", SECONDS, t->least_seconds);
    text_json_count(out, "least_seconds_rank", t->least_seconds_rank);
    text_json_double(out, "mean_seconds", SECONDS, t->mean_seconds);
    text_json_double(out, "most_seconds", SECONDS, t->most_seconds);
    text_json_count(out, "most_seconds_rank", t->most_seconds_rank);
    text_json_flag(out, "rank_seconds_shared", t->rank_seconds_shared);
}

static void json_row(GString *out, SiteNames *names, const WendReadSiteTotals *t, gboolean more)
{
    g_string_append(out, more ? ",\n{" : "{");
    text_json_text(out, "function", t->function->name);
    text_json_key(out, "site");
    site_stack_json(out, names, t->site);
    if (t->n_sites > 1)
        text_json_count(out, "sites", t->n_sites);
    text_json_count(out, "calls", t->calls);
    text_json_count(out, "unsuccessful_polls", t->polls);
    text_json_count(out, "operations", t->amount.operations);
    text_json_count(out, "bytes", t->amount.bytes);
    text_json_count(out, "unsized", t->amount.unsized);
    if (t->seconds >= 0) {
        text_json_double(out, "seconds", SECONDS, t->seconds);
        text_json_flag(out, "seconds_shared", t->shared);
    }
    text_json_count(out, "ranks", t->n_ranks);
    text_json_count(out, "least_calls", t->least_calls);
    text_json_count(out, "least_calls_rank", t->least_calls_rank);
    text_json_count(out, "most_calls", t->most_calls);
    text_json_count(out, "most_calls_rank", t->most_calls_rank);
    text_json_count(out, "least_bytes", t->least_bytes);
    text_json_count(out, "least_bytes_rank", t->least_bytes_rank);
    text_json_count(out, "most_bytes", t->most_bytes);
    text_json_count(out, "most_bytes_rank", t->most_bytes_rank);
    json_rank_times(out, t);
    g_string_append_c(out, '}');
}

/* -- all -- */

static void put_table_head(GString *out, SiteTableFormat format, gboolean stacks)
{
    if (format == SITE_TABLE_CSV)
        g_string_append_printf(out,
                               "mpi_function," SITE_CSV_COLUMNS
                               ",calls,polls,operations,bytes,unsized,seconds,shared,ranks,"
                               "least_calls,least_calls_rank,most_calls,most_calls_rank,"
                               "least_bytes,least_bytes_rank,most_bytes,most_bytes_rank,"
                               "least_seconds,least_seconds_rank,mean_seconds,most_seconds,"
                               "most_seconds_rank,rank_seconds_shared%s\n",
                               stacks ? ",sites," SITE_STACK_CSV_COLUMN : "");
    else if (format == SITE_TABLE_JSON)
        g_string_append_c(out, '[');
    else
        put_head(out);
}

/* OTHERS rows are not printed. The sites of UNKNOWN of ALL calls are not known. */
static void put_table_end(GString *out, SiteTableFormat format, guint others, guint64 unknown,
                          guint64 all)
{
    if (format == SITE_TABLE_JSON)
        g_string_append(out, "]\n");
    if (format != SITE_TABLE_TEXT)
        return;
    if (others > 0)
        g_string_append_printf(out, "%u more with --all\n", others);
    if (unknown > 0) {
        g_string_append(out, "the sites of ");
        text_count(out, unknown);
        g_string_append(out, " of ");
        text_count(out, all);
        g_string_append(out, " calls are unknown\n");
    }
}

int site_table_show(GString *out, WendRead *r, SiteNames *names, SiteTableFormat format, guint top)
{
    const WendReadSiteTotals *t;
    guint i = 0;
    guint64 unknown = 0, all = 0;
    uint32_t n_sites;
    int status = wend_read_n_sites(r, &n_sites);
    gboolean stacks = site_stacks_recorded(names);
    if (status < 0)
        return status;
    put_table_head(out, format, stacks);
    for (; (status = wend_read_site_totals(r, i, &t)) == WEND_READ_OK; i++) {
        all += t->calls + t->polls;
        if (n_sites > 0 && !site_name(names, t->site)) {
            unknown += t->calls + t->polls;
            site_names_say_unknown(names);
        }
        if (format == SITE_TABLE_CSV)
            csv_row(out, names, t, stacks);
        else if (format == SITE_TABLE_JSON)
            json_row(out, names, t, i > 0);
        else if (i < top)
            put_row(out, names, t);
    }
    put_table_end(out, format, i > top ? i - top : 0, unknown, all);
    return status == WEND_READ_ERROR_NONE ? WEND_READ_OK : status;
}
