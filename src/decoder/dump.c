/* SPDX-License-Identifier: BSD-3-Clause */
/* dump.c: wend dump: every call of chosen ranks, in order. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lib/merge/merge.h"
#include "lib/read/program.h"
#include "lib/record/functions.h"
#include "lines.h"
#include "sink.h"
#include "src/command/command.h"
#include "src/command/command_text.h"
#include "src/command/reading.h"

#define COMMAND "dump"
#define WRITE_SIZE (1 << 16) /* bytes to gather before a write */
#define ALL_SEQUENCES G_MININT

typedef struct {
    const WendProgram *program;
    WendMembers *members;      /* NULL: the format does not ask whom calls are with */
    const Sink *sink;
    gboolean *ranks;           /* NULL: all */
    gint thread;               /* ALL_SEQUENCES, or a thread */
    guint64 first, last;       /* calls */
    GPtrArray *patterns;       /* of GPatternSpec; NULL: all functions */
    GHashTable *matches;       /* WendFunction -> whether one of the patterns fits, + 1 */
    gboolean polls, timing;
    GString *out;
    Lines *lines;              /* of the sequence */
    gboolean printed;          /* a call */
} Dump;

/* FALSE: standard output is gone. */
static gboolean flush(Dump *d)
{
    gboolean all = wend_command_write(d->out->str, d->out->len);
    g_string_truncate(d->out, 0);
    return all;
}

static gboolean wanted(Dump *d, const WendFunction *function)
{
    if (d->patterns == NULL)
        return TRUE;
    gpointer known = g_hash_table_lookup(d->matches, function);
    if (known == NULL) {
        gboolean fits = FALSE;
        for (guint i = 0; i < d->patterns->len && !fits; i++)
            fits = g_pattern_spec_match_string(d->patterns->pdata[i], function->name);
        known = GINT_TO_POINTER(fits + 1);
        g_hash_table_insert(d->matches, (gpointer)function, known);
    }
    return GPOINTER_TO_INT(known) == 2;
}

static void dump_call(Dump *d, const SinkContext *context, guint64 number, const WendCall *call)
{
    d->sink->number(d->out, context, number, call);
    if (lines_append(d->lines, d->out, call))
        return;
    gsize start = d->out->len;
    d->sink->call(d->out, context, call);
    if (d->sink->repeats == NULL || d->sink->repeats(call))
        lines_keep(d->lines, call, d->out->str + start, d->out->len - start);
}

static gboolean dump_sequence(Dump *d, guint rank, const WendClass *class, guint index)
{
    WendWalk *walk = wend_walk_new(d->program, rank, index, d->polls ? WEND_WALK_POLLS : WEND_WALK_MAIN);
    Follower *follower =
        d->members != NULL ? follower_new(d->program, d->members, rank) : NULL;
    SinkContext context = {.program = d->program,
                           .walk = walk,
                           .members = d->members,
                           .follower = follower,
                           .sequence = &class->sequences[index],
                           .rank = rank,
                           .sequence_index = index,
                           .timing = d->timing};
    lines_forget(d->lines);
    if (d->sink->sequence != NULL)
        d->sink->sequence(d->out, &context);

    guint64 number = 0;
    gboolean going = TRUE;
    const WendCall *call;
    while (going && number <= d->last && (call = wend_walk_next(walk)) != NULL) {
        if (follower != NULL)
            follower_next(follower, walk, call);
        if (number >= d->first && wanted(d, call->function)) {
            d->printed = TRUE;
            dump_call(d, &context, number, call);
            if (d->out->len >= WRITE_SIZE)
                going = flush(d);
        }
        if (!call->poll)
            number++;
    }
    follower_free(follower);
    wend_walk_free(walk);
    return going;
}

static void dump_all(Dump *d)
{
    if (d->sink->begin != NULL)
        d->sink->begin(d->out, d->timing);
    for (guint rank = 0; rank < wend_program_ranks(d->program); rank++) {
        if (d->ranks != NULL && !d->ranks[rank])
            continue;
        guint class_index = wend_program_class_of(d->program, rank);
        if (class_index == G_MAXUINT) /* the recording has nothing of this rank: its run ended early */
            continue;
        const WendClass *class = wend_program_class(d->program, class_index);
        for (guint i = 0; i < class->n_sequences; i++) {
            const WendSequence *sequence = &class->sequences[i];
            if (d->thread != ALL_SEQUENCES
                && (sequence->kind != WEND_SEQUENCE_THREAD || sequence->id != d->thread))
                continue;
            if (!dump_sequence(d, rank, class, i))
                return;
        }
    }
    flush(d);
}

/* Is there a function of that name or pattern, called or not? The recording may know some that this
 * version does not. */
static gboolean is_function(const WendProgram *p, GPatternSpec *pattern)
{
    for (guint i = 0; i < wend_n_functions; i++)
        if (g_pattern_spec_match_string(pattern, wend_functions[i].name))
            return TRUE;
    for (guint i = 0; i < wend_program_n_shapes(p); i++)
        if (g_pattern_spec_match_string(pattern, wend_program_shape(p, i)->function->name))
            return TRUE;
    return FALSE;
}

/* LIST's patterns; NULL: one of them fits no function. */
static GPtrArray *patterns_new(const WendProgram *p, const char *list, GError **error)
{
    g_autoptr(GPtrArray) patterns =
        g_ptr_array_new_with_free_func((GDestroyNotify)g_pattern_spec_free);
    g_auto(GStrv) names = g_strsplit(list, ",", -1);
    for (char **name = names; *name != NULL; name++) {
        GPatternSpec *pattern = g_pattern_spec_new(g_strstrip(*name));
        g_ptr_array_add(patterns, pattern);
        if (!is_function(p, pattern)) {
            g_set_error(error, WEND_ERROR, WEND_ERROR_USAGE,
                        "there is no function '%s': names are such as MPI_Send, and * and ? match",
                        *name);
            return NULL;
        }
    }
    return g_steal_pointer(&patterns);
}

/* Has one of the chosen ranks the chosen thread? */
static gboolean check_thread(const Dump *d, GError **error)
{
    gint last = -1;
    for (guint rank = 0; rank < wend_program_ranks(d->program); rank++) {
        guint class_index = d->ranks == NULL || d->ranks[rank]
                                ? wend_program_class_of(d->program, rank)
                                : G_MAXUINT;
        const WendClass *class =
            class_index != G_MAXUINT ? wend_program_class(d->program, class_index) : NULL;
        for (guint i = 0; class != NULL && i < class->n_sequences; i++) {
            if (class->sequences[i].kind != WEND_SEQUENCE_THREAD)
                continue;
            if (class->sequences[i].id == d->thread)
                return TRUE;
            last = MAX(last, (gint)class->sequences[i].id);
        }
    }
    g_set_error(error, WEND_ERROR, WEND_ERROR_USAGE, "there is no thread %d: %s %s %d", d->thread,
                d->ranks != NULL ? "these ranks have" : "the recording has",
                last > 0 ? "threads 0 to" : "only thread", MAX(last, 0));
    return FALSE;
}

/* Takes what was chosen by name or number, now that the recording says what there is. */
static gboolean choose(Dump *d, const char *ranks, const char *functions, GError **error)
{
    if (ranks != NULL
        && (d->ranks = text_ranks_parse(ranks, wend_program_ranks(d->program), error)) == NULL)
        return FALSE;
    if (d->thread != ALL_SEQUENCES && !check_thread(d, error))
        return FALSE;
    if (functions == NULL)
        return TRUE;
    d->matches = g_hash_table_new(NULL, NULL);
    return (d->patterns = patterns_new(d->program, functions, error)) != NULL;
}

int wend_dump_main(int argc, char **argv)
{
    gint world = -1;
    char *ranks = NULL, *calls = NULL, *functions = NULL, *format = NULL;
    gboolean no_polls = FALSE;
    Dump d = {.thread = ALL_SEQUENCES, .last = G_MAXUINT64, .polls = TRUE};
    const GOptionEntry entries[] = {
        {"rank", 'r', 0, G_OPTION_ARG_STRING, &ranks, "Only these ranks: 3 or 0,4-7 or 0-63:2",
         "RANKS"},
        {"world", 'w', 0, G_OPTION_ARG_INT, &world,
         "Only this one of several worlds, from 0; ranks are then its own", "N"},
        {"thread", 't', 0, G_OPTION_ARG_INT, &d.thread, "Only this thread, and no callbacks", "N"},
        {"calls", 'c', 0, G_OPTION_ARG_STRING, &calls, "Only calls A to B of each sequence, from 0",
         "A-B"},
        {"function", 'f', 0, G_OPTION_ARG_STRING, &functions,
         "Only these functions; * and ? match: MPI_Send,MPI_I*", "NAMES"},
        {"no-polls", 0, 0, G_OPTION_ARG_NONE, &no_polls, "Leave out unsuccessful polls", NULL},
        {"polls", 0, G_OPTION_FLAG_REVERSE, G_OPTION_ARG_NONE, &no_polls,
         "Show unsuccessful polls (default)", NULL},
        {"timing", 0, 0, G_OPTION_ARG_NONE, &d.timing,
         "Add the mean times of each call's signature", NULL},
        {"format", 'F', 0, G_OPTION_ARG_STRING, &format, "text (default), csv or jsonl", "FORMAT"},
        READING_OPTION, G_OPTION_ENTRY_NULL};
    int status;
    GError *error = NULL;
    WendProgram *program = NULL;

    if (!wend_command_options(COMMAND, "RECORDING", "Print every call of a recording, in order, with all arguments.", NULL, entries, &argc, &argv,
                              &status))
        goto end;
    if (argc != 2) {
        status = wend_command_usage(COMMAND, argc < 2 ? "which recording?" : "one recording at a time");
        goto end;
    }
    d.sink = sink_by_name(format != NULL ? format : "text");
    if (d.sink == NULL) {
        status = wend_command_usage(COMMAND, "there is no format '%s': text, csv and jsonl are", format);
        goto end;
    }
    d.polls = !no_polls;
    if (calls != NULL && !text_span_parse(calls, &d.first, &d.last, &error)) {
        status = wend_command_fail(COMMAND, error);
        goto end;
    }
    program = reading_open(argv[1], world, &error);
    d.program = program;
    if (program == NULL || !choose(&d, ranks, functions, &error)) {
        status = wend_command_fail(COMMAND, error);
        goto end;
    }
    d.out = g_string_sized_new(2 * WRITE_SIZE);
    d.lines = lines_new();
    if (d.sink->repeats != NULL)
        d.members = wend_members_new(program);
    dump_all(&d);
    if (!d.printed && (calls != NULL || functions != NULL))
        wend_command_say(COMMAND, "none of the calls is chosen");
    lines_free(d.lines);
    g_string_free(d.out, TRUE);
    status = wend_command_finish(COMMAND, WEND_EXIT_OK);
end:
    g_clear_pointer(&d.patterns, g_ptr_array_unref);
    g_clear_pointer(&d.matches, g_hash_table_unref);
    wend_members_free(d.members);
    wend_program_free(program);
    g_free(d.ranks);
    g_free(ranks);
    g_free(calls);
    g_free(functions);
    g_free(format);
    return status;
}
