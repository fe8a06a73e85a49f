/* sink.h: the three formats of wend dump. A sink appends one call to a string; the caller writes it out. */
#ifndef WEND_DECODER_SINK_H
#define WEND_DECODER_SINK_H

#include <glib.h>

#include "program.h"

typedef struct {
    const WendProgram *program;
    const WendWalk *walk;
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
    /* INDEX: number of the call among those that are no unsuccessful polls; for such a poll, of the call that follows. */
    void (*call)(GString *out, const SinkContext *context, guint64 index, const WendCall *call);
} Sink;

const Sink *sink_by_name(const char *name); /* "text", "csv", "jsonl"; else NULL */

#endif
