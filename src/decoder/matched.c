/* SPDX-License-Identifier: BSD-3-Clause */
/* matched.c: see show.h. wend-show(1) documents the columns of the CSV. */
#include "config.h"

#include "show.h"

#include <math.h>
#include <string.h>

#include "src/command/command.h"
#include "src/command/text.h"
#include "src/command/value.h"

enum { PIECE = 1 << 16, FEW_ROWS = 20, NAME_WIDTH = 16 };

/* -- what both formats have -- */

static gint64 number_of_comm(const WendReadMessage *m, char name[32])
{
    if (m->communicator == WEND_READ_NO_INDEX)
        g_strlcpy(name, "", 32);
    else if (m->communicator == WEND_READ_COMM_WORLD)
        g_strlcpy(name, "MPI_COMM_WORLD", 32);
    else if (m->communicator == WEND_READ_COMM_SELF)
        g_strlcpy(name, "MPI_COMM_SELF", 32);
    else
        g_snprintf(name, 32, "comm#%u", m->communicator);
    return m->communicator;
}

static void put_notes(GString *out, const WendReadMessage *m, const char *before)
{
    const struct {
        gboolean is;
        const char *text;
    } notes[] = {{m->cancelled, "cancelled"},
                 {m->truncated, "truncated"},
                 {m->unfinished, "unfinished"},
                 {m->outside, "outside"},
                 {m->uncertain, "uncertain"}};
    for (guint i = 0; i < G_N_ELEMENTS(notes); i++) {
        if (!notes[i].is)
            continue;
        g_string_append_printf(out, "%s%s", before, notes[i].text);
        before = " ";
    }
}

/* The call that met nothing. */
static const WendReadCallPlace *alone(const WendReadMessage *m)
{
    return m->state == WEND_READ_UNRECEIVED ? &m->sent : &m->posted;
}

static void put_call(GString *out, WendRead *r, const WendReadCallPlace *p)
{
    const WendReadCall *call;
    if (wend_read_signature(r, p->signature, p->rank, &call) < 0)
        return;
    text_foreign(out, call->function->name);
    g_string_append_c(out, '(');
    value_call_arguments(out, call);
    g_string_append_c(out, ')');
}

/* The thread of a place as wend dump prints it: "0", or "callback#3" by its sequence. */
static void put_thread(GString *out, WendRead *r, const WendReadCallPlace *p)
{
    const WendReadSequence *s;
    if (wend_read_sequence(r, p->rank, p->sequence, &s) < 0)
        return;
    if (s->callback)
        g_string_append_printf(out, "callback#%u", p->sequence);
    else
        text_decimal(out, s->id);
}

/* -- CSV -- */

static void put_field(GString *out, gint64 number)
{
    if (number != WEND_READ_UNKNOWN && number != WEND_READ_ABSENT)
        text_decimal(out, number);
}

static void put_place_csv(GString *out, WendRead *r, const WendReadCallPlace *p)
{
    if (p->call == WEND_READ_NO_CALL) {
        g_string_append(out, ",");
        return;
    }
    put_thread(out, r, p);
    g_string_append_printf(out, ",%" G_GUINT64_FORMAT, p->call);
}

static void put_quoted(GString *out, const char *text)
{
    g_string_append_c(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *text);
    }
    g_string_append_c(out, '"');
}

static void put_csv(GString *out, WendRead *r, const WendReadMessage *m)
{
    static const char *const states[] = {"matched", "unreceived", "unsent"};
    char comm[32];
    number_of_comm(m, comm);
    g_string_append_printf(out, "%s,%s,", states[m->state], comm);
    put_field(out, m->tag);
    g_string_append_c(out, ',');
    put_field(out, m->source);
    g_string_append_c(out, ',');
    put_place_csv(out, r, &m->sent);
    g_string_append_c(out, ',');
    put_field(out, m->destination);
    g_string_append_c(out, ',');
    put_place_csv(out, r, &m->posted);
    g_string_append_c(out, ',');
    put_place_csv(out, r, &m->completed);
    g_string_append_c(out, ',');
    put_field(out, m->bytes_sent);
    g_string_append_c(out, ',');
    put_field(out, m->bytes_received);
    g_string_append_c(out, ',');
    put_notes(out, m, "");
    g_string_append_c(out, ',');
    if (m->state != WEND_READ_MATCHED) {
        g_autoptr(GString) call = g_string_new(NULL);
        put_call(call, r, alone(m));
        put_quoted(out, call->str);
    }
    g_string_append_c(out, ',');
    if (!isnan(m->waited))
        text_double(out, "%.9f", m->waited);
    g_string_append_c(out, '\n');
}

/* -- for people -- */

typedef struct {
    guint64 messages, bytes, unsized, truncated, uncertain;
    guint64 unreceived, unsent; /* without what was cancelled */
    guint64 sends_cancelled, receives_cancelled;
    guint64 open; /* messages whose receive did not complete */
    guint64 outside;
} MatchedTotals;

static void count(MatchedTotals *t, const WendReadMessage *m)
{
    t->uncertain += m->uncertain;
    t->outside += m->outside;
    if (m->state == WEND_READ_MATCHED) {
        t->messages++;
        t->truncated += m->truncated;
        t->open += m->completed.call == WEND_READ_NO_CALL;
        if (m->bytes_sent < 0)
            t->unsized++;
        else
            t->bytes += (guint64)m->bytes_sent;
    } else if (m->state == WEND_READ_UNRECEIVED) {
        *(m->cancelled ? &t->sends_cancelled : &t->unreceived) += 1;
    } else {
        *(m->cancelled ? &t->receives_cancelled : &t->unsent) += 1;
    }
}

static void put_row(GString *out, WendRead *r, const WendReadMessage *m)
{
    const WendReadCallPlace *p = alone(m);
    gboolean send = m->state == WEND_READ_UNRECEIVED;
    gint64 partner = send ? m->destination : m->source;
    char comm[32];
    g_string_append_printf(out, "%s %u", send ? "send   " : "receive", p->rank);
    if (p->sequence > 0) {
        g_string_append_c(out, '.');
        put_thread(out, r, p);
    }
    g_string_append_printf(out, " %" G_GUINT64_FORMAT " ", p->call);
    put_call(out, r, p);
    if (partner != WEND_READ_UNKNOWN)
        g_string_append_printf(out, " %s rank %" G_GINT64_FORMAT, send ? "to" : "from", partner);
    number_of_comm(m, comm);
    if (m->communicator != WEND_READ_COMM_WORLD && *comm != '\0')
        g_string_append_printf(out, " on %s", comm);
    put_notes(out, m, ": ");
    g_string_append_c(out, '\n');
}

static void put_count(GString *out, const char *name, guint64 n, const char *one, const char *more)
{
    if (n == 0)
        return;
    g_string_append_printf(out, "%-*s", NAME_WIDTH, name);
    text_count(out, n);
    g_string_append_printf(out, " %s\n", n == 1 ? one : more);
}

static void put_totals(GString *out, const MatchedTotals *t, const WendReadMessageFacts *f)
{
    g_string_append_printf(out, "%-*s", NAME_WIDTH, "messages");
    text_count(out, t->messages);
    g_string_append(out, ", ");
    text_bytes(out, t->bytes);
    if (t->unsized > 0) {
        g_string_append(out, " without ");
        text_count(out, t->unsized);
        g_string_append(out, " whose size is not known");
    }
    g_string_append(out, "; at most ");
    text_count(out, f->most_in_flight);
    g_string_append(out, " in flight\n");
    put_count(out, "truncated", t->truncated, "message longer than its receive, or with an error",
              "messages longer than their receives, or with an error");
    put_count(out, "not completed", t->open, "message whose receive did not complete",
              "messages whose receives did not complete");
    put_count(out, "unreceived", t->unreceived, "send without a receive",
              "sends without a receive");
    put_count(out, "unsent", t->unsent, "receive without a send", "receives without a send");
    put_count(out, "cancelled", t->sends_cancelled, "send", "sends");
    put_count(out, "cancelled", t->receives_cancelled, "receive", "receives");
    put_count(out, "outside", t->outside, "send or receive whose partner is not in the recording",
              "sends and receives whose partners are not in the recording");
    put_count(out, "uncertain", t->uncertain, "of these is of threads whose order is not recorded",
              "of these are of threads whose order is not recorded");
    put_count(out, "out of order", f->out_of_order,
              "call that waits for what the recording does not have",
              "calls that wait for what the recording does not have");
}

/* -- the longest waits -- */

typedef struct {
    double seconds;
    WendReadCallPlace waiting, sent;
} LongWait;

static gint by_wait(gconstpointer a, gconstpointer b)
{
    const LongWait *x = a, *y = b;
    return x->seconds != y->seconds ? (x->seconds < y->seconds ? 1 : -1) : 0;
}

/* The call in which the receiver of M waited. MPI_Mrecv does not wait any more. */
static WendReadCallPlace waiting_call(WendRead *r, const WendReadMessage *m)
{
    const WendReadCall *posted;
    gboolean probed =
        m->posted.call != WEND_READ_NO_CALL
        && wend_read_signature(r, m->posted.signature, m->posted.rank, &posted) == WEND_READ_OK
        && (posted->function->flags & (WEND_READ_TAKES | WEND_READ_POLLS)) == WEND_READ_TAKES
        && wend_read_parameter_named(posted->function, "buf") == WEND_READ_NO_INDEX;
    return probed ? m->posted : m->completed;
}

/* Keeps M if it is among the longest of WAITS, which has twice as many at most. */
static void keep_wait(WendRead *r, GArray *waits, const WendReadMessage *m)
{
    if (m->state != WEND_READ_MATCHED || !(m->waited > 0))
        return;
    const LongWait wait = {m->waited, waiting_call(r, m), m->sent};
    g_array_append_val(waits, wait);
    if (waits->len < 2 * FEW_ROWS)
        return;
    g_array_sort(waits, by_wait);
    g_array_set_size(waits, FEW_ROWS);
}

static void put_wait_place(GString *out, WendRead *r, const WendReadCallPlace *p)
{
    g_string_append_printf(out, "%u", p->rank);
    if (p->sequence > 0) {
        g_string_append_c(out, '.');
        put_thread(out, r, p);
    }
    g_string_append_printf(out, " %" G_GUINT64_FORMAT " ", p->call);
    put_call(out, r, p);
}

static void put_waits(GString *out, WendRead *r, GArray *waits)
{
    g_array_sort(waits, by_wait);
    if (waits->len > 0)
        g_string_append(out, "\n   waited  rank, call\n");
    for (guint i = 0; i < waits->len && i < FEW_ROWS; i++) {
        const LongWait *one = &g_array_index(waits, LongWait, i);
        g_autoptr(GString) cell = g_string_new(NULL);
        wait_table_time_text(cell, one->seconds);
        g_string_append_printf(out, "%9s  ", cell->str);
        put_wait_place(out, r, &one->waiting);
        g_string_append(out, "\n           for ");
        put_wait_place(out, r, &one->sent);
        g_string_append_c(out, '\n');
    }
}

/* -- all -- */

/* FALSE: standard output is closed. */
static gboolean flush_piece(GString *out)
{
    if (out->len < PIECE)
        return TRUE;
    gboolean all = command_write(out->str, out->len);
    g_string_truncate(out, 0);
    return all;
}

int matched_show(GString *out, WendRead *r, gboolean csv, gboolean all)
{
    WendReadMessages *messages;
    const WendReadMessage *m;
    WendReadMessageFacts facts;
    MatchedTotals totals = {0};
    guint64 rows = 0;
    gboolean open = TRUE;
    g_autoptr(GString) list = g_string_new(NULL);
    g_autoptr(GArray) waits = g_array_new(FALSE, FALSE, sizeof(LongWait));
    int status = wend_read_messages_with(r, WEND_READ_WITH_TIMES, &messages);
    if (status < 0)
        return status;
    if (csv)
        g_string_append(out, "state,communicator,tag,source,send_thread,send_call,destination,"
                             "receive_thread,receive_call,complete_thread,complete_call,bytes_sent,"
                             "bytes_received,notes,call,waited\n");
    while (open && (status = wend_read_next_message(messages, &m)) == WEND_READ_OK && m != NULL) {
        gboolean row = m->state != WEND_READ_MATCHED;
        count(&totals, m);
        keep_wait(r, waits, m);
        if (csv && (row || all)) {
            put_csv(out, r, m);
            open = flush_piece(out);
        } else if (!csv && row && (all || rows < FEW_ROWS)) {
            put_row(list, r, m);
        }
        rows += row;
    }
    if (status == WEND_READ_OK)
        wend_read_message_facts(messages, &facts);
    wend_read_messages_free(messages);
    if (status < 0 || csv)
        return status;
    put_totals(out, &totals, &facts);
    if (rows > 0)
        g_string_append(out, "\n        rank, call\n");
    g_string_append(out, list->str);
    if (rows > FEW_ROWS && !all)
        g_string_append_printf(out, "and %" G_GUINT64_FORMAT " more (--all)\n", rows - FEW_ROWS);
    put_waits(out, r, waits);
    return WEND_READ_OK;
}
