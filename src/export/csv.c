/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.c: tables: a row for each entry and return, as pipit reads them, or a row for each call.
 * wend-export(1) documents the columns. */
#include "config.h"

#include "format.h"
#include "lib/base/file-stream.h"
#include "src/command/text.h"

enum { PIECE = 1 << 16 };

typedef struct {
    const Export *e;
    WendFileStream *file;
    GString *out;
} State;

static gboolean flush(State *s, gsize at_least)
{
    if (s->out->len < at_least)
        return TRUE;
    gboolean good = file_stream_write(s->file, s->out->str, s->out->len);
    g_string_truncate(s->out, 0);
    return good;
}

static State *begin(const Export *e, const char *columns, Error **error)
{
    WendFileStream *file = file_stream_open(e->output, e->replace ? WEND_FILE_REPLACE : 0, error);
    if (!file)
        return NULL;
    State *s = g_new0(State, 1);
    s->e = e;
    s->file = file;
    s->out = g_string_sized_new(2 * PIECE);
    g_string_append(s->out, columns);
    return s;
}

static gboolean end(gpointer state, gboolean keep, Error **error)
{
    State *s = state;
    if (keep)
        flush(s, 1);
    gboolean good = file_stream_end(s->file, keep, error);
    g_string_free(s->out, TRUE);
    g_free(s);
    return good;
}

static void put_unsigned(GString *out, guint64 n)
{
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, n);
}

/* -- entries and returns -- */

static gpointer begin_events(const Export *e, Error **error)
{
    return begin(e, "Timestamp (ns),Event Type,Name,Process,Thread\n", error);
}

static gboolean put_event(gpointer state, const ExportPlace *p, const TimedCall *timed)
{
    State *s = state;
    const char *name = timed->call->function->name;
    const struct {
        guint64 time;
        const char *type;
    } events[] = {{timed->start, "Enter"}, {timed->end, "Leave"}};
    for (guint i = 0; i < G_N_ELEMENTS(events); i++) {
        put_unsigned(s->out, events[i].time);
        g_string_append_printf(s->out, ",%s,%s,%u,%u\n", events[i].type, name, p->rank,
                               p->sequence);
    }
    return flush(s, PIECE);
}

/* -- calls -- */

static gpointer begin_calls(const Export *e, Error **error)
{
    return begin(e, "rank,thread,call,poll,function,start_ns,end_ns,communicator,peer,bytes\n",
                 error);
}

/* An empty field stands for a number that is not there, or not known. */
static void put_number(GString *out, gint64 n)
{
    g_string_append_c(out, ',');
    if (n != WEND_READ_ABSENT && n != WEND_READ_UNKNOWN)
        text_decimal(out, n);
}

static gboolean put_call(gpointer state, const ExportPlace *p, const TimedCall *timed)
{
    State *s = state;
    const WendReadCall *call = timed->call;
    WendReadTransfer t;
    g_string_append_printf(s->out, "%u,%u,", p->rank, p->sequence);
    if (!call->poll)
        put_unsigned(s->out, call->index);
    g_string_append_printf(s->out, ",%d,%s,", call->poll, call->function->name);
    put_unsigned(s->out, timed->start);
    g_string_append_c(s->out, ',');
    put_unsigned(s->out, timed->end);
    if (wend_read_transfer(call, &t) < 0)
        t = (WendReadTransfer){WEND_READ_NO_INDEX, 0, 0, 0, WEND_READ_ABSENT, WEND_READ_ABSENT};
    put_number(s->out, t.communicator == WEND_READ_NO_INDEX ? WEND_READ_ABSENT : t.communicator);
    put_number(s->out, t.peer_world);
    put_number(s->out, t.bytes);
    g_string_append_c(s->out, '\n');
    return flush(s, PIECE);
}

const Format format_csv = {"csv", FALSE, FALSE, begin_events, put_event, NULL, NULL, end};
const Format format_csv_calls = {"csv=calls", FALSE, FALSE, begin_calls, put_call, NULL, NULL, end};
