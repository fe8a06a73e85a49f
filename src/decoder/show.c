/* show.c: wend show: what a recording is, on one screen or as JSON. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "communication.h"
#include "endings.h"
#include "part.h"
#include "program.h"
#include "src/wend/command.h"
#include "src/wend/reading.h"
#include "analysis/summary.h"
#include "text.h"

#define COMMAND "show"
#define FEW_FUNCTIONS 15
#define FEW_CLASSES 8
#define FEW_ENDINGS 8
#define LABEL_WIDTH 16

static const char *const traffic_names[TRAFFIC_KINDS] = {"point-to-point", "collective", "one-sided", "file write", "file read"};
static const char *const traffic_keys[TRAFFIC_KINDS] = {"point_to_point", "collective", "one_sided", "file_write", "file_read"};

/* -- facts of meta -- */

static char *meta(const WendProgram *p, const char *group, const char *key)
{
    char *value = g_key_file_get_string(wend_program_meta(p), group, key, NULL);
    if (value != NULL && *value == '\0')
        g_clear_pointer(&value, g_free);
    return value;
}

/* -- text -- */

static void label(GString *out, const char *name)
{
    g_string_append_printf(out, "%-*s", LABEL_WIDTH, name);
}

/* What the recording says, or "unknown". */
static void put_fact(GString *out, const char *fact)
{
    text_foreign(out, fact != NULL ? fact : "unknown");
}

static void padded(GString *out, int width, GString *cell)
{
    g_string_append_printf(out, "%*s", width, cell->str);
    g_string_truncate(cell, 0);
}

static void show_run(GString *out, const WendProgram *p, const Summary *s)
{
    char *program = meta(p, "run", "program"), *arguments = meta(p, "run", "arguments"), *library = meta(p, "mpi", "library");
    char *version = meta(p, "mpi", "version"), *hosts = meta(p, "run", "hosts"), *start = meta(p, "run", "start");
    char *elapsed = meta(p, "run", "elapsed"), *threads = meta(p, "mpi", "thread"), *job = meta(p, "run", "job");

    label(out, "application");
    put_fact(out, program);
    if (arguments != NULL) {
        g_string_append_c(out, ' ');
        put_fact(out, arguments);
    }
    g_string_append_c(out, '\n');
    label(out, "MPI");
    put_fact(out, library);
    if (version != NULL) {
        g_string_append(out, ", standard ");
        put_fact(out, version);
    }
    if (threads != NULL) {
        g_string_append(out, ", ");
        put_fact(out, threads);
    }
    g_string_append_c(out, '\n');
    label(out, "ranks");
    text_count(out, wend_program_ranks(p));
    if (hosts != NULL) {
        guint64 n = wend_program_n_hosts(p);
        g_string_append_printf(out, " on %" G_GUINT64_FORMAT " host%s: ", n, n == 1 ? "" : "s");
        put_fact(out, hosts);
        if (out->str[out->len - 1] == ';')
            g_string_truncate(out, out->len - 1);
    }
    if (s->max_threads != 1 || s->min_threads != 1) {
        g_string_append_printf(out, ", %u", s->min_threads);
        if (s->max_threads != s->min_threads)
            g_string_append_printf(out, " to %u", s->max_threads);
        g_string_append(out, " threads each that call MPI");
    }
    g_string_append_c(out, '\n');
    if (start != NULL || elapsed != NULL || job != NULL) {
        label(out, "run");
        const char *comma = "";
        if (start != NULL) {
            GDateTime *t = g_date_time_new_from_unix_utc(g_ascii_strtoll(start, NULL, 10));
            char *text = t != NULL ? g_date_time_format(t, "%Y-%m-%d %H:%M:%S UTC") : g_strdup(start);
            put_fact(out, text);
            g_free(text);
            g_clear_pointer(&t, g_date_time_unref);
            comma = ", ";
        }
        if (elapsed != NULL) {
            g_string_append(out, comma);
            text_seconds_known(out, g_ascii_strtod(elapsed, NULL), 1e-6); /* as it is written */
            g_string_append(out, " from MPI_Init to MPI_Finalize");
            comma = ", ";
        }
        if (job != NULL) {
            g_string_append_printf(out, "%sjob ", comma);
            put_fact(out, job);
        }
        g_string_append_c(out, '\n');
    }
    g_free(program);
    g_free(arguments);
    g_free(library);
    g_free(version);
    g_free(hosts);
    g_free(start);
    g_free(elapsed);
    g_free(threads);
    g_free(job);
}

/* Functions that were called, and that the libwend at hand could not record. */
static void show_unrecorded(GString *out, const WendProgram *p)
{
    g_auto(GStrv) names = g_key_file_get_keys(wend_program_meta(p), WEND_UNRECORDED_GROUP, NULL, NULL);
    if (names == NULL)
        return;
    g_autofree char *list = g_strjoinv(", ", names);
    label(out, "not recorded");
    g_string_append(out, "calls of ");
    put_fact(out, list);
    g_string_append(out, ": Wend was built for an MPI library without them\n");
}

/* What the further worlds of the job ran. */
static void show_worlds(GString *out, const WendProgram *p)
{
    for (guint i = 0; wend_program_n_worlds(p) > 1 && i < wend_program_n_worlds(p); i++) {
        const WendWorld *w = wend_program_world(p, i);
        GKeyFile *facts = wend_program_world_meta(p, i);
        g_autofree char *program = g_key_file_get_string(facts, "run", "program", NULL), *arguments = g_key_file_get_string(facts, "run", "arguments", NULL);
        label(out, i == 0 ? "worlds" : "");
        g_string_append_printf(out, "%u: ranks %u-%u, ", i, w->first, w->first + w->ranks - 1);
        put_fact(out, program);
        if (arguments != NULL && *arguments != '\0') {
            g_string_append_c(out, ' ');
            put_fact(out, arguments);
        }
        g_string_append_c(out, '\n');
    }
}

static void show_sizes(GString *out, const WendProgram *p, const Summary *s)
{
    g_autofree char *totals = wend_merge_totals_text(&s->totals);
    label(out, "calls");
    g_string_append(out, totals);
    if (s->failed > 0) {
        g_string_append(out, "; of the MPI calls ");
        text_count(out, s->failed);
        g_string_append(out, " returned an error");
    }
    if (s->unfinished > 0) {
        g_string_append(out, s->failed > 0 ? " and " : "; of the MPI calls ");
        text_count(out, s->unfinished);
        g_string_append(out, " had not returned");
    }
    g_string_append_c(out, '\n');
    label(out, "archive");
    text_bytes(out, wend_program_archive_size(p));
    g_string_append(out, " (");
    text_bytes(out, wend_program_member_bytes(p));
    g_string_append(out, " uncompressed)\n");
    label(out, "grammar");
    guint n_rules = wend_program_n_rules(p), n_terminals = wend_program_n_terminals(p), n_shapes = wend_program_n_shapes(p);
    text_count(out, n_rules);
    g_string_append(out, n_rules == 1 ? " rule of " : " rules of ");
    text_count(out, s->symbols);
    g_string_append(out, s->symbols == 1 ? " symbol, " : " symbols, ");
    text_count(out, n_terminals);
    g_string_append(out, n_terminals == 1 ? " signature of " : " signatures of ");
    text_count(out, n_shapes);
    g_string_append(out, n_shapes == 1 ? " shape\n" : " shapes\n");
}

static void show_traffic(GString *out, const Summary *s)
{
    const char *name = "sent";
    for (guint kind = 0; kind < TRAFFIC_KINDS; kind++) {
        const Traffic *t = &s->traffic[kind];
        if (t->operations == 0 && kind != TRAFFIC_POINT)
            continue;
        label(out, name);
        name = "";
        g_string_append_printf(out, "%-15s", traffic_names[kind]);
        text_bytes(out, t->bytes);
        g_string_append(out, " in ");
        text_count(out, t->operations);
        g_string_append_printf(out, "%s%s", kind == TRAFFIC_POINT ? " send" : " call", t->operations == 1 ? "" : "s");
        if (t->unsized > 0) {
            g_string_append(out, ", without ");
            text_count(out, t->unsized);
            g_string_append(out, " whose size is not known");
        }
        g_string_append_c(out, '\n');
    }
    label(out, "");
    g_string_append(out, "(count x datatype size of what each rank hands to MPI; see wend-show(1))\n");
}

static void show_nondeterminism(GString *out, const Summary *s)
{
    const Nondeterminism *n = &s->nondeterminism;
    const struct { guint64 count; const char *one, *more; } rows[] = {
        {n->wildcard_receives, "receive with a wildcard", "receives with a wildcard"},
        {n->wildcard_probes, "probe with a wildcard", "probes with a wildcard"},
        {n->probes, "message found by a probe", "messages found by a probe"},
        {n->any_completions, "completion by Waitany, Waitsome, Testany or Testsome", "completions by Waitany, Waitsome, Testany or Testsome"},
        {n->tests, "successful Test or Testall", "successful Test and Testall"},
        {n->neighbour_orders,
         "call that goes by the order of neighbours that MPI_Dist_graph_create gave",
         "calls that go by the order of neighbours that MPI_Dist_graph_create gave"},
        {s->totals.polls, "unsuccessful poll", "unsuccessful polls"},
    };
    const char *name = "left to chance";
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (rows[i].count == 0)
            continue;
        label(out, name);
        name = "";
        text_count(out, rows[i].count);
        g_string_append_printf(out, " %s\n", rows[i].count == 1 ? rows[i].one : rows[i].more);
    }
    if (*name != '\0')
        g_string_append_printf(out, "%-*snothing: no wildcards, probes, tests or completions by any\n", LABEL_WIDTH, name);
}

static void show_classes(GString *out, const Summary *s, gboolean all)
{
    GString *cell = g_string_new(NULL);
    g_string_append(
        out,
        "\n     ranks  MPI calls of each  which ranks (a class: ranks that ran the same code)\n");
    guint shown = all ? s->classes->len : MIN(s->classes->len, FEW_CLASSES);
    for (guint i = 0; i < shown; i++) {
        const ClassRow *row = &g_array_index(s->classes, ClassRow, i);
        text_count(cell, row->class->n_ranks);
        padded(out, 10, cell);
        text_count(cell, row->calls);
        padded(out, 19, cell);
        g_string_append(out, "  ");
        text_ranks(cell, row->class->ranks, row->class->n_ranks);
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
    if (shown < s->classes->len)
        g_string_append_printf(out, "           and %u classes more (--all)\n", s->classes->len - shown);
    g_string_free(cell, TRUE);
}

/* The four columns of times. */
static void show_times(GString *out, const Summary *s, const FunctionRow *row, GString *cell)
{
    const WendTiming *t = &row->duration;
    const struct { double value, error;
    } times[] = {{t->mean, row->mean_error},
                 {t->min, row->rest_error * t->min},
                 {t->max, row->rest_error * t->max},
                 {t->stddev, MAX(row->rest_error * t->stddev, row->mean_error)}};
    for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
        if (t->count > 0 && (i < 3 || t->count > 1)) /* one call has no deviation */
            text_seconds_known(cell, times[i].value, MAX(times[i].error, s->resolution));
        else
            g_string_append_c(cell, '-');
        padded(out, 11, cell);
    }
}

/* Its share of the time in MPI, and of the run's. */
static void show_shares(GString *out, const Summary *s, const FunctionRow *row, GString *cell)
{
    const double wholes[] = {s->busy, s->run}, errors[] = {s->busy_error, 0};
    for (guint i = 0; i < G_N_ELEMENTS(wholes); i++) {
        if (row->seconds <= 0 || wholes[i] <= 0) {
            g_string_append_c(cell, '-');
        } else {
            double share = row->seconds / wholes[i],
                   relative =
                       row->mean_error / MAX(row->duration.mean, 1e-12) + errors[i] / wholes[i];
            text_share(cell, share, share * (1 - MIN(share, 1) * (i == 0)) * relative);
        }
        padded(out, 8, cell);
    }
}

static void show_functions(GString *out, const Summary *s, guint top)
{
    GString *cell = g_string_new(NULL);
    g_string_append_printf(out, "\n%13s  %-24s %10s %10s %10s %10s %7s %7s\n", "MPI calls",
                           "function", "mean", "min", "max", "deviation", "of MPI", "of run");
    guint shown = MIN(s->functions->len, top);
    for (guint i = 0; i < shown; i++) {
        const FunctionRow *row = &g_array_index(s->functions, FunctionRow, i);
        text_count(cell, row->calls);
        padded(out, 13, cell);
        text_foreign(cell, row->name);
        g_string_append_printf(out, "  %-24s", cell->str);
        g_string_truncate(cell, 0);
        show_times(out, s, row, cell);
        show_shares(out, s, row, cell);
        g_string_append_c(out, '\n');
    }
    if (shown < s->functions->len)
        g_string_append_printf(out, "%13s  and %u functions more (--all)\n", "",
                               s->functions->len - shown);
    if (s->busy > 0) {
        g_string_append(out, "shares: of the ");
        text_seconds_known(out, s->busy, s->busy_error);
        g_string_append(out, " that all threads spent in MPI");
        if (s->run > 0) {
            g_string_append(out, ", of the ");
            text_seconds_known(out, s->run, 1e-6);
            g_string_append(out, " that they ran");
        }
        g_string_append(out, ", without MPI_Init and MPI_Finalize\n");
    }
    g_string_free(cell, TRUE);
}

/* -- JSON -- */

static void json_key(GString *out, const char *key)
{
    char last = out->str[out->len - 1];
    if (last != '{' && last != '[')
        g_string_append_c(out, ',');
    g_string_append_printf(out, "\"%s\":", key);
}

static void json_count(GString *out, const char *key, guint64 n)
{
    json_key(out, key);
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, n);
}

static void json_double(GString *out, const char *key, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    json_key(out, key);
    g_string_append(
        out, g_ascii_formatd(text, sizeof text, "%.4g", value)); /* an archive has no more digits */
}

static void json_meta(GString *out, const WendProgram *p)
{
    GKeyFile *file = wend_program_meta(p);
    char **groups = g_key_file_get_groups(file, NULL);
    json_key(out, "meta");
    g_string_append_c(out, '{');
    for (char **group = groups; *group != NULL; group++) {
        char **keys = g_key_file_get_keys(file, *group, NULL, NULL);
        if (group != groups)
            g_string_append_c(out, ',');
        text_json_string(out, *group);
        g_string_append(out, ":{");
        for (char **key = keys; key != NULL && *key != NULL; key++) {
            char *value = g_key_file_get_string(file, *group, *key, NULL);
            if (key != keys)
                g_string_append_c(out, ',');
            text_json_string(out, *key);
            g_string_append_c(out, ':');
            text_json_string(out, value != NULL ? value : "");
            g_free(value);
        }
        g_string_append_c(out, '}');
        g_strfreev(keys);
    }
    g_string_append_c(out, '}');
    g_strfreev(groups);
}

static void json_functions(GString *out, const Summary *s)
{
    json_key(out, "functions");
    g_string_append_c(out, '[');
    for (guint i = 0; i < s->functions->len; i++) {
        const FunctionRow *row = &g_array_index(s->functions, FunctionRow, i);
        g_string_append(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        text_json_string(out, row->name);
        json_count(out, "calls", row->calls);
        if (row->duration.count > 0) {
            json_key(out, "duration");
            g_string_append_c(out, '{');
            json_count(out, "count", row->duration.count);
            json_double(out, "mean", row->duration.mean);
            json_double(out, "min", row->duration.min);
            json_double(out, "max", row->duration.max);
            json_double(out, "stddev", row->duration.stddev);
            g_string_append_c(out, '}');
        }
        g_string_append_c(out, '}');
    }
    g_string_append_c(out, ']');
}

static void json_classes(GString *out, const Summary *s)
{
    json_key(out, "classes");
    g_string_append_c(out, '[');
    for (guint i = 0; i < s->classes->len; i++) {
        const ClassRow *row = &g_array_index(s->classes, ClassRow, i);
        g_string_append_printf(out, "%s{\"ranks\":\"", i > 0 ? "," : "");
        text_ranks(out, row->class->ranks, row->class->n_ranks);
        g_string_append_c(out, '"');
        json_count(out, "count", row->class->n_ranks);
        json_count(out, "calls", row->calls);
        g_string_append_c(out, '}');
    }
    g_string_append_c(out, ']');
}

static void show_json(GString *out, const WendProgram *p, const Summary *s)
{
    const Nondeterminism *n = &s->nondeterminism;
    g_string_append_c(out, '{');
    json_meta(out, p);
    json_count(out, "ranks", wend_program_ranks(p));
    json_count(out, "worlds", wend_program_n_worlds(p));
    json_count(out, "min_threads", s->min_threads);
    json_count(out, "max_threads", s->max_threads);
    json_count(out, "callbacks", s->callbacks);
    json_count(out, "calls", s->totals.mpi_calls);
    json_count(out, "unsuccessful_polls", s->totals.polls);
    json_count(out, "frees", s->totals.frees);
    json_count(out, "failed_calls", s->failed);
    json_count(out, "unfinished_calls", s->unfinished);
    json_count(out, "archive_bytes", wend_program_archive_size(p));
    json_count(out, "uncompressed_bytes", wend_program_member_bytes(p));
    json_count(out, "rules", wend_program_n_rules(p));
    json_count(out, "symbols", s->symbols);
    json_count(out, "signatures", wend_program_n_terminals(p));
    json_count(out, "shapes", wend_program_n_shapes(p));
    json_key(out, "sent");
    g_string_append_c(out, '{');
    for (guint kind = 0; kind < TRAFFIC_KINDS; kind++) {
        json_key(out, traffic_keys[kind]);
        g_string_append_c(out, '{');
        json_count(out, "operations", s->traffic[kind].operations);
        json_count(out, "bytes", s->traffic[kind].bytes);
        json_count(out, "unsized", s->traffic[kind].unsized);
        g_string_append_c(out, '}');
    }
    g_string_append_c(out, '}');
    json_key(out, "nondeterminism");
    g_string_append_c(out, '{');
    json_count(out, "wildcard_receives", n->wildcard_receives);
    json_count(out, "wildcard_probes", n->wildcard_probes);
    json_count(out, "probes", n->probes);
    json_count(out, "any_completions", n->any_completions);
    json_count(out, "tests", n->tests);
    json_count(out, "unsuccessful_polls", s->totals.polls);
    json_count(out, "neighbour_orders", n->neighbour_orders);
    g_string_append_c(out, '}');
    json_classes(out, s);
    json_functions(out, s);
    json_double(out, "seconds_in_mpi", s->busy);
    json_double(out, "seconds_of_run", s->run);
    g_string_append(out, "}\n");
}

/* -- tables of communication -- */

typedef struct {
    gboolean matrix, sizes, comms; /* which */
    gboolean csv, table;           /* how: neither is by where the output goes */
} Tables;

static CommunicationTable table_of(const Tables *t)
{
    return t->matrix  ? COMMUNICATION_MATRIX
           : t->sizes ? COMMUNICATION_SIZES
           : t->comms ? COMMUNICATION_COMMS
                      : COMMUNICATION_NONE;
}

/* NULL: the options go together. */
static const char *check_tables(const Tables *t, gboolean json)
{
    int tables = t->matrix + t->sizes + t->comms;
    if (tables > 1 || (tables == 1 && json))
        return "only one of --matrix, --sizes, --comms and --json";
    if (tables == 0 && (t->csv || t->table))
        return "--csv and --table are for --matrix, --sizes and --comms";
    return t->csv && t->table ? "--csv or --table, not both" : NULL;
}

static guint terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static int show_tables(const Tables *t, const char *path, gint world)
{
    WendRead *r = wend_read_new();
    g_autoptr(GString) out = g_string_new(NULL);
    wend_read_set_memory(r, reading_limit());
    int status = world >= 0 ? wend_read_open_world(r, path, (guint32)world)
                            : wend_read_open(r, path);
    if (status == WEND_READ_OK)
        status = communication_show(out, r, table_of(t),
                                    t->csv || (!t->table && !isatty(STDOUT_FILENO)),
                                    terminal_width());
    if (status < 0)
        wend_command_say(COMMAND, "%s", wend_read_message(r));
    else
        wend_command_write(out->str, out->len);
    wend_read_free(r);
    return status < 0 ? -status : wend_command_finish(COMMAND, WEND_EXIT_OK);
}

int wend_show_main(int argc, char **argv)
{
    gboolean all = FALSE, json = FALSE;
    gint top = FEW_FUNCTIONS, world = -1;
    Tables tables = {0};
    const GOptionEntry entries[] = {
        {"all", 'a', 0, G_OPTION_ARG_NONE, &all, "All functions and classes", NULL},
        {"top", 'n', 0, G_OPTION_ARG_INT, &top, "This many functions (15)", "N"},
        {"world", 'w', 0, G_OPTION_ARG_INT, &world, "Only this one of several worlds, from 0", "N"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Everything, as one JSON object", NULL},
        {"matrix", 'm', 0, G_OPTION_ARG_NONE, &tables.matrix, "Who sends how much to whom", NULL},
        {"sizes", 's', 0, G_OPTION_ARG_NONE, &tables.sizes,
         "How large messages and other transfers are, by powers of two", NULL},
        {"comms", 'c', 0, G_OPTION_ARG_NONE, &tables.comms, "Which ranks are in which communicator",
         NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &tables.csv,
         "These as CSV (default if the output is no terminal)", NULL},
        {"table", 0, 0, G_OPTION_ARG_NONE, &tables.table,
         "These for people, the matrix as a map (default on a terminal)", NULL},
        READING_OPTION, G_OPTION_ENTRY_NULL};
    int status;
    if (!wend_command_options(COMMAND, "RECORDING", "Say what a recording is.", NULL, entries, &argc, &argv, &status))
        return status;
    if (argc != 2)
        return wend_command_usage(COMMAND, argc < 2 ? "which recording?" : "one recording at a time");
    if (top < 0)
        return wend_command_usage(COMMAND, "--top takes a number from 0");
    const char *wrong = check_tables(&tables, json);
    if (wrong != NULL)
        return wend_command_usage(COMMAND, "%s", wrong);
    if (table_of(&tables) != COMMUNICATION_NONE)
        return show_tables(&tables, argv[1], world);

    GError *error = NULL;
    WendProgram *program = reading_open(argv[1], world, &error);
    if (program == NULL)
        return wend_command_fail(COMMAND, error);
    Summary *summary = summary_new(program);
    GString *out = g_string_new(NULL);
    if (json) {
        show_json(out, program, summary);
    } else {
        show_run(out, program, summary);
        show_unrecorded(out, program);
        show_worlds(out, program);
        endings_show(out, program, all ? G_MAXUINT : FEW_ENDINGS);
        show_sizes(out, program, summary);
        show_traffic(out, summary);
        show_nondeterminism(out, summary);
        show_classes(out, summary, all);
        show_functions(out, summary, all ? G_MAXUINT : (guint)top);
    }
    wend_command_write(out->str, out->len);
    g_string_free(out, TRUE);
    summary_free(summary);
    wend_program_free(program);
    return wend_command_finish(COMMAND, WEND_EXIT_OK);
}
