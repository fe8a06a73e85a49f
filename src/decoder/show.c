/* SPDX-License-Identifier: BSD-3-Clause */
/* show.c: wend show: prints a summary of a recording, on one screen or as JSON. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "decoder.h"

#include "dump.h"
#include "show.h"
#include "src/command/command.h"
#include "src/command/text.h"
#include "src/command/reading.h"
#include "wend/read.h"

#define COMMAND "show"
#define FEW_FUNCTIONS 15
#define FEW_CLASSES 8
#define FEW_ENDINGS 8
#define LABEL_WIDTH 16
#define POINT_TO_POINT 0 /* index among the kinds of transfers */
/* groups of facts (docs/format.md, "The member meta") */
#define UNRECORDED_GROUP "unrecorded"
#define CUT_GROUP "cut"
#define OFF_GROUP "off"

static const char *const traffic_names[WEND_READ_N_TRANSFER_KINDS] = {
    "point-to-point", "collective", "one-sided", "file write", "file read"};
static const char *const traffic_keys[WEND_READ_N_TRANSFER_KINDS] = {
    "point_to_point", "collective", "one_sided", "file_write", "file_read"};

/* The recording to show. */
typedef struct {
    WendRead *reader;
    const WendReadFacts *facts;
    const WendReadTotals *totals;
    GArray *classes; /* ClassLine */
    bool times;      /* it has the time of each call */
} Show;

static const double percents[] = {50, 90, 99};
static const char *const percent_names[] = {"median", "90 %", "99 %"};
static const char *const percent_keys[] = {"median", "percentile_90", "percentile_99"};

/* -- text -- */

static void label(GString *out, const char *name)
{
    g_string_append_printf(out, "%-*s", LABEL_WIDTH, name);
}

/* Appends a fact, or "unknown". */
static void put_fact(GString *out, const char *fact)
{
    text_foreign(out, fact != NULL ? fact : "unknown");
}

static void padded(GString *out, int width, GString *cell)
{
    g_string_append_printf(out, "%*s", width, cell->str);
    g_string_truncate(cell, 0);
}

/* The time, length and job of the run. */
static void show_when(GString *out, const WendReadFacts *f)
{
    const char *comma = "";
    if (f->start < 0 && f->elapsed < 0 && !f->job)
        return;
    label(out, "run");
    if (f->start >= 0) {
        GDateTime *t = g_date_time_new_from_unix_utc(f->start);
        char *text = t != NULL ? g_date_time_format(t, "%Y-%m-%d %H:%M:%S UTC")
                               : g_strdup_printf("%" G_GINT64_FORMAT, f->start);
        put_fact(out, text);
        g_free(text);
        g_clear_pointer(&t, g_date_time_unref);
        comma = ", ";
    }
    if (f->elapsed >= 0) {
        g_string_append(out, comma);
        text_seconds_known(out, f->elapsed, 1e-6); /* the precision of the archive */
        g_string_append(out, " from MPI_Init to MPI_Finalize");
        comma = ", ";
    }
    if (f->job != NULL) {
        g_string_append_printf(out, "%sjob ", comma);
        put_fact(out, f->job);
    }
    g_string_append_c(out, '\n');
}

/* How well the times of calls of different hosts agree. */
static void show_clocks(GString *out, const WendReadFacts *f)
{
    if (f->clock_error < 0)
        return;
    label(out, "clocks");
    g_string_append(out, "of all hosts are within ");
    text_seconds(out, f->clock_error);
    g_string_append(out, " of rank 0's");
    g_string_append_c(out, '\n');
}

static void show_run(GString *out, const WendReadFacts *f, const WendReadTotals *t)
{
    label(out, "application");
    put_fact(out, f->program);
    if (f->arguments != NULL) {
        g_string_append_c(out, ' ');
        put_fact(out, f->arguments);
    }
    g_string_append_c(out, '\n');
    label(out, "MPI");
    put_fact(out, f->mpi_library);
    if (f->mpi_version != NULL) {
        g_string_append(out, ", standard ");
        put_fact(out, f->mpi_version);
    }
    if (f->thread_level != NULL) {
        g_string_append(out, ", ");
        put_fact(out, f->thread_level);
    }
    g_string_append_c(out, '\n');
    label(out, "ranks");
    text_count(out, f->n_ranks);
    if (f->hosts != NULL) {
        g_string_append_printf(out, " on %" G_GUINT64_FORMAT " host%s: ", f->n_hosts,
                               f->n_hosts == 1 ? "" : "s");
        put_fact(out, f->hosts);
        if (out->str[out->len - 1] == ';')
            g_string_truncate(out, out->len - 1);
    }
    if (t->max_threads != 1 || t->min_threads != 1) {
        g_string_append_printf(out, ", %u", t->min_threads);
        if (t->max_threads != t->min_threads)
            g_string_append_printf(out, " to %u", t->max_threads);
        g_string_append(out, " threads each that call MPI");
    }
    g_string_append_c(out, '\n');
    show_clocks(out, f);
    show_when(out, f);
}

/* The functions that were called and that libwend could not record. */
static void show_unrecorded(GString *out, WendRead *r)
{
    const char *group, *key, *value;
    g_autoptr(GString) list = g_string_new(NULL);
    for (guint i = 0; wend_read_meta(r, WEND_READ_JOB, i, &group, &key, &value) == 0; i++)
        if (g_str_equal(group, UNRECORDED_GROUP) && key != NULL)
            g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", key);
    if (list->len == 0)
        return;
    label(out, "not recorded");
    g_string_append(out, "calls of ");
    put_fact(out, list->str);
    g_string_append(out, ": Wend was built for an MPI library without them\n");
}

/* The side streams of which ranks have not all, by world. */
static void show_cut(GString *out, WendRead *r, guint n_worlds)
{
    const char *group, *key, *value;
    bool first = true;
    for (guint w = 0; w < n_worlds; w++)
        for (guint i = 0; wend_read_meta(r, w, i, &group, &key, &value) == 0; i++) {
            if (!g_str_equal(group, CUT_GROUP) || !key)
                continue;
            label(out, first ? "incomplete" : "");
            put_fact(out, key);
            g_string_append(out, " of ranks ");
            put_fact(out, value);
            if (n_worlds > 1)
                g_string_append_printf(out, " of world %u", w);
            g_string_append(out, ": the recorder had no memory for more (--max-memory)\n");
            first = false;
        }
}

/* The value of GROUP.KEY of a world. NULL: it has none. */
static const char *meta_value(WendRead *r, guint world, const char *group, const char *key)
{
    const char *g, *k, *value;
    for (guint i = 0; wend_read_meta(r, world, i, &g, &k, &value) == 0; i++)
        if (k != NULL && g_str_equal(g, group) && g_str_equal(k, key))
            return value;
    return NULL;
}

/* The calls that were made while recording was off, by world. */
static void show_off(GString *out, WendRead *r, guint n_worlds)
{
    for (guint w = 0; w < n_worlds; w++) {
        const char *ranks = meta_value(r, w, OFF_GROUP, "calls"),
                   *calls = meta_value(r, w, "run", "left_out");
        if (!ranks || !calls)
            continue;
        label(out, "not recorded");
        text_count(out, g_ascii_strtoull(calls, NULL, 10));
        g_string_append_printf(out, " calls of rank%s ", strpbrk(ranks, "-;") ? "s" : "");
        put_fact(out, ranks);
        if (n_worlds > 1)
            g_string_append_printf(out, " of world %u", w);
        g_string_append(out, ": recording was off (MPI_Pcontrol, WEND_TRACING)\n");
    }
}

/* A show of more calls would take seconds; wend show --messages looks at all. */
#define MOST_MATCHED 1000000

static void show_missing(GString *out, WendRead *r)
{
    Missing missing;
    if (missing_find(r, MOST_MATCHED, &missing) < 0)
        return;
    g_autofree char *text = missing_text(&missing);
    if (!text)
        return;
    label(out, "missing");
    g_string_append_printf(out, "%s: %s (wend show --messages)\n", text,
                           missing.left_out > 0 ? "some were made while recording was off"
                                                : "some were made past Wend");
}

/* The programs of the further worlds of the job. */
static void show_worlds(GString *out, WendRead *r, guint n)
{
    for (guint i = 0; n > 1 && i < n; i++) {
        const WendReadWorld *w;
        const WendReadFacts *f;
        if (wend_read_world(r, i, &w) < 0 || wend_read_facts(r, i, &f) < 0)
            return;
        label(out, i == 0 ? "worlds" : "");
        g_string_append_printf(out, "%u: ranks %u-%u, ", i, w->first_rank,
                               w->first_rank + w->n_ranks - 1);
        put_fact(out, f->program);
        if (f->arguments != NULL) {
            g_string_append_c(out, ' ');
            put_fact(out, f->arguments);
        }
        g_string_append_c(out, '\n');
    }
}

static void show_sizes(GString *out, const WendReadFacts *f, const WendReadTotals *t)
{
    label(out, "calls");
    text_totals(out, t->mpi_calls, t->polls, t->frees);
    if (t->failed > 0) {
        g_string_append(out, "; of the MPI calls ");
        text_count(out, t->failed);
        g_string_append(out, " returned an error");
    }
    if (t->unfinished > 0) {
        g_string_append(out, t->failed > 0 ? " and " : "; of the MPI calls ");
        text_count(out, t->unfinished);
        g_string_append(out, " had not returned");
    }
    g_string_append_c(out, '\n');
    label(out, "archive");
    text_bytes(out, f->archive_bytes);
    g_string_append(out, " (");
    text_bytes(out, f->member_bytes);
    g_string_append(out, " uncompressed)\n");
    label(out, "grammar");
    text_count(out, f->n_rules);
    g_string_append(out, f->n_rules == 1 ? " rule of " : " rules of ");
    text_count(out, t->n_symbols);
    g_string_append(out, t->n_symbols == 1 ? " symbol, " : " symbols, ");
    text_count(out, f->n_signatures);
    g_string_append(out, f->n_signatures == 1 ? " signature of " : " signatures of ");
    text_count(out, f->n_shapes);
    g_string_append(out, f->n_shapes == 1 ? " shape\n" : " shapes\n");
}

static void show_traffic(GString *out, const WendReadTotals *totals)
{
    const char *name = "sent";
    for (guint kind = 0; kind < WEND_READ_N_TRANSFER_KINDS; kind++) {
        const WendReadAmount *t = &totals->amounts[kind];
        if (t->operations == 0 && kind != POINT_TO_POINT)
            continue;
        label(out, name);
        name = "";
        g_string_append_printf(out, "%-15s", traffic_names[kind]);
        text_bytes(out, t->bytes);
        g_string_append(out, " in ");
        text_count(out, t->operations);
        g_string_append_printf(out, "%s%s", kind == POINT_TO_POINT ? " send" : " call",
                               t->operations == 1 ? "" : "s");
        if (t->unsized > 0) {
            g_string_append(out, ", without ");
            text_count(out, t->unsized);
            g_string_append(out, " whose size is not known");
        }
        g_string_append_c(out, '\n');
    }
    label(out, "");
    g_string_append(out,
                    "(count x datatype size of what each rank hands to MPI; see wend-show(1))\n");
}

static void show_nondeterminism(GString *out, const WendReadTotals *n)
{
    const struct {
        guint64 count;
        const char *one, *more;
    } rows[] = {
        {n->wildcard_receives, "receive with a wildcard", "receives with a wildcard"},
        {n->wildcard_probes, "probe with a wildcard", "probes with a wildcard"},
        {n->probes, "message found by a probe", "messages found by a probe"},
        {n->any_completions, "completion by Waitany, Waitsome, Testany or Testsome",
         "completions by Waitany, Waitsome, Testany or Testsome"},
        {n->tests, "successful Test or Testall", "successful Test and Testall"},
        {n->neighbour_orders,
         "call that depends on the order of neighbours of MPI_Dist_graph_create",
         "calls that depend on the order of neighbours of MPI_Dist_graph_create"},
        {n->polls, "unsuccessful poll", "unsuccessful polls"},
    };
    const char *name = "nondeterminism";
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (rows[i].count == 0)
            continue;
        label(out, name);
        name = "";
        text_count(out, rows[i].count);
        g_string_append_printf(out, " %s\n", rows[i].count == 1 ? rows[i].one : rows[i].more);
    }
    if (*name != '\0')
        g_string_append_printf(out, "%-*snone: no wildcards, probes, tests or completions by any\n",
                               LABEL_WIDTH, name);
}

static void show_values(GString *out, guint64 values)
{
    if (values == 0)
        return;
    label(out, "values");
    text_count(out, values);
    g_string_append(out, " of the clock, random numbers, process ids and host names\n");
}

typedef struct {
    guint n_ranks;
    const guint32 *ranks;
    guint64 calls;
} ClassLine;

static gint compare_classes(gconstpointer a, gconstpointer b)
{
    const ClassLine *x = a, *y = b;
    if (x->n_ranks != y->n_ranks)
        return x->n_ranks < y->n_ranks ? 1 : -1;
    return x->n_ranks == 0 || x->ranks[0] < y->ranks[0] ? -1 : 1;
}

/* The classes, the largest first. */
static GArray *classes_new(WendRead *r, guint n)
{
    GArray *classes = g_array_new(FALSE, FALSE, sizeof(ClassLine));
    const WendReadClass *c;
    for (guint i = 0; i < n && wend_read_class(r, i, &c) == WEND_READ_OK; i++) {
        ClassLine line = {c->n_ranks, c->ranks, c->n_mpi_calls};
        g_array_append_val(classes, line);
    }
    g_array_sort(classes, compare_classes);
    return classes;
}

static void show_classes(GString *out, const GArray *classes, gboolean all)
{
    GString *cell = g_string_new(NULL);
    g_string_append(
        out,
        "\n     ranks  MPI calls of each  which ranks (a class: ranks that ran the same code)\n");
    guint shown = all ? classes->len : MIN(classes->len, FEW_CLASSES);
    for (guint i = 0; i < shown; i++) {
        const ClassLine *row = &g_array_index(classes, ClassLine, i);
        text_count(cell, row->n_ranks);
        padded(out, 10, cell);
        text_count(cell, row->calls);
        padded(out, 19, cell);
        g_string_append(out, "  ");
        text_ranks(cell, row->ranks, row->n_ranks);
        if (!all && cell->len > 60) {
            g_string_truncate(cell, 57);
            char *comma = strrchr(cell->str, ',');
            if (comma != NULL)
                g_string_truncate(cell, (gsize)(comma - cell->str) + 1);
            g_string_append(cell, " ...");
        }
        g_string_append_printf(out, "%s\n", cell->str);
        g_string_truncate(cell, 0);
    }
    if (shown < classes->len)
        g_string_append_printf(out, "           and %u classes more (--all)\n",
                               classes->len - shown);
    g_string_free(cell, TRUE);
}

/* The four columns of times. */
static void show_times(GString *out, const Show *s, const WendReadFunctionTotals *row,
                       GString *cell)
{
    const WendReadTiming *t = &row->duration;
    const struct {
        double value, error;
    } times[] = {{t->mean, t->mean_error * t->mean},
                 {t->min, t->rest_error * t->min},
                 {t->max, t->rest_error * t->max},
                 {t->deviation, MAX(t->rest_error * t->deviation, t->mean_error * t->mean)}};
    for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
        if (t->count > 0 && (i < 3 || t->count > 1)) /* a single call has no deviation */
            text_seconds_known(cell, times[i].value,
                               MAX(times[i].error, s->facts->clock_resolution));
        else
            g_string_append_c(cell, '-');
        padded(out, 11, cell);
    }
}

/* The columns of percentiles. */
static void show_percentiles(GString *out, const Show *s, const WendReadFunction *f, GString *cell)
{
    for (guint i = 0; i < G_N_ELEMENTS(percents); i++) {
        WendReadPercentile p;
        if (wend_read_percentile(s->reader, f, percents[i], &p) == WEND_READ_OK)
            text_seconds_known(cell, p.seconds,
                               MAX(p.error * p.seconds, s->facts->clock_resolution));
        else
            g_string_append_c(cell, '-');
        padded(out, 11, cell);
    }
}

/* The share of the time in MPI, and of the run. */
static void show_shares(GString *out, const Show *s, const WendReadFunctionTotals *row,
                        GString *cell)
{
    const double wholes[] = {s->totals->seconds_in_mpi, s->totals->seconds_of_run},
                 errors[] = {s->totals->seconds_in_mpi_error, 0};
    for (guint i = 0; i < G_N_ELEMENTS(wholes); i++) {
        if (row->seconds <= 0 || wholes[i] <= 0) {
            g_string_append_c(cell, '-');
        } else {
            double share = row->seconds / wholes[i],
                   relative = row->duration.mean_error + errors[i] / wholes[i];
            text_share(cell, share, share * (1 - MIN(share, 1) * (i == 0)) * relative);
        }
        padded(out, 8, cell);
    }
}

static void show_functions(GString *out, const Show *s, guint top)
{
    const WendReadTotals *t = s->totals;
    GString *cell = g_string_new(NULL);
    g_string_append_printf(out, "\n%13s  %-24s %10s %10s %10s %10s", "MPI calls", "function",
                           "mean", "min", "max", "deviation");
    for (guint i = 0; s->times && i < G_N_ELEMENTS(percents); i++)
        g_string_append_printf(out, " %10s", percent_names[i]);
    g_string_append_printf(out, " %7s %7s\n", "of MPI", "of run");
    guint shown = MIN(t->n_functions, top);
    for (guint i = 0; i < shown; i++) {
        const WendReadFunctionTotals *row;
        if (wend_read_function_totals(s->reader, i, &row) < 0)
            break;
        text_count(cell, row->calls);
        padded(out, 13, cell);
        text_foreign(cell, row->function->name);
        g_string_append_printf(out, "  %-24s", cell->str);
        g_string_truncate(cell, 0);
        show_times(out, s, row, cell);
        if (s->times)
            show_percentiles(out, s, row->function, cell);
        show_shares(out, s, row, cell);
        g_string_append_c(out, '\n');
    }
    if (shown < t->n_functions)
        g_string_append_printf(out, "%13s  and %u functions more (--all)\n", "",
                               t->n_functions - shown);
    if (t->seconds_in_mpi > 0) {
        g_string_append(out, "shares: of the ");
        text_seconds_known(out, t->seconds_in_mpi, t->seconds_in_mpi_error);
        g_string_append(out, " that all threads spent in MPI");
        if (t->seconds_of_run > 0) {
            g_string_append(out, ", of the ");
            text_seconds_known(out, t->seconds_of_run, 1e-6);
            g_string_append(out, " that they ran");
        }
        g_string_append(out, ", without MPI_Init and MPI_Finalize\n");
    }
    g_string_free(cell, TRUE);
}

/* Goes through the times of all calls. FALSE: they are damaged. */
static gboolean can_read_times(const Show *s)
{
    const WendReadFunctionTotals *row;
    WendReadPercentile p;
    int status = wend_read_function_totals(s->reader, 0, &row);
    if (status == WEND_READ_OK)
        status = wend_read_percentile(s->reader, row->function, 50, &p);
    return status == WEND_READ_OK || status == WEND_READ_ERROR_NONE;
}

/* -- JSON -- */

static void json_meta(GString *out, WendRead *r)
{
    const char *group, *key, *value;
    g_autofree char *open = NULL; /* the group that is written */
    text_json_open(out, "meta", '{');
    for (guint i = 0; wend_read_meta(r, WEND_READ_JOB, i, &group, &key, &value) == 0; i++) {
        if (!open || !g_str_equal(open, group)) {
            g_string_append(out, open != NULL ? "}," : "");
            text_json_string(out, group);
            g_string_append(out, ":{");
            g_free(open);
            open = g_strdup(group);
        } else {
            g_string_append_c(out, ',');
        }
        if (!key)
            continue;
        text_json_string(out, key);
        g_string_append_c(out, ':');
        text_json_string(out, value);
    }
    g_string_append(out, open != NULL ? "}}" : "}");
}

static void json_functions(GString *out, const Show *s)
{
    text_json_open(out, "functions", '[');
    for (guint i = 0; i < s->totals->n_functions; i++) {
        const WendReadFunctionTotals *row;
        if (wend_read_function_totals(s->reader, i, &row) < 0)
            break;
        text_json_open(out, NULL, '{');
        text_json_text(out, "name", row->function->name);
        text_json_count(out, "calls", row->calls);
        if (row->duration.count > 0) {
            text_json_open(out, "duration", '{');
            text_json_count(out, "count", row->duration.count);
            text_json_double(out, "mean", "%.4g", row->duration.mean);
            text_json_double(out, "min", "%.4g", row->duration.min);
            text_json_double(out, "max", "%.4g", row->duration.max);
            text_json_double(out, "stddev", "%.4g", row->duration.deviation);
            for (guint k = 0; s->times && k < G_N_ELEMENTS(percents); k++) {
                WendReadPercentile p;
                if (wend_read_percentile(s->reader, row->function, percents[k], &p) == WEND_READ_OK)
                    text_json_double(out, percent_keys[k], "%.4g", p.seconds);
            }
            g_string_append_c(out, '}');
        }
        g_string_append_c(out, '}');
    }
    g_string_append_c(out, ']');
}

static void json_classes(GString *out, const GArray *classes)
{
    text_json_open(out, "classes", '[');
    for (guint i = 0; i < classes->len; i++) {
        const ClassLine *row = &g_array_index(classes, ClassLine, i);
        text_json_open(out, NULL, '{');
        text_json_key(out, "ranks");
        g_string_append_c(out, '"');
        text_ranks(out, row->ranks, row->n_ranks);
        g_string_append_c(out, '"');
        text_json_count(out, "count", row->n_ranks);
        text_json_count(out, "calls", row->calls);
        g_string_append_c(out, '}');
    }
    g_string_append_c(out, ']');
}

static void show_json(GString *out, const Show *s)
{
    const WendReadTotals *t = s->totals;
    const WendReadFacts *f = s->facts;
    text_json_open(out, NULL, '{');
    json_meta(out, s->reader);
    text_json_count(out, "ranks", f->n_ranks);
    text_json_count(out, "worlds", f->n_worlds);
    text_json_count(out, "min_threads", t->min_threads);
    text_json_count(out, "max_threads", t->max_threads);
    text_json_count(out, "callbacks", t->max_callbacks);
    text_json_count(out, "calls", t->mpi_calls);
    text_json_count(out, "unsuccessful_polls", t->polls);
    text_json_count(out, "frees", t->frees);
    text_json_count(out, "failed_calls", t->failed);
    text_json_count(out, "unfinished_calls", t->unfinished);
    text_json_count(out, "archive_bytes", f->archive_bytes);
    text_json_count(out, "uncompressed_bytes", f->member_bytes);
    text_json_count(out, "rules", f->n_rules);
    text_json_count(out, "symbols", t->n_symbols);
    text_json_count(out, "signatures", f->n_signatures);
    text_json_count(out, "shapes", f->n_shapes);
    text_json_open(out, "sent", '{');
    for (guint kind = 0; kind < WEND_READ_N_TRANSFER_KINDS; kind++) {
        text_json_open(out, traffic_keys[kind], '{');
        text_json_count(out, "operations", t->amounts[kind].operations);
        text_json_count(out, "bytes", t->amounts[kind].bytes);
        text_json_count(out, "unsized", t->amounts[kind].unsized);
        g_string_append_c(out, '}');
    }
    g_string_append_c(out, '}');
    text_json_open(out, "nondeterminism", '{');
    text_json_count(out, "wildcard_receives", t->wildcard_receives);
    text_json_count(out, "wildcard_probes", t->wildcard_probes);
    text_json_count(out, "probes", t->probes);
    text_json_count(out, "any_completions", t->any_completions);
    text_json_count(out, "tests", t->tests);
    text_json_count(out, "unsuccessful_polls", t->polls);
    text_json_count(out, "neighbour_orders", t->neighbour_orders);
    g_string_append_c(out, '}');
    guint64 values = recorded_count(s->reader, f->n_ranks);
    if (values > 0)
        text_json_count(out, "values", values);
    json_classes(out, s->classes);
    json_functions(out, s);
    text_json_double(out, "seconds_in_mpi", "%.4g", t->seconds_in_mpi);
    text_json_double(out, "seconds_of_run", "%.4g", t->seconds_of_run);
    g_string_append(out, "}\n");
}

/* -- tables of communication -- */

typedef struct {
    gboolean matrix, sizes, comms, ranks, messages, sites, waits; /* the chosen table */
    /* the chosen format; if none is set, for people, wherever the output goes */
    gboolean csv, table, json;
    gint tolerance; /* of sites (site-names.h) */
    char **ignored;
} TableOptions;

static CommunicationTable table_of(const TableOptions *t)
{
    return t->matrix     ? COMMUNICATION_MATRIX
           : t->sizes    ? COMMUNICATION_SIZES
           : t->comms    ? COMMUNICATION_COMMS
           : t->messages ? COMMUNICATION_MESSAGES
                         : COMMUNICATION_NONE;
}

/* Returns a message if the options contradict each other, else NULL. */
static const char *check_tables(const TableOptions *t)
{
    int tables = t->matrix + t->sizes + t->comms + t->ranks + t->messages + t->sites + t->waits;
    if (tables > 1 || (tables == 1 && t->json && !t->sites && !t->waits))
        return "only one of --matrix, --sizes, --comms, --ranks, --messages, --sites, --waits and "
               "--json";
    if (tables == 0 && (t->csv || t->table))
        return "--csv and --table are for --matrix, --sizes, --comms, --ranks, --messages, --sites "
               "and --waits";
    return t->csv + t->table + t->json > 1 ? "only one of --csv, --table and --json" : NULL;
}

/* How wide the matrix may be. A pipe or a file takes any line, but the matrix takes memory. */
static guint output_width(void)
{
    enum { WIDEST = 1024 };
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return WIDEST;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Lets sites count as one as T says. Returns a status of wend/read.h. */
static int group_sites(const TableOptions *t, SiteNames *names)
{
    g_autoptr(GArray) counts_as = NULL;
    int status = site_matching_groups(COMMAND, names, (guint)t->tolerance, t->ignored, &counts_as);
    if (status < 0 || !counts_as)
        return status;
    return wend_read_group_sites(site_names_reader(names),
                                 (const uint32_t *)(gpointer)counts_as->data, counts_as->len);
}

static int show_waits(GString *out, WendRead *r, const TableOptions *t, SiteTableFormat format,
                      guint top)
{
    SiteNames *names = site_names_new(r, COMMAND);
    int status = group_sites(t, names);
    if (status == WEND_READ_OK)
        status = wait_table_show(out, r, names, format, top);
    site_names_free(names);
    return status == WEND_READ_ERROR_NONE ? WEND_READ_ERROR_INPUT : status; /* without times */
}

static int show_sites(GString *out, WendRead *r, const char *path, const TableOptions *t,
                      SiteTableFormat format, guint top)
{
    uint32_t n;
    int status = wend_read_n_sites(r, &n);
    if (status < 0)
        return status;
    if (n == 0)
        command_say(COMMAND, "%s: the recording has no call sites", path);
    SiteNames *names = site_names_new(r, COMMAND);
    status = group_sites(t, names);
    if (status == WEND_READ_OK)
        status = site_table_show(out, r, names, format, top);
    site_names_free(names);
    return status;
}

static int show_tables(const TableOptions *t, gboolean all, guint top, const char *path, gint world)
{
    int status;
    WendRead *r = command_open(COMMAND, path, world, &status);
    if (!r)
        return status;
    g_autoptr(GString) out = g_string_new(NULL);
    SiteTableFormat format = t->json ? SITE_TABLE_JSON : t->csv ? SITE_TABLE_CSV : SITE_TABLE_TEXT;
    if (t->messages)
        status = matched_show(out, r, t->csv, all);
    else if (t->sites)
        status = show_sites(out, r, path, t, format, all ? G_MAXUINT : top);
    else if (t->waits)
        status = show_waits(out, r, t, format, all ? G_MAXUINT : top);
    else if (t->ranks)
        status = rank_table_show(out, r, t->csv);
    else
        status = communication_show(out, r, table_of(t), t->csv, output_width());
    if (status < 0)
        command_say(COMMAND, "%s", wend_read_message(r));
    else
        command_write(out->str, out->len);
    wend_read_free(r);
    return status < 0 ? -status : command_finish(COMMAND, WEND_EXIT_OK);
}

int show_main(int argc, char **argv)
{
    gboolean all = FALSE;
    gint top = FEW_FUNCTIONS, world = -1;
    TableOptions tables = {0};
    const GOptionEntry entries[] = {
        {"all", 'a', 0, G_OPTION_ARG_NONE, &all, "Print all functions and classes", NULL},
        {"top", 'n', 0, G_OPTION_ARG_INT, &top,
         "Print the N functions with the most MPI calls (15)", "N"},
        {"world", 'w', 0, G_OPTION_ARG_INT, &world, "Print only world N of several, from 0", "N"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &tables.json,
         "Print everything, or with --sites or --waits these, as JSON", NULL},
        {"matrix", 'm', 0, G_OPTION_ARG_NONE, &tables.matrix,
         "Print how much each rank sends to each other rank", NULL},
        {"sizes", 's', 0, G_OPTION_ARG_NONE, &tables.sizes,
         "Print the sizes of messages and other transfers, by powers of two", NULL},
        {"comms", 'c', 0, G_OPTION_ARG_NONE, &tables.comms,
         "Print the members of each communicator", NULL},
        {"ranks", 'r', 0, G_OPTION_ARG_NONE, &tables.ranks,
         "Print how long each rank was in each function", NULL},
        {"messages", 'M', 0, G_OPTION_ARG_NONE, &tables.messages,
         "Print the sends and receives that met nothing; with --all all messages", NULL},
        {"sites", 'S', 0, G_OPTION_ARG_NONE, &tables.sites,
         "Print from where in the program the calls come", NULL},
        SITE_MATCHING_OPTIONS("With --sites or --waits", tables.tolerance, tables.ignored),
        {"waits", 'W', 0, G_OPTION_ARG_NONE, &tables.waits,
         "Print which calls waited for late senders, and for ranks that came late to collectives",
         NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &tables.csv, "Print these tables as CSV", NULL},
        {"table", 0, 0, G_OPTION_ARG_NONE, &tables.table, "Print these tables for people (default)",
         NULL},
        READING_OPTION,
        G_OPTION_ENTRY_NULL};
    int status;
    if (!command_options(COMMAND, "RECORDING", "Print a summary of a recording.", NULL, entries,
                         &argc, &argv, &status))
        return status;
    if (argc != 2)
        return command_usage(COMMAND,
                             argc < 2 ? "no recording given" : "more than one recording given");
    if (top < 0)
        return command_usage(COMMAND, "--top needs a number from 0 on");
    const char *wrong = check_tables(&tables);
    if (wrong != NULL)
        return command_usage(COMMAND, "%s", wrong);
    const char *missing = tables.sites || tables.waits ? NULL : "--sites and --waits";
    if (!site_matching_options(COMMAND, missing, tables.tolerance, tables.ignored, &status))
        return status;
    if (tables.ranks || tables.sites || tables.waits || table_of(&tables) != COMMUNICATION_NONE)
        return show_tables(&tables, all, (guint)top, argv[1], world);

    Show s = {.reader = command_open(COMMAND, argv[1], world, &status)};
    if (!s.reader)
        return status;
    if (wend_read_facts(s.reader, WEND_READ_JOB, &s.facts) < 0
        || wend_read_totals(s.reader, &s.totals) < 0)
        g_return_val_if_reached(WEND_EXIT_SYSTEM);
    if (wend_read_has_times(s.reader, &s.times) < 0 || (s.times && !can_read_times(&s))) {
        command_say(COMMAND, "%s", wend_read_message(s.reader));
        s.times = false;
    }
    s.classes = classes_new(s.reader, s.facts->n_classes);
    GString *out = g_string_new(NULL);
    if (tables.json) {
        show_json(out, &s);
    } else {
        show_run(out, s.facts, s.totals);
        show_unrecorded(out, s.reader);
        show_cut(out, s.reader, s.facts->n_worlds);
        show_off(out, s.reader, s.facts->n_worlds);
        show_missing(out, s.reader);
        show_worlds(out, s.reader, s.facts->n_worlds);
        show_terminations(out, s.reader, COMMAND, all ? G_MAXUINT : FEW_ENDINGS, all);
        show_sizes(out, s.facts, s.totals);
        show_traffic(out, s.totals);
        show_nondeterminism(out, s.totals);
        show_values(out, recorded_count(s.reader, s.facts->n_ranks));
        show_classes(out, s.classes, all);
        show_functions(out, &s, all ? G_MAXUINT : (guint)top);
    }
    command_write(out->str, out->len);
    g_string_free(out, TRUE);
    g_array_unref(s.classes);
    wend_read_free(s.reader);
    return command_finish(COMMAND, WEND_EXIT_OK);
}
