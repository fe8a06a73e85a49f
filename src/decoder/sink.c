/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.c: see dump.h. wend-dump(1) documents the columns and keys. */
#include "config.h"

#include "dump.h"

#include <math.h>
#include <string.h>

#include "src/command/text.h"
#include "src/command/value.h"

/* The mean duration and interval of the call's signature. A recording has no times of single
 * calls. */
static WendReadTiming mean_duration(const SinkContext *context, const WendReadCall *call,
                                    WendReadTiming *interval)
{
    WendReadTiming duration = {0};
    *interval = duration;
    if (!call->poll)
        wend_read_timing(context->reader, context->class_index, context->sequence, call->signature,
                         &duration, interval);
    return duration;
}

/* Appends a mean with the digits that are known. */
static void times_append_mean(GString *out, const WendReadTiming *t)
{
    text_seconds_known(out, t->mean, t->mean_error * t->mean);
}

/* -- text -- */

static void text_begin_sequence(GString *out, const SinkContext *context)
{
    g_string_append(out, "# ");
    text_rank(out, context->rank, context->n_worlds, context->world, context->world_rank);
    g_string_append(out, ", ");
    text_sequence(out, context->callback, context->id);
    g_string_append_c(out, '\n');
}

static void text_number(GString *out, const SinkContext *context, const WendReadCall *call)
{
    (void)context;
    if (call->poll) {
        g_string_append_len(out, "        -  ", 11);
        return;
    }
    guint64 index = call->index;
    char column[32], *end = column + sizeof column - 2, *p = end;
    do
        *--p = (char)('0' + index % 10);
    while ((index /= 10) != 0);
    while (p > end - 9)
        *--p = ' ';
    memcpy(end, "  ", 2);
    g_string_append_len(out, p, end + 2 - p);
}

static void text_call(GString *out, const SinkContext *context, const WendReadCall *call)
{
    value_call(out, context->reader, call);
    if (context->timing) {
        WendReadTiming interval, duration = mean_duration(context, call, &interval);
        if (duration.count > 0) {
            g_string_append(out, "  # mean ");
            times_append_mean(out, &duration);
        }
        if (interval.count > 0) {
            g_string_append_printf(out, "%s since the call before ",
                                   duration.count > 0 ? "," : "  #");
            times_append_mean(out, &interval);
        }
    }
    if (context->sites != NULL && call->site != WEND_READ_NO_INDEX) {
        g_string_append(out, "  # from ");
        site_names_text(out, context->sites, call->site);
        site_stack_callers_text(out, context->sites, call->site);
    }
    g_string_append_c(out, '\n');
}

/* -- the peer of a call, for CSV and JSON -- */

typedef struct {
    gint64 peer, bytes, comm_size; /* negative: there is none, or it is unknown */
} Partner;

static Partner partner_of(const WendReadCall *call)
{
    WendReadTransfer t;
    if (wend_read_transfer(call, &t) < 0)
        return (Partner){-1, -1, -1};
    return (Partner){t.peer_world, t.bytes, t.comm_size};
}

/* Whether a handle of KIND may stand for another object in a later call with the same text. */
static gboolean is_followed(WendReadKind kind)
{
    return kind == WEND_READ_KIND_DATATYPE || kind == WEND_READ_KIND_REQUEST
           || kind == WEND_READ_KIND_MESSAGE || kind == WEND_READ_KIND_WINDOW
           || kind == WEND_READ_KIND_FILE;
}

static gboolean partner_repeats(const WendReadCall *call)
{
    for (guint i = 0; i < call->function->n_parameters; i++) {
        const WendReadParameter *p = wend_read_parameter(call->function, i);
        WendReadValue v;
        if (is_followed(p->kind) && p->direction != WEND_READ_OUT
            && wend_read_input(call, i, &v) == WEND_READ_OK
            && (v.type == WEND_READ_HANDLE || v.type == WEND_READ_LIST))
            return FALSE;
    }
    return TRUE;
}

/* -- CSV (RFC 4180, lines end in a newline) -- */

static void csv_begin(GString *out, gboolean timing, gboolean times, const SiteNames *sites)
{
    g_string_append(out, "rank,sequence,call,poll,function,return,comm,peer,tag,count,datatype,"
                         "arguments,results,world,peer_world,bytes,comm_size");
    if (timing)
        g_string_append(out, ",mean_duration,mean_interval");
    if (times)
        g_string_append(out, ",start,duration");
    if (sites != NULL)
        g_string_append(out, "," SITE_CSV_COLUMNS);
    if (sites != NULL && site_stacks_recorded(sites))
        g_string_append(out, "," SITE_STACK_CSV_COLUMN);
    g_string_append_c(out, '\n');
}

/* The columns of arguments: the first scalar argument of each kind. */
static const WendReadKind csv_kinds[] = {WEND_READ_KIND_COMMUNICATOR, WEND_READ_KIND_RANK,
                                         WEND_READ_KIND_TAG, WEND_READ_KIND_COUNT,
                                         WEND_READ_KIND_DATATYPE};
enum { CSV_KINDS = G_N_ELEMENTS(csv_kinds) };

static guint csv_kind(WendReadKind kind)
{
    guint i = 0;
    while (i < CSV_KINDS && csv_kinds[i] != kind)
        i++;
    return i;
}

static void csv_columns(GString *out, const WendReadCall *call)
{
    WendReadValue values[CSV_KINDS];
    guint from[CSV_KINDS], seen = 0;
    for (guint i = 0; i < call->function->n_parameters; i++) {
        const WendReadParameter *p = wend_read_parameter(call->function, i);
        guint k = csv_kind(p->kind);
        if (k == CSV_KINDS || (seen & 1u << k) != 0 || p->direction == WEND_READ_OUT || p->array
            || !value_argument(call, i, &values[k]))
            continue;
        seen |= 1u << k;
        from[k] = i;
    }
    for (guint k = 0; k < CSV_KINDS; k++) {
        g_string_append_c(out, ',');
        gsize start = out->len;
        if ((seen & 1u << k) == 0 || values[k].type == WEND_READ_NOT_SIGNIFICANT)
            continue;
        value_append(out, call, from[k], &values[k], VALUE_TEXT);
        text_csv_quote(out, start);
    }
}

static void csv_number(GString *out, const SinkContext *context, const WendReadCall *call)
{
    text_decimal(out, context->rank);
    g_string_append_c(out, ',');
    text_sequence(out, context->callback, context->id);
    g_string_append_c(out, ',');
    text_decimal(out, (gint64)call->index);
}

static void csv_optional(GString *out, gint64 number)
{
    g_string_append_c(out, ',');
    if (number >= 0)
        text_decimal(out, number);
}

static void csv_partner(GString *out, const SinkContext *context, const WendReadCall *call)
{
    Partner p = partner_of(call);
    csv_optional(out, context->world);
    csv_optional(out, p.peer);
    csv_optional(out, p.bytes);
    csv_optional(out, p.comm_size);
}

/* The precision of the archive. */
#define MEAN "%.4g"

static void csv_mean(GString *out, const WendReadTiming *timing)
{
    g_string_append_c(out, ',');
    if (timing->count > 0)
        text_double(out, MEAN, timing->mean);
}

static void csv_call(GString *out, const SinkContext *context, const WendReadCall *call)
{
    g_string_append(out, call->poll ? ",1," : ",0,");
    g_string_append(out, call->function->name);
    g_string_append_c(out, ',');
    gsize start = out->len;
    value_return(out, context->reader, call, VALUE_TEXT);
    text_csv_quote(out, start);
    csv_columns(out, call);
    g_string_append_c(out, ',');
    start = out->len;
    value_call_arguments(out, call);
    text_csv_quote(out, start);
    g_string_append_c(out, ',');
    start = out->len;
    value_call_results(out, call);
    text_csv_quote(out, start);
    csv_partner(out, context, call);
    if (context->timing) {
        WendReadTiming interval, duration = mean_duration(context, call, &interval);
        csv_mean(out, &duration);
        csv_mean(out, &interval);
    }
    if (context->sites != NULL) {
        g_string_append_c(out, ',');
        site_names_csv(out, context->sites, call->site);
        if (context->stacks) {
            g_string_append_c(out, ',');
            site_stack_csv(out, context->sites, call->site);
        }
    }
    g_string_append_c(out, '\n');
}

/* -- JSON lines -- */

static void json_number(GString *out, const SinkContext *context, const WendReadCall *call)
{
    text_json_open(out, NULL, '{');
    text_json_integer(out, "rank", context->rank);
    text_json_integer(out, context->callback ? "callback" : "thread", context->id);
    text_json_integer(out, "call", (gint64)call->index);
}

static void json_optional(GString *out, const char *key, gint64 number)
{
    if (number >= 0)
        text_json_integer(out, key, number);
}

static void json_partner(GString *out, const SinkContext *context, const WendReadCall *call)
{
    Partner p = partner_of(call);
    json_optional(out, "world", context->world);
    json_optional(out, "peer_world", p.peer);
    json_optional(out, "bytes", p.bytes);
    json_optional(out, "comm_size", p.comm_size);
}

/* An object with the parameters for which VALUE_OF has a value. */
static void json_side(GString *out, const char *key, const WendReadCall *call,
                      gboolean (*value_of)(const WendReadCall *, guint, WendReadValue *))
{
    text_json_open(out, key, '{');
    for (guint i = 0; i < call->function->n_parameters; i++) {
        WendReadValue v;
        if (!value_of(call, i, &v))
            continue;
        text_json_key(out, wend_read_parameter(call->function, i)->name); /* written by Wend */
        value_append(out, call, i, &v, VALUE_JSON);
    }
    g_string_append_c(out, '}');
}

static void json_call(GString *out, const SinkContext *context, const WendReadCall *call)
{
    text_json_flag(out, "poll", call->poll);
    text_json_text(out, "function", call->function->name);
    json_side(out, "arguments", call, value_argument);
    text_json_key(out, "return");
    value_return(out, context->reader, call, VALUE_JSON);
    json_side(out, "results", call, value_result);
    json_partner(out, context, call);
    if (context->timing) {
        WendReadTiming interval, duration = mean_duration(context, call, &interval);
        if (duration.count > 0)
            text_json_double(out, "mean_duration", MEAN, duration.mean);
        if (interval.count > 0)
            text_json_double(out, "mean_interval", MEAN, interval.mean);
    }
    if (context->sites != NULL) {
        text_json_key(out, "site");
        site_stack_json(out, context->sites, call->site);
    }
    g_string_append(out, "}\n");
}

/* -- the time of a call -- */

#define SECONDS "%.9f"

/* Appends BEFORE and the number of seconds, if it is known. */
static void append_time(GString *out, const char *before, double seconds)
{
    if (isnan(seconds))
        return;
    g_string_append(out, before);
    text_double(out, SECONDS, seconds);
}

static void text_time(GString *out, const WendReadTime *time)
{
    if (!time)
        return;
    g_string_truncate(out, out->len - 1);
    append_time(out, "  @ ", time->start);
    append_time(out, " + ", time->duration);
    g_string_append_c(out, '\n');
}

static void csv_time(GString *out, const WendReadTime *time)
{
    g_string_truncate(out, out->len - 1);
    g_string_append_c(out, ',');
    append_time(out, "", time != NULL ? time->start : NAN);
    g_string_append_c(out, ',');
    append_time(out, "", time != NULL ? time->duration : NAN);
    g_string_append_c(out, '\n');
}

static void json_time(GString *out, const WendReadTime *time)
{
    if (!time)
        return;
    g_string_truncate(out, out->len - 2);
    if (!isnan(time->start))
        text_json_double(out, "start", SECONDS, time->start);
    if (!isnan(time->duration))
        text_json_double(out, "duration", SECONDS, time->duration);
    g_string_append(out, "}\n");
}

static const Sink sinks[] = {
    {"text", NULL, text_begin_sequence, text_number, text_call, text_time, NULL},
    {"csv", csv_begin, NULL, csv_number, csv_call, csv_time, partner_repeats},
    {"jsonl", NULL, NULL, json_number, json_call, json_time, partner_repeats},
};

const Sink *sink_by_name(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(sinks); i++)
        if (strcmp(sinks[i].name, name) == 0)
            return &sinks[i];
    return NULL;
}
