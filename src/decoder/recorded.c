/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.c: see recorded.h. */
#include "config.h"

#include "recorded.h"

#include <string.h>

#include "src/command/command_text.h"

struct Recorded {
    SinkContext context;
    WendReadValues *values;
    const WendReadRecorded *next; /* NULL: the end */
    gboolean damaged;
};

/* -- streams -- */

/* The number of the stream of CONTEXT's sequence. FALSE: there is none. */
static gboolean find_stream(const SinkContext *context, guint *index)
{
    const WendReadValueStream *s;
    for (*index = 0; wend_read_value_stream(context->reader, context->rank, *index, &s) == 0;
         ++*index)
        if (s->callback == (bool)context->callback && s->id == context->id)
            return TRUE;
    return FALSE;
}

static void advance(Recorded *r)
{
    if (wend_read_next_value(r->values, &r->next) < 0) {
        r->next = NULL;
        r->damaged = TRUE;
    }
}

Recorded *recorded_new(const SinkContext *context)
{
    guint index;
    WendReadValues *values;
    if (!find_stream(context, &index)
        || wend_read_values(context->reader, context->rank, index, &values) < 0)
        return NULL;
    Recorded *r = g_new0(Recorded, 1);
    r->context = *context;
    r->values = values;
    advance(r);
    return r;
}

void recorded_free(Recorded *r)
{
    if (r == NULL)
        return;
    wend_read_values_free(r->values);
    g_free(r);
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
    g_string_append_printf(out, "{\"rank\":%u,\"%s\":%" G_GINT64_FORMAT, context->rank,
                           context->callback ? "callback" : "thread", context->id);
    g_string_append_printf(out, ",\"value\":\"%s\",\"steps\":%" G_GUINT64_FORMAT, v->function,
                           v->steps);
    if (is_clock(v))
        g_string_append_printf(out, ",\"clock\":%u", v->clock);
    if (v->seconds != NULL) {
        g_string_append(out, ",\"seconds\":");
        append_seconds(out, *v->seconds);
    } else if (v->bytes != NULL) {
        g_string_append(out, ",\"bytes\":\"");
        append_hex(out, v);
        g_string_append_c(out, '"');
    } else {
        for (guint i = 0; i < v->n_numbers; i++)
            g_string_append_printf(out, "%s%" G_GINT64_FORMAT, i ? "," : ",\"numbers\":[",
                                   v->numbers[i]);
        g_string_append_c(out, ']');
    }
    g_string_append(out, "}\n");
}

static void take(GString *out, Recorded *r)
{
    if (r->context.json)
        append_json(out, &r->context, r->next);
    else
        append_text(out, r->next);
    advance(r);
}

static gboolean is_result(const Recorded *r, guint64 step)
{
    return r->next->steps == step && strcmp(r->next->function, "MPI_Wtime") == 0;
}

void recorded_before(GString *out, Recorded *r, guint64 step)
{
    while (r != NULL && r->next != NULL && r->next->steps <= step && !is_result(r, step))
        take(out, r);
}

void recorded_result(GString *out, Recorded *r, guint64 step)
{
    if (r != NULL && r->next != NULL && is_result(r, step))
        take(out, r);
}

gboolean recorded_rest(GString *out, Recorded *r)
{
    while (r != NULL && r->next != NULL)
        take(out, r);
    return r == NULL || !r->damaged;
}
