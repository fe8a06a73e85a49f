/* SPDX-License-Identifier: BSD-3-Clause */
/* export.c: wend export: goes through the calls of chosen ranks by time, and hands them to a
 * format. */
#include "config.h"

#include "export.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "format.h"
#include "lib/analysis/analysis.h"
#include "lib/base/error.h"
#include "src/command/command.h"
#include "src/command/reading.h"
#include "src/command/site-names.h"
#include "src/command/text.h"
#include "src/read/wrap.h"

/* -- causal order -- */

/* The calls of several ranks in causal order (lib/analysis/matching.h): a call comes after all
 * calls that it depends on. Calls of one sequence are in their order. Memory follows the messages
 * in flight.
 *
 * Matching says which sequence goes on, and which messages its next call has. The call itself comes
 * from a walk that also gives times, sites and unsuccessful polls. */

/* Signatures that are kept decoded: of all sequences together, and of each at least. */
enum { KEEP_ALL = 1 << 16, KEEP_LEAST = 16 };

typedef struct Causal {
    const Export *e;
    double origin;
    unsigned flags;
    Matching *matching;
    gboolean matched;      /* the matching has ended: what is left of each sequence follows */
    TimedCalls **all;      /* by location; NULL: has not begun */
    guint rank, sequence;  /* then: those before have ended */
    TimedCalls *going;     /* the sequence that goes on; NULL: it is to be chosen */
    guint64 index;         /* it goes on up to this call */
    CallMessages messages; /* of that call */
} Causal;

/* Begins with the chosen ranks of E. ORIGIN and FLAGS are those of timeline_calls_new. The caller
 * frees the result with causal_free before the reader of E. */
static Causal *causal_new(const Export *e, double origin, unsigned flags)
{
    Causal *c = g_new0(Causal, 1);
    c->e = e;
    c->origin = origin;
    c->flags = flags;
    c->matching = read_wrap_matching(e->reader, MATCHING_WITH_CALLS);
    c->all = g_new0(TimedCalls *, e->first_location[e->n_ranks] + 1);
    return c;
}

/* C may be NULL */
static void causal_free(Causal *c)
{
    if (!c)
        return;
    for (guint64 i = 0; i < c->e->first_location[c->e->n_ranks]; i++)
        timeline_calls_free(c->all[i]);
    g_free(c->all);
    matching_free(c->matching);
    g_free(c);
}

/* Lets a sequence go on up to call INDEX. Returns FALSE if a function of wend/read.h failed. */
static gboolean go_on(Causal *c, guint rank, guint sequence, guint64 index)
{
    const guint64 *first = c->e->first_location;
    TimedCalls **calls = &c->all[first[rank] + sequence];
    if (!*calls) {
        *calls = timeline_calls_new(c->e->reader, rank, sequence, c->origin, c->flags);
        if (*calls != NULL)
            timeline_calls_keep(*calls, MAX(KEEP_ALL / (guint)first[c->e->n_ranks], KEEP_LEAST));
    }
    c->going = *calls;
    c->index = index;
    return c->going != NULL;
}

static gboolean is_chosen(const Causal *c, guint rank)
{
    return !c->e->ranks || c->e->ranks[rank];
}

/* Chooses the sequence of the next call in causal order. Returns the result of causal_next. */
static int choose_by_matching(Causal *c, Error **error)
{
    MessageEvent e;
    while (matching_next(c->matching, &e)) {
        if (e.kind != MESSAGE_CALL || !is_chosen(c, e.call->rank))
            continue;
        c->messages = (CallMessages){e.sends, e.receives, e.n_sends, e.n_receives};
        return go_on(c, e.call->rank, e.sequence, e.call->index) ? 1 : WEND_READ_ERROR_INPUT;
    }
    if (matching_error(c->matching, c->e->recording, error))
        return WEND_READ_ERROR_INPUT;
    c->matched = TRUE;
    return 0;
}

/* Chooses a sequence that may have calls left: unsuccessful polls behind its last call. */
static int choose_left(Causal *c)
{
    const guint64 *first = c->e->first_location;
    c->messages = (CallMessages){0};
    while (c->rank < c->e->n_ranks) {
        if (is_chosen(c, c->rank) && c->sequence < first[c->rank + 1] - first[c->rank])
            return go_on(c, c->rank, c->sequence++, G_MAXUINT64) ? 1 : WEND_READ_ERROR_INPUT;
        c->rank++;
        c->sequence = 0;
    }
    return 0;
}

/* Gives the next call, and its messages, which are valid until the call after it. Returns 1, 0
 * after the last call, or a negative WendReadResult. Then *ERROR is set, unless a function of
 * wend/read.h failed (wend_read_message). */
static int causal_next(Causal *c, TimedCall *next, CallMessages *messages, Error **error)
{
    for (;;) {
        int status = 0;
        if (!c->going && !c->matched)
            status = choose_by_matching(c, error);
        if (!c->going && c->matched && (status = choose_left(c)) == 0)
            return 0;
        if (status < 0 || (status = timeline_calls_next(c->going, next)) < 0)
            return status;
        gboolean last = status == 0 || (!next->call->poll && next->call->index >= c->index);
        *messages = last ? c->messages : (CallMessages){0};
        if (last)
            c->going = NULL;
        if (status > 0)
            return 1;
    }
}

#define COMMAND "export"
#define EVENTS "events" /* the table of --csv */

typedef struct {
    Export e;
    const Format *format;
    gboolean *ranks;       /* NULL: all */
    guint64 first, last;   /* range of calls of each sequence */
    double from, to;       /* nanoseconds */
    double origin;         /* timeline_origin */
    gboolean timed;        /* the recording has the time of each call */
    guint64 done, n_calls; /* for the progress line */
} Exporter;

/* -- the calls -- */

static gboolean is_wanted(const Exporter *x, const TimedCall *timed)
{
    const WendReadCall *call = timed->call;
    return (call->function->flags & WEND_READ_NOTE) == 0 && call->index >= x->first
           && call->index <= x->last && (double)timed->end >= x->from
           && (double)timed->start <= x->to;
}

static void count_call(Exporter *x, const TimedCall *timed)
{
    if (!timed->call->poll && ++x->done % 4096 == 0)
        command_progress("exporting", x->done, x->n_calls);
}

/* The place of each sequence of RANK; the caller frees it. NULL: the reader failed. */
static ExportPlace *places_of(const Exporter *x, guint rank)
{
    const WendReadRank *info;
    const WendReadSequence *s;
    if (wend_read_rank(x->e.reader, rank, &info) < 0)
        return NULL;
    guint n = info->n_sequences;
    ExportPlace *places = g_new0(ExportPlace, n + 1);
    for (guint i = 0; i < n; i++) {
        if (wend_read_sequence(x->e.reader, rank, i, &s) < 0) {
            g_free(places);
            return NULL;
        }
        places[i] = (ExportPlace){rank, i, x->e.first_location[rank] + i, s->callback, s->id};
    }
    return places;
}

/* What walks are to give. */
static int walk_flags(const Exporter *x, unsigned *flags)
{
    uint32_t n_sites = 0;
    if (x->format->sites && wend_read_n_sites(x->e.reader, &n_sites) < 0)
        return WEND_READ_ERROR_INPUT;
    *flags = WEND_READ_WITH_POLLS | (n_sites > 0 ? WEND_READ_WITH_SITES : 0);
    return WEND_READ_OK;
}

/* Returns 1, 0 if the output failed, or the error of a function of wend/read.h. */
static int export_calls(Exporter *x, gpointer state, guint rank)
{
    unsigned flags;
    if (walk_flags(x, &flags) < 0)
        return WEND_READ_ERROR_INPUT;
    g_autofree ExportPlace *places = places_of(x, rank);
    Timeline *t = places != NULL ? timeline_new(x->e.reader, rank, x->origin, flags) : NULL;
    TimedCall timed;
    int status = t != NULL ? 1 : WEND_READ_ERROR_INPUT;
    while (status > 0 && (status = timeline_next(t, &timed)) > 0) {
        if (is_wanted(x, &timed) && !x->format->call(state, &places[timed.call->sequence], &timed))
            break;
        count_call(x, &timed);
    }
    timeline_free(t);
    if (status < 0)
        return status;
    return status == 0; /* all calls are given */
}

static int export_by_rank(Exporter *x, gpointer state)
{
    int status = 1;
    for (guint rank = 0; rank < x->e.n_ranks && status > 0; rank++) {
        if (!x->ranks || x->ranks[rank])
            status = export_calls(x, state, rank);
        if (status > 0 && x->format->rank != NULL)
            status = x->format->rank(state, rank);
    }
    return status;
}

/* The places of all chosen sequences, by location; the caller frees them. NULL: the reader
 * failed. */
static ExportPlace *all_places(const Exporter *x)
{
    const guint64 *first = x->e.first_location;
    ExportPlace *all = g_new0(ExportPlace, first[x->e.n_ranks] + 1);
    for (guint rank = 0; rank < x->e.n_ranks; rank++) {
        if (x->ranks != NULL && !x->ranks[rank])
            continue;
        g_autofree ExportPlace *places = places_of(x, rank);
        if (!places) {
            g_free(all);
            return NULL;
        }
        memcpy(&all[first[rank]], places, (first[rank + 1] - first[rank]) * sizeof *places);
    }
    return all;
}

/* Returns what export_calls does, or an error with *ERROR set. */
static int export_causally(Exporter *x, gpointer state, Error **error)
{
    unsigned flags;
    if (walk_flags(x, &flags) < 0)
        return WEND_READ_ERROR_INPUT;
    g_autofree ExportPlace *places = all_places(x);
    if (!places)
        return WEND_READ_ERROR_INPUT;
    Causal *c = causal_new(&x->e, x->origin, flags);
    TimedCall timed;
    CallMessages messages;
    int status;
    while ((status = causal_next(c, &timed, &messages, error)) > 0) {
        const ExportPlace *place =
            &places[x->e.first_location[timed.call->rank] + timed.call->sequence];
        if (is_wanted(x, &timed) && !x->format->causal_call(state, place, &timed, &messages))
            break;
        count_call(x, &timed);
    }
    causal_free(c);
    return status < 0 ? status : status == 0;
}

static int export_all(Exporter *x)
{
    Error *error = NULL, *failure = NULL;
    gpointer state = x->format->begin(&x->e, &error);
    if (!state)
        return command_fail(COMMAND, error);
    if (!x->timed) /* only now: of an output that is refused, only the refusal is said */
        command_say(COMMAND,
                    "%s: the recording has no time of each call (wend trace --times): times "
                    "follow from the mean of each kind of call",
                    x->e.recording);
    int status = x->format->causal_call != NULL ? export_causally(x, state, &failure)
                                                : export_by_rank(x, state);
    command_progress(NULL, 0, 0);
    if (failure != NULL) {
        x->format->end(state, FALSE, NULL);
        return command_fail(COMMAND, failure);
    }
    /* a failure of the output is known at its end */
    if (!x->format->end(state, status >= 0, &error))
        return command_fail(COMMAND, error);
    if (status >= 0)
        return WEND_EXIT_OK;
    command_say(COMMAND, "%s", wend_read_message(x->e.reader));
    return -status;
}

/* -- what is to be exported -- */

static void number_locations(Exporter *x, guint64 **first)
{
    const WendReadRank *info;
    const WendReadSequence *s;
    guint64 n = 0;
    *first = g_new0(guint64, x->e.n_ranks + 1);
    for (guint rank = 0; rank < x->e.n_ranks; rank++) {
        (*first)[rank] = n;
        if (wend_read_rank(x->e.reader, rank, &info) < 0)
            continue;
        guint n_sequences = info->n_sequences;
        n += n_sequences;
        if (x->ranks != NULL && !x->ranks[rank])
            continue;
        for (guint i = 0; i < n_sequences; i++)
            if (wend_read_sequence(x->e.reader, rank, i, &s) == WEND_READ_OK)
                x->n_calls += s->n_calls;
    }
    (*first)[x->e.n_ranks] = n;
    x->e.first_location = *first;
}

/* Parses a time in seconds and gives whole nanoseconds: in seconds, most of them are no exact
 * number. FALSE: TEXT is none. */
static gboolean seconds_parse(const char *text, double *nanoseconds, const char *option,
                              Error **error)
{
    char *end;
    if (!text)
        return TRUE;
    double value = g_ascii_strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0)) {
        error_set(error, WEND_ERROR_USAGE,
                  "--%s: '%s' is no time: give seconds since the beginning of the run, as in 1.5",
                  option, text);
        return FALSE;
    }
    *nanoseconds = round(value * 1e9);
    return TRUE;
}

/* Lets sites count as one, by the options. *GROUPS: what the export then refers to. */
static int group_sites(Exporter *x, gint tolerance, char **ignored, GArray **groups)
{
    if (tolerance == 0 && !ignored)
        return WEND_READ_OK; /* a format may do without sites */
    SiteNames *names = site_names_new(x->e.reader, COMMAND);
    int status = site_matching_groups(COMMAND, names, (guint)tolerance, ignored, groups);
    if (*groups != NULL)
        x->e.counts_as = (const guint32 *)(gpointer)(*groups)->data;
    site_names_free(names);
    return status;
}

static const Format *chosen; /* by the options that follow */
static guint n_chosen;

static gboolean choose(const char *name, const char *value, gpointer unused, GError **error)
{
    (void)unused;
    n_chosen++;
    if (strcmp(name, "--otf2") == 0) {
#ifdef HAVE_OTF2
        chosen = &format_otf2;
#else
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "this Wend was built without OTF2: install libotf2-trace-dev, and build it "
                    "again");
        return FALSE;
#endif
    } else if (strcmp(name, "--perfetto") == 0) {
#ifdef HAVE_PROTOBUF_C
        chosen = &format_perfetto;
#else
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "this Wend was built without protobuf-c: install libprotobuf-c-dev and "
                    "protobuf-c-compiler, and build it again");
        return FALSE;
#endif
    } else if (strcmp(value, EVENTS) == 0) {
        chosen = &format_csv;
    } else if (strcmp(value, "calls") == 0) {
        chosen = &format_csv_calls;
    } else {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "there is no table '%s': use --csv or --csv=calls", value);
        return FALSE;
    }
    return TRUE;
}

/* GLib would take the word after --csv for its value. */
static void give_table(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--csv") == 0)
            argv[i] = (char *)"--csv=" EVENTS;
}

static gboolean has_operands(int argc, const char *output, int *status)
{
    if (argc == 2 && n_chosen == 1 && output)
        return TRUE;
    *status =
        command_usage(COMMAND, argc < 2        ? "no recording given"
                               : argc > 2      ? "more than one recording given"
                               : n_chosen == 0 ? "no format given: use --otf2, --perfetto or --csv"
                               : n_chosen > 1  ? "more than one format given"
                                               : "no output given: -o OUTPUT");
    return FALSE;
}

int export_main(int argc, char **argv)
{
    gint world = -1, tolerance = 0;
    g_auto(GStrv) ignored = NULL;
    g_autoptr(GArray) groups = NULL;
    char *ranks = NULL, *calls = NULL, *from = NULL, *to = NULL, *output = NULL;
    guint64 *first = NULL;
    const WendReadFacts *facts;
    Exporter x = {.last = G_MAXUINT64, .to = G_MAXDOUBLE};
    const GOptionEntry entries[] = {
        {"otf2", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, (gpointer)choose,
         "Write a directory in the Open Trace Format 2: OUTPUT/traces.otf2", NULL},
        {"perfetto", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, (gpointer)choose,
         "Write a file for Perfetto's timeline: slices, and arrows from sends to receives", NULL},
        {"csv", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)choose,
         "Write a table of entries and returns, as pipit reads it (--csv alone); with --csv=calls "
         "one row for each call",
         "TABLE"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Write to this directory (OTF2) or file; - is standard output", "OUTPUT"},
        {"force", 'f', 0, G_OPTION_ARG_NONE, &x.e.replace, "Replace an output that exists", NULL},
        {"ranks", 'r', 0, G_OPTION_ARG_STRING, &ranks,
         "Export only these ranks: 3 or 0,4-7 or 0-63:2", "RANKS"},
        {"world", 'w', 0, G_OPTION_ARG_INT, &world,
         "Export only world N of several, from 0; ranks are then ranks of it", "N"},
        {"calls", 'c', 0, G_OPTION_ARG_STRING, &calls,
         "Export only calls A to B of each sequence, from 0", "A-B"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &from,
         "Leave out what ended before this time, in seconds", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &to, "Leave out what began after this time, in seconds",
         "TIME"},
        SITE_MATCHING_OPTIONS("With --otf2", tolerance, ignored),
        READING_OPTION,
        G_OPTION_ENTRY_NULL};
    int status;
    Error *error = NULL;

    give_table(argc, argv);
    if (!command_options(COMMAND, "--otf2|--perfetto|--csv RECORDING -o OUTPUT",
                         "Write a recording in a format that other tools read.", NULL, entries,
                         &argc, &argv, &status))
        goto end;
    if (!has_operands(argc, output, &status))
        goto end;
    if (!site_matching_options(COMMAND, chosen->groups ? NULL : "--otf2", tolerance, ignored,
                               &status))
        goto end;
    if ((calls != NULL && !text_span_parse(calls, &x.first, &x.last, &error))
        || !seconds_parse(from, &x.from, "from", &error)
        || !seconds_parse(to, &x.to, "to", &error)) {
        status = command_fail(COMMAND, error);
        goto end;
    }
    x.format = chosen;
    x.e.output = output;
    x.e.recording = argv[1];
    x.e.reader = command_open(COMMAND, argv[1], world, &status);
    if (!x.e.reader)
        goto end;
    if (wend_read_facts(x.e.reader, WEND_READ_JOB, &facts) < 0)
        g_return_val_if_reached(WEND_EXIT_SYSTEM);
    x.e.n_ranks = facts->n_ranks;
    x.e.n_worlds = facts->n_worlds;
    if (ranks != NULL && !(x.ranks = text_ranks_parse(ranks, x.e.n_ranks, &error))) {
        status = command_fail(COMMAND, error);
        goto end;
    }
    x.e.ranks = x.ranks;
    if ((status = -group_sites(&x, tolerance, ignored, &groups)) != WEND_EXIT_OK) {
        command_say(COMMAND, "%s", wend_read_message(x.e.reader));
        goto end;
    }
    number_locations(&x, &first);
    x.origin = timeline_origin(x.e.reader, x.e.n_ranks, &x.timed);
    status = command_finish(COMMAND, export_all(&x));
end:
    wend_read_free(x.e.reader);
    g_free(first);
    g_free(x.ranks);
    g_free(ranks);
    g_free(calls);
    g_free(from);
    g_free(to);
    g_free(output);
    return status;
}
