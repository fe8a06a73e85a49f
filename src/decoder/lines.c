/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c: see lines.h. A line goes where its signature says, in the place of what was there: a
 * program's loops have few signatures, and what is kept is bounded. */
#include "config.h"

#include "lines.h"

#include <string.h>

#define PLACES 4096
#define LONGEST 232 /* a longer line takes longer to be written anyway */

typedef struct {
    guint64 sequence; /* 0: free */
    guint32 signature;
    gint64 return_code;
    guint8 n;
    char text[LONGEST];
} Line;

struct Lines {
    guint64 sequence; /* counts them, from 1 */
    Line lines[PLACES];
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
    const Line *line = &lines->lines[call->signature % PLACES];
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
    Line *line = &lines->lines[call->signature % PLACES];
    line->sequence = lines->sequence;
    line->signature = call->signature;
    line->return_code = call->return_code;
    line->n = (guint8)n;
    memcpy(line->text, text, n);
}
