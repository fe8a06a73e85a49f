/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.h: the three formats of wend dump. A sink appends the text of one call to a string in two
 * steps. The caller writes the string to the output. */
#ifndef WEND_DECODER_SINK_H
#define WEND_DECODER_SINK_H

#include <glib.h>

#include "src/command/site-stacks.h"
#include "wend/read.h"

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

#endif
