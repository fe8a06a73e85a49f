/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c: see value.h. */
#include "config.h"

#include "value.h"

#include "text.h"

/* The format of a value. */
typedef struct {
    gboolean bare; /* for a signature: the communicators of its handles are unknown */
    gboolean json;
    ValueStyle style;
} Writer;

void value_name(GString *out, const char *name, ValueStyle style)
{
    if (style == VALUE_JSON)
        text_json_string(out, name);
    else
        text_foreign(out, name);
}

/* -- objects and memory: words that are strings in JSON -- */

static const char *handle_prefix(WendReadKind kind)
{
    switch (kind) {
    case WEND_READ_KIND_COMMUNICATOR:
        return "comm";
    case WEND_READ_KIND_GROUP:
        return "group";
    case WEND_READ_KIND_DATATYPE:
        return "type";
    case WEND_READ_KIND_OP:
        return "op";
    case WEND_READ_KIND_ERRHANDLER:
        return "errhandler";
    case WEND_READ_KIND_INFO:
        return "info";
    case WEND_READ_KIND_FILE:
        return "file";
    case WEND_READ_KIND_WINDOW:
        return "win";
    case WEND_READ_KIND_MESSAGE:
        return "message";
    case WEND_READ_KIND_SESSION:
        return "session";
    case WEND_READ_KIND_KEYVAL:
        return "keyval";
    case WEND_READ_KIND_T_ENUM:
        return "enum";
    case WEND_READ_KIND_T_CVAR:
        return "cvar";
    case WEND_READ_KIND_T_PVAR:
        return "pvar";
    case WEND_READ_KIND_T_PVAR_SESSION:
        return "pvarsession";
    case WEND_READ_KIND_T_EVENT_REGISTRATION:
        return "registration";
    case WEND_READ_KIND_T_EVENT:
        return "event";
    case WEND_READ_KIND_REQUEST:
        return "req";
    case WEND_READ_KIND_FUNCTION:
        return "function";
    default:
        return "handle";
    }
}

/* Appends the number N of an object of THREAD; the thread is written if it is not 0: 1.5. */
static void append_numbered(GString *out, guint thread, guint n)
{
    g_string_append_c(out, '#');
    if (thread != 0) {
        text_decimal(out, thread);
        g_string_append_c(out, '.');
    }
    text_decimal(out, n);
}

static void append_handle(GString *out, const Writer *w, const WendReadHandle *h)
{
    gboolean comm = h->kind == WEND_READ_KIND_COMMUNICATOR;
    g_string_append(out, handle_prefix(h->kind));
    if (h->communicator != WEND_READ_NO_INDEX) {
        append_numbered(out, 0, h->communicator);
        return;
    }
    if (comm && !w->bare)
        g_string_append_c(out, '?');
    append_numbered(out, h->thread, h->number);
}

/* heap#3+64 */
static void append_address(GString *out, const WendReadAddress *a)
{
    static const char *const kinds[] = {"heap", "stack", "static", "mpi", "win", "map", "cuda"};
    if (a->remote >= 0) { /* 3:heap#2+8 is memory of rank 3 */
        text_decimal(out, a->remote);
        g_string_append_c(out, ':');
    }
    g_string_append(out, a->memory < G_N_ELEMENTS(kinds) ? kinds[a->memory] : "segment");
    append_numbered(out, a->thread, a->number);
    if (a->offset > 0)
        g_string_append_c(out, '+');
    if (a->offset != 0)
        text_decimal(out, a->offset);
}

static void append_word(GString *out, const Writer *w, const WendReadValue *v)
{
    if (w->json)
        g_string_append_c(out, '"');
    if (v->type == WEND_READ_HANDLE)
        append_handle(out, w, &v->handle);
    else
        append_address(out, &v->place.to);
    if (v->type == WEND_READ_DISTANCE) {
        g_string_append_len(out, " - ", 3);
        append_address(out, &v->place.from);
    }
    if (w->json)
        g_string_append_c(out, '"');
}

/* -- numbers and statuses -- */

/* NAME is the name of a constant, or NULL. */
static void append_number(GString *out, const Writer *w, gint64 n, const char *name)
{
    if (name != NULL)
        value_name(out, name, w->style);
    else if (n == WEND_READ_ABSENT)
        g_string_append(out, w->json ? "null" : "-");
    else if (n == WEND_READ_UNKNOWN)
        value_name(out, "unknown", w->style);
    else
        text_decimal(out, n);
}

static void append_status(GString *out, const Writer *w, const WendReadStatus *s)
{
    g_string_append(out, w->json ? "{\"source\":" : "{source=");
    append_number(out, w, s->source, s->source_name);
    g_string_append(out, w->json ? ",\"tag\":" : ", tag=");
    append_number(out, w, s->tag, s->tag_name);
    g_string_append(out, w->json ? ",\"bytes\":" : ", bytes=");
    append_number(out, w, s->bytes, NULL);
    if (s->cancelled)
        g_string_append(out, w->json ? ",\"cancelled\":true" : ", cancelled");
    if (s->error != 0) {
        g_string_append(out, w->json ? ",\"error\":" : ", error=");
        text_decimal(out, s->error);
    }
    g_string_append_c(out, '}');
}

/* -- lists -- */

static void append_value(GString *out, const Writer *w, const WendReadValue *v);

/* NAMES are the names of the elements, or NULL. */
static void append_elements(GString *out, const Writer *w, const WendReadValue *list,
                            const char *const *names)
{
    for (guint64 i = 0; i < list->length; i++) {
        WendReadValue element;
        if (wend_read_element(list, i, &element) < 0)
            return;
        if (i > 0)
            g_string_append(out, w->json ? "," : ", ");
        if (names != NULL)
            g_string_append_printf(out, w->json ? "\"%s\":" : "%s=", names[i]);
        append_value(out, w, &element);
    }
}

static void append_list(GString *out, const Writer *w, const WendReadValue *list)
{
    g_string_append_c(out, '[');
    append_elements(out, w, list, NULL);
    g_string_append_c(out, ']');
}

/* {sources=[1, 0], destinations=[2]}, and the weights if there are any. */
static void append_neighbours(GString *out, const Writer *w, const WendReadValue *list)
{
    static const char *const names[] = {"sources", "destinations", "sourceweights", "destweights"};
    g_string_append_c(out, '{');
    append_elements(out, w, list, names);
    g_string_append_c(out, '}');
}

/* -- values -- */

static void append_value(GString *out, const Writer *w, const WendReadValue *v)
{
    switch (v->type) {
    case WEND_READ_NOTHING:
        break;
    case WEND_READ_NOT_SIGNIFICANT:
        g_string_append(out, w->json ? "null" : "-");
        break;
    case WEND_READ_NOT_KNOWN:
        value_name(out, "unknown", w->style);
        break;
    case WEND_READ_NULL:
        g_string_append(out, w->json ? "null" : "NULL");
        break;
    case WEND_READ_NUMBER:
        text_decimal(out, v->number);
        break;
    case WEND_READ_LOGICAL:
        g_string_append(out, v->number != 0 ? "true" : "false");
        break;
    case WEND_READ_CONSTANT:
        value_name(out, v->constant, w->style);
        break;
    case WEND_READ_HANDLE:
    case WEND_READ_PLACE:
    case WEND_READ_DISTANCE:
        append_word(out, w, v);
        break;
    case WEND_READ_STATUS:
        append_status(out, w, &v->status);
        break;
    case WEND_READ_STRING:
        (w->json ? text_json_bytes : text_quoted)(out, v->string.bytes, v->string.length);
        break;
    case WEND_READ_LIST:
        append_list(out, w, v);
        break;
    }
}

void value_append(GString *out, const WendReadCall *call, guint i, const WendReadValue *v,
                  ValueStyle style)
{
    const Writer w = {call->bare, style == VALUE_JSON, style};
    if (v->type == WEND_READ_LIST
        && wend_read_parameter(call->function, i)->kind == WEND_READ_KIND_NEIGHBOURS)
        append_neighbours(out, &w, v);
    else
        append_value(out, &w, v);
}

static gboolean is_self(const WendReadCall *call, guint i)
{
    return wend_read_parameter(call->function, i)->kind == WEND_READ_KIND_SELF;
}

gboolean value_argument(const WendReadCall *call, guint i, WendReadValue *v)
{
    return !is_self(call, i) && wend_read_input(call, i, v) == WEND_READ_OK
           && v->type != WEND_READ_NOTHING;
}

gboolean value_result(const WendReadCall *call, guint i, WendReadValue *v)
{
    return wend_read_output(call, i, v) == WEND_READ_OK && v->type != WEND_READ_NOTHING;
}

/* -- calls -- */

void value_return(GString *out, WendRead *r, const WendReadCall *call, ValueStyle style)
{
    const char *name = call->unfinished ? "unfinished" : wend_read_error_name(r, call->return_code);
    if (name != NULL) {
        value_name(out, name, style);
        return;
    }
    g_autofree char *number = g_strdup_printf("error %" G_GINT64_FORMAT, call->return_code);
    value_name(out, number, style);
}

/* "name=value, name=value" for the parameters for which VALUE_OF has a value. */
static void append_named(GString *out, const WendReadCall *call,
                         gboolean (*value_of)(const WendReadCall *, guint, WendReadValue *))
{
    gsize start = out->len;
    for (guint i = 0; i < call->function->n_parameters; i++) {
        WendReadValue v;
        if (!value_of(call, i, &v))
            continue;
        if (out->len > start)
            g_string_append_len(out, ", ", 2);
        g_string_append(out, wend_read_parameter(call->function, i)->name); /* written by Wend */
        g_string_append_c(out, '=');
        value_append(out, call, i, &v, VALUE_TEXT);
    }
}

void value_call_arguments(GString *out, const WendReadCall *call)
{
    append_named(out, call, value_argument);
}

void value_call_results(GString *out, const WendReadCall *call)
{
    append_named(out, call, value_result);
}

void value_call(GString *out, WendRead *r, const WendReadCall *call)
{
    g_string_append(out, call->function->name);
    g_string_append_c(out, '(');
    value_call_arguments(out, call);
    g_string_append_len(out, ") -> ", 5);
    value_return(out, r, call, VALUE_TEXT);
    gsize before = out->len;
    g_string_append_len(out, ", ", 2);
    value_call_results(out, call);
    if (out->len == before + 2)
        g_string_truncate(out, before);
}
