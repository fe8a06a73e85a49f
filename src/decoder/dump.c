/* SPDX-License-Identifier: BSD-3-Clause */
/* dump.c: wend dump: prints every call of chosen ranks, in order. */
#include "config.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "decoder.h"
#include "dump.h"
#include "src/command/command.h"
#include "src/command/reading.h"
#include "src/command/text.h"
#include "wend/read.h"

/* -- lines -- */

/* A cache of the text of repeated calls of one sequence. Programs make the same call millions of
 * times without another call between.
 *
 * A line is stored at a place that depends on its signature, and replaces the line
 * there. The cache is bounded, and the loops of a program have few signatures. */

#define PLACES 4096
#define LONGEST 232 /* for a longer line, formatting is not the main cost */

typedef struct {
    guint64 sequence; /* 0: the place is free */
    guint32 signature;
    gint64 return_code;
    guint8 n;
    char text[LONGEST];
} KnownLine;

typedef struct Lines {
    guint64 sequence; /* number of the current sequence, from 1 */
    KnownLine lines[PLACES];
} Lines;

/* An empty cache. The caller frees it with lines_free. */
static Lines *lines_new(void)
{
    Lines *lines = g_new0(Lines, 1);
    lines->sequence = 1;
    return lines;
}

static void lines_free(Lines *lines)
{
    g_free(lines);
}

/* Forgets all texts. Call it when another sequence begins, because signatures then have other
 * texts. */
static void lines_forget(Lines *lines)
{
    lines->sequence++;
}

/* Appends the text that is kept for CALL. Returns FALSE if there is none. */
static gboolean lines_append(const Lines *lines, GString *out, const WendReadCall *call)
{
    const KnownLine *line = &lines->lines[call->signature % PLACES];
    if (line->sequence != lines->sequence || line->signature != call->signature
        || line->return_code != call->return_code || call->poll)
        return FALSE;
    g_string_append_len(out, line->text, line->n);
    return TRUE;
}

/* Keeps a copy of TEXT, which the caller has written for CALL, if all calls of its signature have
 * the same text. */
static void lines_keep(Lines *lines, const WendReadCall *call, const char *text, gsize n)
{
    if (n > LONGEST || !call->repeats)
        return;
    KnownLine *line = &lines->lines[call->signature % PLACES];
    line->sequence = lines->sequence;
    line->signature = call->signature;
    line->return_code = call->return_code;
    line->n = (guint8)n;
    memcpy(line->text, text, n);
}

#define COMMAND "dump"
#define WRITE_SIZE (1 << 16) /* bytes to collect before a write */
#define ALL_SEQUENCES G_MININT

typedef struct {
    WendRead *reader;
    const char *recording; /* its path, for messages */
    guint n_ranks, n_worlds;
    const Sink *sink;
    gboolean *ranks;     /* NULL: all ranks */
    gint thread;         /* a thread, or ALL_SEQUENCES */
    guint64 first, last; /* range of calls */
    GPtrArray *patterns; /* of GPatternSpec; NULL: all functions */
    GHashTable *matches; /* WendReadFunction -> whether a pattern matches it, + 1 */
    gboolean polls, timing, values, times, sites;
    SiteNames *names; /* NULL: sites are not printed */
    gboolean stacks;  /* sites have call stacks */
    gboolean has_sites;
    GString *out;
    Lines *lines;     /* cache of the sequence */
    gboolean printed; /* whether a call was printed */
    gboolean timed;   /* whether the time of one was */
} Dump;

/* Returns FALSE if standard output is closed. */
static gboolean flush(Dump *d)
{
    gboolean all = command_write(d->out->str, d->out->len);
    g_string_truncate(d->out, 0);
    return all;
}

static gboolean wanted(Dump *d, const WendReadFunction *function)
{
    if (!d->patterns)
        return TRUE;
    gpointer known = g_hash_table_lookup(d->matches, function);
    if (!known) {
        gboolean fits = FALSE;
        for (guint i = 0; i < d->patterns->len && !fits; i++)
            fits = g_pattern_spec_match_string(d->patterns->pdata[i], function->name);
        known = GINT_TO_POINTER(fits + 1);
        g_hash_table_insert(d->matches, (gpointer)function, known);
    }
    return GPOINTER_TO_INT(known) == 2;
}

static void dump_call(Dump *d, const SinkContext *context, const WendReadCall *call)
{
    d->sink->number(d->out, context, call);
    if (!d->sites && lines_append(d->lines, d->out, call))
        return;
    gsize start = d->out->len;
    d->sink->call(d->out, context, call);
    if (d->has_sites && call->site == WEND_READ_NO_INDEX && !call->unfinished
        && (call->function->flags & WEND_READ_NOTE) == 0)
        site_names_say_unknown(d->names);
    if (!d->sites && call->repeats && (!d->sink->repeats || d->sink->repeats(call)))
        lines_keep(d->lines, call, d->out->str + start, d->out->len - start);
}

/* Adds the time of the last call of CALLS. Returns FALSE if it is damaged. */
static gboolean dump_time(Dump *d, WendReadCalls *calls)
{
    WendReadTime time;
    int status = wend_read_time(calls, &time);
    d->timed |= status == WEND_READ_OK;
    d->sink->time(d->out, status == WEND_READ_OK ? &time : NULL);
    return status != WEND_READ_ERROR_INPUT;
}

static gboolean shown(Dump *d, const WendReadCall *call)
{
    return call->index >= d->first && (d->polls || !call->poll) && wanted(d, call->function);
}

/* Leaves out the values of a call that is not printed. */
static void skip_values(Recorded *r, guint64 step)
{
    g_autoptr(GString) unused = g_string_new(NULL);
    recorded_before(unused, r, step);
    recorded_result(unused, r, step);
}

static void end_values(Dump *d, const SinkContext *context, Recorded *r)
{
    if (!recorded_rest(d->out, r))
        command_say(COMMAND, "rank %u: its values are damaged", context->rank);
}

/* A thread that never calls MPI. */
static void dump_values(const SinkContext *context, gpointer dump)
{
    Dump *d = dump;
    if (d->thread != ALL_SEQUENCES && (context->callback || context->id != d->thread))
        return;
    Recorded *r = recorded_new(context);
    if (d->sink->sequence != NULL)
        d->sink->sequence(d->out, context);
    end_values(d, context, r);
    recorded_free(r);
}

static gboolean dump_sequence(Dump *d, const SinkContext *context)
{
    unsigned flags = d->polls || d->values ? WEND_READ_WITH_POLLS : 0;
    Recorded *recorded = d->values ? recorded_new(context) : NULL;
    guint64 step = 0;
    WendReadCalls *calls;
    const WendReadCall *call;
    gboolean going = TRUE, damaged = FALSE;
    if (d->times)
        flags |= WEND_READ_WITH_TIMES;
    if (d->sites)
        flags |= WEND_READ_WITH_SITES;
    if (!d->sink->repeats)
        flags |= WEND_READ_WITHOUT_TRANSFERS;
    if (wend_read_calls(d->reader, context->rank, context->sequence, flags, &calls) < 0) {
        command_say(COMMAND, "%s", wend_read_message(d->reader));
        recorded_free(recorded);
        return FALSE;
    }
    lines_forget(d->lines);
    if (d->sink->sequence != NULL)
        d->sink->sequence(d->out, context);
    while (going && wend_read_next(calls, &call) == WEND_READ_OK && call != NULL
           && call->index <= d->last) {
        guint64 at = step++;
        if (!shown(d, call)) {
            if (recorded != NULL)
                skip_values(recorded, at);
            continue;
        }
        d->printed = TRUE;
        recorded_before(d->out, recorded, at);
        dump_call(d, context, call);
        damaged |= d->times && !dump_time(d, calls);
        recorded_result(d->out, recorded, at);
        if (d->out->len >= WRITE_SIZE)
            going = flush(d);
    }
    if (!call && !d->patterns)
        end_values(d, context, recorded);
    if (damaged)
        command_say(COMMAND, "rank %u: its times are damaged", context->rank);
    recorded_free(recorded);
    wend_read_calls_free(calls);
    return going;
}

static gboolean dump_rank(Dump *d, guint rank)
{
    const WendReadRank *info;
    const WendReadSequence *sequence;
    if (wend_read_rank(d->reader, rank, &info) < 0)
        g_return_val_if_reached(FALSE);
    SinkContext context = {.reader = d->reader,
                           .n_worlds = d->n_worlds,
                           .rank = rank,
                           .world = info->world,
                           .world_rank = info->world_rank,
                           .class_index = info->class_index,
                           .timing = d->timing,
                           .json = d->sink->repeats != NULL,
                           .sites = d->names,
                           .stacks = d->stacks};
    /* 0: the run ended early, and nothing of the rank was saved */
    guint n_sequences = info->n_sequences;
    for (guint i = 0; i < n_sequences; i++) {
        if (wend_read_sequence(d->reader, rank, i, &sequence) < 0)
            g_return_val_if_reached(FALSE);
        if (d->thread != ALL_SEQUENCES && (sequence->callback || sequence->id != d->thread))
            continue;
        context.sequence = i;
        context.callback = sequence->callback;
        context.id = sequence->id;
        if (!dump_sequence(d, &context))
            return FALSE;
    }
    if (d->values && !d->patterns && d->first == 0)
        recorded_others(&context, dump_values, d);
    return TRUE;
}

static void dump_all(Dump *d)
{
    if (d->sink->begin != NULL)
        d->sink->begin(d->out, d->timing, d->times, d->names);
    for (guint rank = 0; rank < d->n_ranks; rank++)
        if ((!d->ranks || d->ranks[rank]) && !dump_rank(d, rank))
            return;
    flush(d);
}

/* -- selection -- */

/* Whether Wend knows a function of that name or pattern. */
static gboolean is_function(WendRead *r, GPatternSpec *pattern)
{
    const WendReadFunction *f;
    for (guint i = 0; wend_read_function(r, i, &f) == WEND_READ_OK; i++)
        if (g_pattern_spec_match_string(pattern, f->name))
            return TRUE;
    return FALSE;
}

/* The patterns of LIST. NULL, with *STATUS, if one of them matches no function. */
static GPtrArray *patterns_new(WendRead *r, const char *list, int *status)
{
    g_autoptr(GPtrArray) patterns =
        g_ptr_array_new_with_free_func((GDestroyNotify)g_pattern_spec_free);
    g_auto(GStrv) names = g_strsplit(list, ",", -1);
    for (char **name = names; *name != NULL; name++) {
        GPatternSpec *pattern = g_pattern_spec_new(g_strstrip(*name));
        g_ptr_array_add(patterns, pattern);
        if (!is_function(r, pattern)) {
            command_say(COMMAND,
                        "there is no function '%s': names are like MPI_Send, and * and ? "
                        "match",
                        *name);
            *status = WEND_EXIT_USAGE;
            return NULL;
        }
    }
    return g_steal_pointer(&patterns);
}

/* Whether RANK has thread D->thread. *LAST becomes at least its last thread. */
static gboolean has_thread(const Dump *d, guint rank, gint *last)
{
    const WendReadRank *info;
    const WendReadSequence *s;
    if (wend_read_rank(d->reader, rank, &info) < 0)
        return FALSE;
    guint n_sequences = info->n_sequences;
    for (guint i = 0; i < n_sequences; i++) {
        if (wend_read_sequence(d->reader, rank, i, &s) < 0 || s->callback)
            continue;
        if (s->id == d->thread)
            return TRUE;
        *last = MAX(*last, (gint)s->id);
    }
    return FALSE;
}

/* Whether one of the chosen ranks has the chosen thread. */
static int check_thread(const Dump *d)
{
    gint last = -1;
    for (guint rank = 0; rank < d->n_ranks; rank++)
        if ((!d->ranks || d->ranks[rank]) && has_thread(d, rank, &last))
            return WEND_EXIT_OK;
    command_say(COMMAND, "there is no thread %d: %s %s %d", d->thread,
                d->ranks != NULL ? "these ranks have" : "the recording has",
                last > 0 ? "threads 0 to" : "only thread", MAX(last, 0));
    return WEND_EXIT_USAGE;
}

/* Resolves the chosen ranks, thread and functions by the recording. */
static int choose(Dump *d, const char *ranks, const char *functions)
{
    const WendReadFacts *facts;
    Error *error = NULL;
    int status = WEND_EXIT_OK;
    if (wend_read_facts(d->reader, WEND_READ_JOB, &facts) < 0)
        g_return_val_if_reached(WEND_EXIT_SYSTEM);
    d->n_ranks = facts->n_ranks;
    d->n_worlds = facts->n_worlds;
    if (ranks != NULL && !(d->ranks = text_ranks_parse(ranks, d->n_ranks, &error)))
        return command_fail(COMMAND, error);
    if (d->thread != ALL_SEQUENCES)
        status = check_thread(d);
    if (status == WEND_EXIT_OK && functions != NULL) {
        d->matches = g_hash_table_new(NULL, NULL);
        d->patterns = patterns_new(d->reader, functions, &status);
    }
    return status;
}

/* For --sites. FALSE: the sites of the recording are damaged. */
static gboolean open_names(Dump *d, int *status)
{
    uint32_t n;
    int result = wend_read_n_sites(d->reader, &n);
    if (result < 0) {
        command_say(COMMAND, "%s", wend_read_message(d->reader));
        *status = -result;
        return FALSE;
    }
    d->has_sites = n > 0;
    if (n == 0)
        command_say(COMMAND, "%s: the recording has no call sites", d->recording);
    d->names = site_names_new(d->reader, COMMAND);
    d->stacks = site_stacks_recorded(d->names);
    return TRUE;
}

/* CHOSEN: only some calls are printed. Returns the exit status. */
static int dump_recording(Dump *d, int world, const char *ranks, const char *functions,
                          gboolean chosen)
{
    int status;
    d->reader = command_open(COMMAND, d->recording, world, &status);
    if (!d->reader)
        return status;
    status = choose(d, ranks, functions);
    if (status != WEND_EXIT_OK)
        return status;
    if (d->values && recorded_count(d->reader, d->n_ranks) == 0)
        command_say(COMMAND, "%s: the recording has no values: wend trace --values records them",
                    d->recording);
    if (d->sites && !open_names(d, &status))
        return status;
    d->out = g_string_sized_new(2 * WRITE_SIZE);
    d->lines = lines_new();
    dump_all(d);
    if (d->times && d->printed && !d->timed)
        command_say(COMMAND, "%s: the recording has no times: wend trace --times records them",
                    d->recording);
    if (!d->printed && chosen)
        command_say(COMMAND, "no call matches --calls and --function");
    lines_free(d->lines);
    g_string_free(d->out, TRUE);
    return command_finish(COMMAND, WEND_EXIT_OK);
}

int dump_main(int argc, char **argv)
{
    gint world = -1;
    char *ranks = NULL, *calls = NULL, *functions = NULL, *format = NULL;
    gboolean no_polls = FALSE;
    Dump d = {.thread = ALL_SEQUENCES, .last = G_MAXUINT64, .polls = TRUE};
    const GOptionEntry entries[] = {
        {"rank", 'r', 0, G_OPTION_ARG_STRING, &ranks,
         "Print only these ranks: 3 or 0,4-7 or 0-63:2", "RANKS"},
        {"world", 'w', 0, G_OPTION_ARG_INT, &world,
         "Print only world N of several, from 0; ranks are then ranks of it", "N"},
        {"thread", 't', 0, G_OPTION_ARG_INT, &d.thread, "Print only this thread, and no callbacks",
         "N"},
        {"calls", 'c', 0, G_OPTION_ARG_STRING, &calls,
         "Print only calls A to B of each sequence, from 0", "A-B"},
        {"function", 'f', 0, G_OPTION_ARG_STRING, &functions,
         "Print only these functions; * and ? match: MPI_Send,MPI_I*", "NAMES"},
        {"no-polls", 0, 0, G_OPTION_ARG_NONE, &no_polls, "Leave out unsuccessful polls", NULL},
        {"polls", 0, G_OPTION_FLAG_REVERSE, G_OPTION_ARG_NONE, &no_polls,
         "Print unsuccessful polls (default)", NULL},
        {"timing", 0, 0, G_OPTION_ARG_NONE, &d.timing,
         "Add the mean times of each call's signature", NULL},
        {"times", 0, 0, G_OPTION_ARG_NONE, &d.times,
         "Add when each call began and how long it took (wend trace --times)", NULL},
        {"values", 0, 0, G_OPTION_ARG_NONE, &d.values,
         "Print what the program got from the clock, as random numbers, process ids and host names "
         "(wend trace --values)",
         NULL},
        {"sites", 'S', 0, G_OPTION_ARG_NONE, &d.sites,
         "Add from where in the program each call comes, with its call stack if it was recorded",
         NULL},
        {"format", 'F', 0, G_OPTION_ARG_STRING, &format, "Print text (default), csv or jsonl",
         "FORMAT"},
        READING_OPTION,
        G_OPTION_ENTRY_NULL};
    int status;
    Error *error = NULL;

    if (!command_options(COMMAND, "RECORDING",
                         "Print every call of a recording, in order, with all arguments.", NULL,
                         entries, &argc, &argv, &status))
        goto end;
    if (argc != 2) {
        status = command_usage(COMMAND,
                               argc < 2 ? "no recording given" : "more than one recording given");
        goto end;
    }
    d.sink = sink_by_name(format != NULL ? format : "text");
    if (!d.sink) {
        status = command_usage(COMMAND, "there is no format '%s': use text, csv or jsonl", format);
        goto end;
    }
    if (d.values && d.sink->begin != NULL) {
        status = command_usage(COMMAND, "--values needs the format text or jsonl");
        goto end;
    }
    d.polls = !no_polls;
    d.recording = argv[1];
    if (calls != NULL && !text_span_parse(calls, &d.first, &d.last, &error)) {
        status = command_fail(COMMAND, error);
        goto end;
    }
    status = dump_recording(&d, world, ranks, functions, calls != NULL || functions != NULL);
end:
    g_clear_pointer(&d.patterns, g_ptr_array_unref);
    g_clear_pointer(&d.matches, g_hash_table_unref);
    site_names_free(d.names);
    wend_read_free(d.reader);
    g_free(d.ranks);
    g_free(ranks);
    g_free(calls);
    g_free(functions);
    g_free(format);
    return status;
}
