/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c: see lines.h. A line is stored at a place that depends on its signature, and replaces the
 * line there. The cache is bounded, and the loops of a program have few signatures. */
#include "config.h"

#include "lines.h"

#include <string.h>

#define PLACES 4096
#define LONGEST 232 /* for a longer line, formatting is not the main cost */

typedef struct {
    guint64 sequence; /* 0: the place is free */
    guint32 signature;
    gint64 return_code;
    guint8 n;
    char text[LONGEST];
} KnownLine;

struct Lines {
    guint64 sequence; /* number of the current sequence, from 1 */
    KnownLine lines[PLACES];
};

Lines *lines_new(void)
{
    Lines *lines = g_new0(Lines, 1);
    lines->sequence = 1;
    return lines;
}

void lines_free(Lines *lines)
{
    g_free(lines);
}

void lines_forget(Lines *lines)
{
    lines->sequence++;
}

gboolean lines_append(const Lines *lines, GString *out, const WendReadCall *call)
{
    const KnownLine *line = &lines->lines[call->signature % PLACES];
    if (line->sequence != lines->sequence || line->signature != call->signature
        || line->return_code != call->return_code || call->poll)
        return FALSE;
    g_string_append_len(out, line->text, line->n);
    return TRUE;
}

void lines_keep(Lines *lines, const WendReadCall *call, const char *text, gsize n)
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
