/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.h: the three formats of wend dump. A sink appends one call to a string, in two steps; the
 * caller writes it out. */
#ifndef WEND_DECODER_SINK_H
#define WEND_DECODER_SINK_H

#include <glib.h>

#include "wend/read.h"

/* Whose calls they are. */
typedef struct {
    WendRead *reader;
    guint n_worlds;
    guint rank, world, world_rank, class_index;
    guint sequence;    /* its number among those of the rank, */
    gboolean callback; /* and which that is */
    gint64 id;
    gboolean timing;
} SinkContext;

typedef struct {
    const char *name;
    /* Before everything; before the calls of a sequence. NULL: nothing. */
    void (*begin)(GString *out, gboolean timing);
    void (*sequence)(GString *out, const SinkContext *context);
    /* What begins the call's line. */
    void (*number)(GString *out, const SinkContext *context, const WendReadCall *call);
    /* The rest of the line, newline included: of one sequence's calls the same where they
     * repeat. */
    void (*call)(GString *out, const SinkContext *context, const WendReadCall *call);
    /* Whether the rest of the line is the same where calls repeat. NULL: always, and the format
     * does not ask whom calls are with. */
    gboolean (*repeats)(const WendReadCall *call);
} Sink;

const Sink *sink_by_name(const char *name); /* "text", "csv", "jsonl"; else NULL */

#endif
