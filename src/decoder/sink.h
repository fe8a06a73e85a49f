/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.h: the three formats of wend dump. A sink appends one call to a string, in two steps; the caller writes it out. */
#ifndef WEND_DECODER_SINK_H
#define WEND_DECODER_SINK_H

#include <glib.h>

#include "lib/analysis/follower.h"
#include "lib/read/program.h"

typedef struct {
    const WendProgram *program;
    const WendWalk *walk;
    const WendMembers *members;
    Follower *follower;    /* of the walk, behind its last call */
    const WendSequence *sequence;
    guint rank;
    guint sequence_index;  /* in the rank's class */
    gboolean timing;
} SinkContext;

typedef struct {
    const char *name;
    /* Before everything; before the calls of a sequence. NULL: nothing. */
    void (*begin)(GString *out, gboolean timing);
    void (*sequence)(GString *out, const SinkContext *context);
    /* What begins the call's line. INDEX: its number among those that are no unsuccessful polls; for such a poll, of the call that follows. */
    void (*number)(GString *out, const SinkContext *context, guint64 index, const WendCall *call);
    /* The rest of the line, newline included: of one sequence's calls the same where value_repeats. */
    void (*call)(GString *out, const SinkContext *context, const WendCall *call);
    /* Whether the rest of the line is the same where value_repeats. NULL: always, and the format
     * does not ask for members and follower. */
    gboolean (*repeats)(const WendCall *call);
} Sink;

const Sink *sink_by_name(const char *name); /* "text", "csv", "jsonl"; else NULL */

#endif
