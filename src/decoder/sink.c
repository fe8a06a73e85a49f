/* SPDX-License-Identifier: BSD-3-Clause */
/* sink.c: see sink.h. The columns and keys are promised in wend-dump(1). */
#include "config.h"

#include "sink.h"

#include <string.h>

#include "lib/analysis/times.h"
#include "src/command/command_text.h"
#include "src/command/value.h"

/* Of the call's signature: a recording keeps no time of a single call. */
static WendTiming mean_duration(const SinkContext *context, const WendCall *call, WendTiming *interval)
{
    WendTiming duration = {0};
    guint class = wend_program_class_of(context->program, context->rank);
    *interval = duration;
    if (!call->poll)
        times_of(context->program, class, context->sequence_index, call->terminal, &duration,
                 interval);
    return duration;
}

/* A mean, with as many digits as are known. */
static void times_append_mean(GString *out, const WendTiming *t)
{
    double mean_error, rest_error;
    wend_program_timing_error(t, &mean_error, &rest_error);
    text_seconds_known(out, t->mean, mean_error * t->mean);
}

/* -- text -- */

static void text_begin_sequence(GString *out, const SinkContext *context)
{
    g_string_append(out, "# ");
    text_rank(out, context->program, context->rank);
    g_string_append(out, ", ");
    text_sequence(out, context->sequence);
    g_string_append_c(out, '\n');
}

static void text_number(GString *out, const SinkContext *context, guint64 index, const WendCall *call)
{
    (void)context;
    if (call->poll) {
        g_string_append_len(out, "        -  ", 11);
        return;
    }
    char column[32], *end = column + sizeof column - 2, *p = end;
    do
        *--p = (char)('0' + index % 10);
    while ((index /= 10) != 0);
    while (p > end - 9)
        *--p = ' ';
    memcpy(end, "  ", 2);
    g_string_append_len(out, p, end + 2 - p);
}

static void text_call(GString *out, const SinkContext *context, const WendCall *call)
{
    value_call(out, context->program, context->walk, call);
    if (context->timing) {
        WendTiming interval, duration = mean_duration(context, call, &interval);
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
    g_string_append_c(out, '\n');
}

/* -- whom a call is with, for CSV and JSON -- */

typedef struct {
    gint64 peer, bytes, comm_size; /* negative: the call has none, or it is not known */
} Partner;

static Partner partner_of(const SinkContext *context)
{
    Transfer t;
    follower_transfer(context->follower, &t);
    Partner p = {t.process, -1, -1};
    if (t.sized && t.bytes != TRANSFER_UNSIZED)
        p.bytes = (gint64)MIN(t.bytes, G_MAXINT64);
    if (t.comm != WEND_COMM_UNKNOWN)
        p.comm_size = wend_members_local_size(context->members, t.comm, context->rank);
    return p;
}

/* What a handle stands for may change between two calls that are written alike. */
static gboolean partner_repeats(const WendCall *call)
{
    static const WendKind followed[] = {WEND_KIND_DATATYPE, WEND_KIND_REQUEST, WEND_KIND_MESSAGE,
                                        WEND_KIND_WIN, WEND_KIND_FILE};
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        for (guint k = 0; k < G_N_ELEMENTS(followed) && arg->n_in > 0; k++)
            if (arg->param->kind == followed[k]
                && (arg->param->array || wend_is_handle(arg->in[0])))
                return FALSE;
    }
    return TRUE;
}

/* -- CSV (RFC 4180, lines end in a newline) -- */

static void csv_begin(GString *out, gboolean timing)
{
    g_string_append(out, "rank,sequence,call,poll,function,return,comm,peer,tag,count,datatype,"
                         "arguments,results,world,peer_world,bytes,comm_size");
    if (timing)
        g_string_append(out, ",mean_duration,mean_interval");
    g_string_append_c(out, '\n');
}

/* Quotes what has been appended since START, if it needs it. */
static void csv_quote(GString *out, gsize start)
{
    if (strpbrk(out->str + start, ",\"\r\n") == NULL)
        return;
    char *field = g_strdup(out->str + start);
    g_string_truncate(out, start);
    g_string_append_c(out, '"');
    for (const char *c = field; *c != '\0'; c++) {
        if (*c == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *c);
    }
    g_string_append_c(out, '"');
    g_free(field);
}

/* The first scalar argument of a kind, as a column. */
static void csv_first(GString *out, const SinkContext *context, const WendCall *call, WendKind kind)
{
    g_string_append_c(out, ',');
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (arg->param->kind == kind && arg->param->dir != WEND_DIR_OUT && !arg->param->array && value_is_argument(arg)) {
            gsize start = out->len;
            if (arg->in[0] != WEND_ABSENT)
                value_argument(out, context->program, context->walk, arg, VALUE_TEXT);
            csv_quote(out, start);
            return;
        }
    }
}

static void csv_number(GString *out, const SinkContext *context, guint64 index, const WendCall *call)
{
    (void)call;
    text_decimal(out, context->rank);
    g_string_append_c(out, ',');
    text_sequence(out, context->sequence);
    g_string_append_c(out, ',');
    text_decimal(out, (gint64)index);
}

static void csv_optional(GString *out, gint64 number)
{
    g_string_append_c(out, ',');
    if (number >= 0)
        text_decimal(out, number);
}

static void csv_partner(GString *out, const SinkContext *context)
{
    Partner p = partner_of(context);
    csv_optional(out, wend_program_world_of(context->program, context->rank));
    csv_optional(out, p.peer);
    csv_optional(out, p.bytes);
    csv_optional(out, p.comm_size);
}

static void csv_call(GString *out, const SinkContext *context, const WendCall *call)
{
    g_string_append(out, call->poll ? ",1," : ",0,");
    gsize start = out->len;
    value_name(out, call->function->name, VALUE_TEXT);
    csv_quote(out, start);
    g_string_append_c(out, ',');
    start = out->len;
    value_return(out, context->program, call, VALUE_TEXT);
    csv_quote(out, start);
    csv_first(out, context, call, WEND_KIND_COMM);
    csv_first(out, context, call, WEND_KIND_RANK);
    csv_first(out, context, call, WEND_KIND_TAG);
    csv_first(out, context, call, WEND_KIND_COUNT);
    csv_first(out, context, call, WEND_KIND_DATATYPE);
    g_string_append_c(out, ',');
    start = out->len;
    value_call_arguments(out, context->program, context->walk, call);
    csv_quote(out, start);
    g_string_append_c(out, ',');
    start = out->len;
    value_call_results(out, context->program, context->walk, call);
    csv_quote(out, start);
    csv_partner(out, context);
    if (context->timing) {
        WendTiming interval, duration = mean_duration(context, call, &interval);
        char number[2][G_ASCII_DTOSTR_BUF_SIZE] = {"", ""};
        if (duration.count > 0)
            g_ascii_formatd(number[0], sizeof number[0], "%.4g",
                            duration.mean); /* an archive has no more digits */
        if (interval.count > 0)
            g_ascii_formatd(number[1], sizeof number[1], "%.4g", interval.mean);
        g_string_append_printf(out, ",%s,%s", number[0], number[1]);
    }
    g_string_append_c(out, '\n');
}

/* -- JSON lines -- */

static void json_number(GString *out, const SinkContext *context, guint64 index, const WendCall *call)
{
    (void)call;
    g_string_append(out, "{\"rank\":");
    text_decimal(out, context->rank);
    g_string_append(out, context->sequence->kind == WEND_SEQUENCE_THREAD ? ",\"thread\":" : ",\"callback\":");
    text_decimal(out, context->sequence->id);
    g_string_append(out, ",\"call\":");
    text_decimal(out, (gint64)index);
}

static void json_optional(GString *out, const char *key, gint64 number)
{
    if (number < 0)
        return;
    g_string_append(out, key);
    text_decimal(out, number);
}

static void json_partner(GString *out, const SinkContext *context)
{
    Partner p = partner_of(context);
    json_optional(out, ",\"world\":", wend_program_world_of(context->program, context->rank));
    json_optional(out, ",\"peer_world\":", p.peer);
    json_optional(out, ",\"bytes\":", p.bytes);
    json_optional(out, ",\"comm_size\":", p.comm_size);
}

static void json_call(GString *out, const SinkContext *context, const WendCall *call)
{
    g_string_append(out,
                    call->poll ? ",\"poll\":true,\"function\":" : ",\"poll\":false,\"function\":");
    value_name(out, call->function->name, VALUE_JSON);
    g_string_append(out, ",\"arguments\":{");
    gboolean first = TRUE;
    for (guint i = 0; i < call->n_args; i++) {
        if (!value_is_argument(&call->args[i]))
            continue;
        if (!first)
            g_string_append_c(out, ',');
        first = FALSE;
        value_name(out, call->args[i].param->name, VALUE_JSON);
        g_string_append_c(out, ':');
        value_argument(out, context->program, context->walk, &call->args[i], VALUE_JSON);
    }
    g_string_append(out, "},\"return\":");
    value_return(out, context->program, call, VALUE_JSON);
    g_string_append(out, ",\"results\":{");
    first = TRUE;
    for (guint i = 0; i < call->n_args; i++) {
        if (!value_is_result(&call->args[i]))
            continue;
        if (!first)
            g_string_append_c(out, ',');
        first = FALSE;
        value_name(out, call->args[i].param->name, VALUE_JSON);
        g_string_append_c(out, ':');
        value_result(out, context->program, context->walk, &call->args[i], VALUE_JSON);
    }
    g_string_append_c(out, '}');
    json_partner(out, context);
    if (context->timing) {
        WendTiming interval, duration = mean_duration(context, call, &interval);
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        if (duration.count > 0)
            g_string_append_printf(out, ",\"mean_duration\":%s",
                                   g_ascii_formatd(number, sizeof number, "%.4g", duration.mean));
        if (interval.count > 0)
            g_string_append_printf(out, ",\"mean_interval\":%s",
                                   g_ascii_formatd(number, sizeof number, "%.4g", interval.mean));
    }
    g_string_append(out, "}\n");
}

static const Sink sinks[] = {
    {"text", NULL, text_begin_sequence, text_number, text_call, NULL},
    {"csv", csv_begin, NULL, csv_number, csv_call, partner_repeats},
    {"jsonl", NULL, NULL, json_number, json_call, partner_repeats},
};

const Sink *sink_by_name(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(sinks); i++)
        if (strcmp(sinks[i].name, name) == 0)
            return &sinks[i];
    return NULL;
}
