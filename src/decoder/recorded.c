/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.c: see dump.h. */
#include "config.h"

#include "dump.h"

#include <string.h>

#include "src/command/text.h"

enum { STREAMS = 8 }; /* most of a sequence: one of each kind */

typedef struct {
    WendReadValues *values;
    const WendReadRecorded *next; /* NULL: the end */
} RecordedStream;

struct Recorded {
    SinkContext context;
    RecordedStream streams[STREAMS];
    guint n_streams;
    gboolean damaged;
};

/* -- streams -- */

static void advance(Recorded *r, RecordedStream *s)
{
    if (wend_read_next_value(s->values, &s->next) < 0) {
        s->next = NULL;
        r->damaged = TRUE;
    }
}

Recorded *recorded_new(const SinkContext *context)
{
    const WendReadValueStream *s;
    Recorded *r = g_new0(Recorded, 1);
    r->context = *context;
    for (guint i = 0; r->n_streams < STREAMS
                      && wend_read_value_stream(context->reader, context->rank, i, &s) == 0;
         i++) {
        RecordedStream *stream = &r->streams[r->n_streams];
        if (s->callback == (bool)context->callback && s->id == context->id
            && wend_read_values(context->reader, context->rank, i, &stream->values) == 0) {
            r->n_streams++;
            advance(r, stream);
        }
    }
    if (r->n_streams > 0)
        return r;
    recorded_free(r);
    return NULL;
}

void recorded_free(Recorded *r)
{
    if (!r)
        return;
    for (guint i = 0; i < r->n_streams; i++)
        wend_read_values_free(r->streams[i].values);
    g_free(r);
}

/* The stream whose value comes next. NULL: there are no more. */
static RecordedStream *next_stream(Recorded *r)
{
    RecordedStream *first = NULL;
    for (guint i = 0; i < r->n_streams; i++) {
        RecordedStream *s = &r->streams[i];
        if (s->next != NULL
            && (!first || s->next->steps < first->next->steps
                || (s->next->steps == first->next->steps && !s->next->of_call
                    && first->next->of_call)))
            first = s;
    }
    return first;
}

/* Whether one of the rank's sequences is that of the stream. */
static gboolean has_sequence(const SinkContext *context, const WendReadValueStream *s)
{
    const WendReadRank *rank;
    const WendReadSequence *q;
    if (wend_read_rank(context->reader, context->rank, &rank) < 0)
        return FALSE;
    guint n = rank->n_sequences;
    for (guint i = 0; i < n; i++)
        if (wend_read_sequence(context->reader, context->rank, i, &q) == 0
            && q->callback == s->callback && q->id == s->id)
            return TRUE;
    return FALSE;
}

void recorded_others(SinkContext *context, void (*visit)(const SinkContext *context, gpointer user),
                     gpointer user)
{
    const WendReadValueStream *s;
    for (guint i = 0; wend_read_value_stream(context->reader, context->rank, i, &s) == 0; i++) {
        if (has_sequence(context, s))
            continue;
        context->callback = s->callback;
        context->id = s->id;
        visit(context, user);
    }
}

guint64 recorded_count(WendRead *reader, guint n_ranks)
{
    const WendReadValueStream *s;
    guint64 all = 0;
    for (guint rank = 0; rank < n_ranks; rank++)
        for (guint i = 0; wend_read_value_stream(reader, rank, i, &s) == 0; i++)
            all += s->n_values;
    return all;
}

/* -- text -- */

static void append_hex(GString *out, const WendReadRecorded *v)
{
    for (gsize i = 0; i < v->n_bytes; i++)
        g_string_append_printf(out, "%02x", ((const guint8 *)v->bytes)[i]);
}

/* All digits that the number has. */
static void append_seconds(GString *out, double seconds)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(out, g_ascii_dtostr(digits, sizeof digits, seconds));
}

static gboolean is_clock(const WendReadRecorded *v)
{
    return strcmp(v->function, "clock_gettime") == 0;
}

static void append_text(GString *out, const WendReadRecorded *v)
{
    g_string_append(out, "        =  ");
    g_string_append(out, v->function);
    if (is_clock(v))
        g_string_append_printf(out, "(%u)", v->clock);
    for (guint i = 0; i < v->n_numbers; i++)
        g_string_append_printf(out, " %" G_GINT64_FORMAT, v->numbers[i]);
    g_string_append_c(out, ' ');
    if (v->seconds != NULL)
        append_seconds(out, *v->seconds);
    else if (v->bytes != NULL)
        append_hex(out, v);
    else
        g_string_truncate(out, out->len - 1);
    g_string_append_c(out, '\n');
}

static void append_json(GString *out, const SinkContext *context, const WendReadRecorded *v)
{
    text_json_open(out, NULL, '{');
    text_json_count(out, "rank", context->rank);
    text_json_integer(out, context->callback ? "callback" : "thread", context->id);
    text_json_text(out, "value", v->function);
    text_json_count(out, "steps", v->steps);
    if (is_clock(v))
        text_json_count(out, "clock", v->clock);
    if (v->seconds != NULL) {
        text_json_key(out, "seconds");
        append_seconds(out, *v->seconds);
    } else if (v->bytes != NULL) {
        text_json_key(out, "bytes");
        g_string_append_c(out, '"');
        append_hex(out, v);
        g_string_append_c(out, '"');
    } else {
        for (guint i = 0; i < v->n_numbers; i++) {
            if (i == 0)
                text_json_open(out, "numbers", '[');
            text_json_integer(out, NULL, v->numbers[i]);
        }
        g_string_append_c(out, ']');
    }
    g_string_append(out, "}\n");
}

static void take(GString *out, Recorded *r, RecordedStream *s)
{
    if (r->context.json)
        append_json(out, &r->context, s->next);
    else
        append_text(out, s->next);
    advance(r, s);
}

void recorded_before(GString *out, Recorded *r, guint64 step)
{
    RecordedStream *s;
    while (r != NULL && (s = next_stream(r)) != NULL && s->next->steps + s->next->of_call <= step)
        take(out, r, s);
}

void recorded_result(GString *out, Recorded *r, guint64 step)
{
    RecordedStream *s;
    while (r != NULL && (s = next_stream(r)) != NULL && s->next->steps <= step)
        take(out, r, s);
}

gboolean recorded_rest(GString *out, Recorded *r)
{
    RecordedStream *s;
    while (r != NULL && (s = next_stream(r)) != NULL)
        take(out, r, s);
    return !r || !r->damaged;
}
