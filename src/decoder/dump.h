/* SPDX-License-Identifier: BSD-3-Clause */
/* dump.h: the parts of wend dump. */
#ifndef WEND_DUMP_H
#define WEND_DUMP_H

#include <glib.h>

#include "src/command/site-names.h"
#include "wend/read.h"

/* -- sink.c -- */

/* The three formats of wend dump. A sink appends the text of one call to a string in two
 * steps. The caller writes the string to the output. */

/* The sequence that the calls belong to. */
typedef struct {
    WendRead *reader;
    guint n_worlds;
    guint rank, world, world_rank, class_index;
    guint sequence;    /* its index in the rank */
    gboolean callback; /* is it a callback? ID is then its function, else the thread */
    gint64 id;
    gboolean timing;
    gboolean json;    /* values are printed as JSON */
    SiteNames *sites; /* NULL: sites are not printed */
    gboolean stacks;  /* they have call stacks */
} SinkContext;

typedef struct {
    const char *name;
    /* Text before everything, and text before the calls of a sequence. NULL: none. */
    void (*begin)(GString *out, gboolean timing, gboolean times, const SiteNames *sites);
    void (*sequence)(GString *out, const SinkContext *context);
    /* Appends the beginning of the call's line, which differs from call to call. */
    void (*number)(GString *out, const SinkContext *context, const WendReadCall *call);
    /* Appends the rest of the line with its newline. Repeated calls of one sequence have the same
     * rest. */
    void (*call)(GString *out, const SinkContext *context, const WendReadCall *call);
    /* Adds the time of the call to the end of its line. NULL: it is not known. */
    void (*time)(GString *out, const WendReadTime *time);
    /* Returns whether the rest of the line is the same for repeated calls. NULL: it always is, and
     * the format does not use the peer of a call. */
    gboolean (*repeats)(const WendReadCall *call);
} Sink;

const Sink *sink_by_name(const char *name); /* "text", "csv" or "jsonl"; NULL for another name */

/* -- recorded.c -- */

/* Prints what a program got from the clock, as random numbers, process ids and host
 * names, beside its calls (wend dump --values). */

typedef struct Recorded Recorded;

/* The values of the sequence of CONTEXT. NULL: there are none. The caller frees the result. */
Recorded *recorded_new(const SinkContext *context);
void recorded_free(Recorded *r); /* R may be NULL */

/* Appends the values that came before the end of call or poll number STEP of the sequence, from 0,
 * without the one that is its result (MPI_Wtime). R may be NULL. */
void recorded_before(GString *out, Recorded *r, guint64 step);
/* Appends the result of the call, if it is a value. */
void recorded_result(GString *out, Recorded *r, guint64 step);
/* Appends all that are left. Returns FALSE if the stream is damaged. */
gboolean recorded_rest(GString *out, Recorded *r);

/* Calls VISIT for each stream of values of the rank of CONTEXT whose thread has no sequence:
 * CONTEXT then says which it is. */
void recorded_others(SinkContext *context, void (*visit)(const SinkContext *context, gpointer user),
                     gpointer user);

/* The number of values of all ranks. */
guint64 recorded_count(WendRead *reader, guint n_ranks);

#endif
