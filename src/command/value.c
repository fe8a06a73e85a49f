/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c: see value.h. */
#include "config.h"

#include "value.h"

#include <string.h>

#include "command_text.h"
#include "lib/record/layout.h"
#include "lib/record/neighbours.h"

static const char *handle_prefix(WendKind kind)
{
    switch (kind) {
    case WEND_KIND_COMM: return "comm";
    case WEND_KIND_GROUP: return "group";
    case WEND_KIND_DATATYPE: return "type";
    case WEND_KIND_OP: return "op";
    case WEND_KIND_ERRHANDLER: return "errhandler";
    case WEND_KIND_INFO: return "info";
    case WEND_KIND_FILE: return "file";
    case WEND_KIND_WIN: return "win";
    case WEND_KIND_MESSAGE: return "message";
    case WEND_KIND_SESSION: return "session";
    case WEND_KIND_KEYVAL: return "keyval";
    case WEND_KIND_TENUM: return "enum";
    case WEND_KIND_CVAR: return "cvar";
    case WEND_KIND_PVAR: return "pvar";
    case WEND_KIND_PVARSESSION: return "pvarsession";
    case WEND_KIND_EVENTREG: return "registration";
    case WEND_KIND_EVENT: return "event";
    case WEND_KIND_REQUEST: return "req";
    default: return NULL;
    }
}

/* Words of one string or, if DEPTH > 0, list of strings, its length word included. */
static gsize counted_words(const gint64 *words, guint depth)
{
    gint64 n = words[0];
    gsize used = 1;
    if (n > 0 && depth == 0)
        used += (gsize)(n + 7) / 8;
    for (gint64 i = 0; depth > 0 && i < n; i++)
        used += counted_words(words + used, depth - 1);
    return used;
}

gsize value_words(const WendArg *arg, gboolean is_out)
{
    gint64 n = is_out ? arg->n_out : arg->n_in;
    const gint64 *words = is_out ? arg->out : arg->in;
    WendKind kind = arg->param->kind;
    if (n <= 0 || words == NULL || (kind == WEND_KIND_STATUS && !is_out)) /* what a status has among the inputs is its length alone */
        return 0;
    if (kind == WEND_KIND_STRING && !arg->param->array)
        return (gsize)(n + 7) / 8;
    if (kind == WEND_KIND_STRING || kind == WEND_KIND_STRINGS || kind == WEND_KIND_STRINGS2) {
        gsize used = 0;
        for (gint64 i = 0; i < n; i++)
            used += counted_words(words + used, kind == WEND_KIND_STRINGS2);
        return used;
    }
    return (gsize)n * layout_element_words(arg->param, is_out);
}

void value_name(GString *out, const char *name, ValueStyle style)
{
    if (style == VALUE_JSON)
        text_json_string(out, name);
    else
        text_foreign(out, name);
}

/* PREFIX#N of a handle, with its thread where that is not the first: req#1.5. */
static void append_handle(GString *out, const char *prefix, gint64 word, ValueStyle style)
{
    if (style == VALUE_JSON)
        g_string_append_c(out, '"');
    g_string_append(out, prefix);
    g_string_append_c(out, '#');
    if (wend_handle_tid(word) != 0) {
        text_decimal(out, wend_handle_tid(word));
        g_string_append_c(out, '.');
    }
    text_decimal(out, wend_handle_number(word));
    if (style == VALUE_JSON)
        g_string_append_c(out, '"');
}

/* The specials and constants, which any kind may have. */
static gboolean append_special(GString *out, const WendProgram *p, gint64 word, ValueStyle style)
{
    if (!wend_is_special(word))
        return FALSE;
    const char *name = wend_constant_name(p, word);
    if (name != NULL)
        value_name(out, name, style);
    else if (word == WEND_ABSENT)
        g_string_append(out, style == VALUE_JSON ? "null" : "-");
    else if (word == WEND_UNKNOWN)
        value_name(out, "unknown", style);
    else if (word == WEND_IGNORE)
        value_name(out, "ignored", style);
    else
        return FALSE;
    return TRUE;
}

/* heap#3+64 */
static void append_place(GString *out, gint64 word, gint64 offset)
{
    static const char *const kinds[] = {"heap", "stack", "static", "mpi", "win", "map", "remote", "cuda"};
    if (wend_segment_kind(word) == WEND_SEGMENT_REMOTE) { /* 3:heap#2+8 is rank 3's */
        text_decimal(out, wend_remote_rank(offset));
        g_string_append_c(out, ':');
        word = wend_segment_id(word);
        offset = wend_remote_offset(offset);
    }
    guint kind = wend_segment_kind(word);
    g_string_append(out, kind < G_N_ELEMENTS(kinds) ? kinds[kind] : "segment");
    g_string_append_c(out, '#');
    if (kind != WEND_SEGMENT_STACK && wend_segment_thread(word) != 0) {
        text_decimal(out, wend_segment_thread(word));
        g_string_append_c(out, '.');
    }
    text_decimal(out, wend_segment_number(word));
    if (offset > 0)
        g_string_append_c(out, '+');
    if (offset != 0)
        text_decimal(out, offset);
}

static void append_segment(GString *out, gint64 word, gint64 offset, ValueStyle style)
{
    if (style == VALUE_JSON)
        g_string_append_c(out, '"');
    append_place(out, word, offset);
    if (style == VALUE_JSON)
        g_string_append_c(out, '"');
}

static void append_distance(GString *out, const gint64 *words, ValueStyle style)
{
    if (style == VALUE_JSON)
        g_string_append_c(out, '"');
    append_place(out, words[0], words[1]);
    g_string_append(out, " - ");
    append_place(out, words[2], words[3]);
    if (style == VALUE_JSON)
        g_string_append_c(out, '"');
}

static void append_status(GString *out, const WendProgram *p, const gint64 *words, ValueStyle style)
{
    gboolean json = style == VALUE_JSON;
    static const char *const names[2][3] = {{"source=", "tag=", "bytes="}, {"\"source\":", "\"tag\":", "\"bytes\":"}};
    g_string_append_c(out, '{');
    for (guint i = 0; i < 3; i++) {
        if (i > 0)
            g_string_append(out, json ? "," : ", ");
        g_string_append(out, names[json][i]);
        if (!append_special(out, p, words[i], style))
            text_decimal(out, words[i]);
    }
    if (words[3] & 1)
        g_string_append(out, json ? ",\"cancelled\":true" : ", cancelled");
    if (words[3] >> 1 != 0) {
        g_string_append(out, json ? ",\"error\":" : ", error=");
        text_decimal(out, words[3] >> 1);
    }
    g_string_append_c(out, '}');
}

static void append_element(GString *out, const WendProgram *p, const WendWalk *w, WendKind kind, const gint64 *words, ValueStyle style)
{
    gint64 word = words[0];
    switch (kind) {
    case WEND_KIND_STATUS:
        append_status(out, p, words, style);
        return;
    case WEND_KIND_BUF:
    case WEND_KIND_ADDRESS:
    case WEND_KIND_ATTR:
    case WEND_KIND_TARGET:
        if (kind == WEND_KIND_ADDRESS && wend_is_segment(words[2]))
            append_distance(out, words, style);
        else if (word == WEND_PLAIN)
            text_decimal(out, words[1]);
        else if (wend_is_segment(word))
            append_segment(out, word, words[1], style);
        else if (!append_special(out, p, word, style))
            text_decimal(out, word);
        return;
    case WEND_KIND_SEGMENT:
        if (wend_is_segment(word))
            append_segment(out, word, 0, style);
        else if (!append_special(out, p, word, style))
            text_decimal(out, word);
        return;
    case WEND_KIND_FUNC:
        if (append_special(out, p, word, style))
            return;
        if (word == WEND_NULL_FUNCTION)
            g_string_append(out, style == VALUE_JSON ? "null" : "NULL");
        else
            append_handle(out, "function", word, style);
        return;
    case WEND_KIND_LOGICAL:
        if (append_special(out, p, word, style))
            return;
        g_string_append(out, word != 0 ? "true" : "false");
        return;
    default:
        break;
    }
    if (append_special(out, p, word, style))
        return;
    const char *prefix = handle_prefix(kind);
    if (prefix == NULL || !wend_is_handle(word)) {
        text_decimal(out, word);
        return;
    }
    guint global = kind == WEND_KIND_COMM && w != NULL ? wend_walk_comm(w, word) : G_MAXUINT;
    if (global != G_MAXUINT)
        append_handle(out, prefix, global, style);
    else
        append_handle(out, kind == WEND_KIND_COMM && w != NULL ? "comm?" : prefix, word, style);
}

/* A string of BYTES bytes packed in words. */
static void append_packed(GString *out, const gint64 *words, gint64 bytes, ValueStyle style)
{
    char *s = g_malloc((gsize)bytes + 1);
    for (gint64 i = 0; i < bytes; i++)
        s[i] = (char)((guint64)words[i / 8] >> (8 * (i % 8)));
    if (style == VALUE_JSON)
        text_json_bytes(out, s, (gsize)bytes);
    else
        text_quoted(out, s, (gsize)bytes);
    g_free(s);
}

static const gint64 *append_strings(GString *out, const WendProgram *p, const gint64 *words, gint64 n, guint depth, ValueStyle style);

/* One string or, if DEPTH > 0, list of strings with its length word in front; gives the word behind it. */
static const gint64 *append_counted(GString *out, const WendProgram *p, const gint64 *words, guint depth, ValueStyle style)
{
    gint64 n = *words++;
    if (n == -1)
        g_string_append(out, style == VALUE_JSON ? "null" : "NULL");
    else if (n < 0) {
        if (!append_special(out, p, n, style))
            text_decimal(out, n);
    } else if (depth == 0) {
        append_packed(out, words, n, style);
        words += (n + 7) / 8;
    } else {
        words = append_strings(out, p, words, n, depth - 1, style);
    }
    return words;
}

static const gint64 *append_strings(GString *out, const WendProgram *p, const gint64 *words, gint64 n, guint depth, ValueStyle style)
{
    g_string_append_c(out, '[');
    for (gint64 i = 0; i < n; i++) {
        if (i > 0)
            g_string_append(out, style == VALUE_JSON ? "," : ", ");
        words = append_counted(out, p, words, depth, style);
    }
    g_string_append_c(out, ']');
    return words;
}

static void append_numbers(GString *out, const char *name, const gint64 *words, gint64 n,
                           ValueStyle style)
{
    g_string_append_printf(out, style == VALUE_JSON ? "\"%s\":[" : "%s=[", name);
    for (gint64 i = 0; i < n; i++) {
        if (i > 0)
            g_string_append(out, style == VALUE_JSON ? "," : ", ");
        text_decimal(out, words[i]);
    }
    g_string_append_c(out, ']');
}

/* {sources=[1, 0], destinations=[2]}, and the weights where there are any. */
static void append_neighbours(GString *out, const gint64 *words, gint64 n, ValueStyle style)
{
    static const char *const names[2][2] = {{"sources", "destinations"},
                                            {"sourceweights", "destweights"}};
    Neighbours graph;
    if (!neighbours_read(words, n, &graph)) {
        value_name(out, "unknown", style);
        return;
    }
    g_string_append_c(out, '{');
    for (guint i = 0; i < (graph.weighted ? 4 : 2); i++) {
        if (i > 0)
            g_string_append(out, style == VALUE_JSON ? "," : ", ");
        append_numbers(out, names[i / 2][i % 2], (i < 2 ? graph.ranks : graph.weights)[i % 2],
                       graph.n[i % 2], style);
    }
    g_string_append_c(out, '}');
}

static void append_value(GString *out, const WendProgram *p, const WendWalk *w, const WendParam *param, gint64 n, const gint64 *words,
                         gboolean is_out, ValueStyle style)
{
    gboolean strings = param->kind == WEND_KIND_STRING || param->kind == WEND_KIND_STRINGS || param->kind == WEND_KIND_STRINGS2;
    if (!param->array && !strings) {
        append_element(out, p, w, param->kind, words, style);
        return;
    }
    if (n < 0) {
        if (n == -1)
            g_string_append(out, style == VALUE_JSON ? "null" : "NULL");
        else if (n == WEND_IGNORE && param->kind == WEND_KIND_STATUS)
            value_name(out, "MPI_STATUSES_IGNORE", style);
        else if (n == WEND_IGNORE && param->kind == WEND_KIND_ERRCODE)
            value_name(out, "MPI_ERRCODES_IGNORE", style);
        else if (!append_special(out, p, n, style))
            text_decimal(out, n);
        return;
    }
    if (param->kind == WEND_KIND_STRING && !param->array) {
        append_packed(out, words, n, style);
        return;
    }
    if (param->kind == WEND_KIND_NEIGHBOURS) {
        append_neighbours(out, words, n, style);
        return;
    }
    if (strings) {
        append_strings(out, p, words, n, param->kind == WEND_KIND_STRINGS2 ? 1 : 0, style);
        return;
    }
    guint width = layout_element_words(param, is_out);
    g_string_append_c(out, '[');
    for (gint64 i = 0; i < n; i++) {
        if (i > 0)
            g_string_append(out, style == VALUE_JSON ? "," : ", ");
        append_element(out, p, w, param->kind, words + (gsize)i * width, style);
    }
    g_string_append_c(out, ']');
}

/* Handles and addresses that MPI makes are named where they are made: they read as arguments. */
static gboolean made(const WendParam *param)
{
    return param->place != WEND_PLACE_OUTCOME && param->dir == WEND_DIR_OUT && (handle_prefix(param->kind) != NULL || param->kind == WEND_KIND_BUF);
}

gboolean value_is_argument(const WendArg *arg)
{
    const WendParam *param = arg->param;
    if (param->kind == WEND_KIND_SELF || param->kind == WEND_KIND_SKIP)
        return FALSE;
    if (param->kind == WEND_KIND_STATUS)
        return param->dir == WEND_DIR_OUT && arg->n_in <= 0; /* ignored, or no array; a status that is read has no words */
    if (param->dir == WEND_DIR_IN || param->dir == WEND_DIR_INOUT)
        return arg->n_in != 0 || param->array || param->kind == WEND_KIND_STRING;
    return made(param) && arg->n_out != 0;
}

void value_argument(GString *out, const WendProgram *p, const WendWalk *w, const WendArg *arg, ValueStyle style)
{
    gboolean is_out = arg->param->dir == WEND_DIR_OUT;
    if (arg->param->kind == WEND_KIND_STATUS) {
        if (!arg->param->array)
            value_name(out, "MPI_STATUS_IGNORE", style);
        else if (arg->n_in == 0)
            g_string_append(out, "[]");
        else
            append_value(out, p, w, arg->param, arg->n_in, NULL, FALSE, style);
        return;
    }
    append_value(out, p, w, arg->param, is_out ? arg->n_out : arg->n_in, is_out ? arg->out : arg->in, is_out, style);
}

gboolean value_is_result(const WendArg *arg)
{
    const WendParam *param = arg->param;
    if (param->kind == WEND_KIND_SELF || param->kind == WEND_KIND_SKIP || param->dir == WEND_DIR_IN || made(param))
        return FALSE;
    if (param->kind == WEND_KIND_FOUND) /* most ranks do not say it */
        return arg->out != NULL && arg->n_out == 1 && arg->out[0] != WEND_ABSENT;
    return arg->n_out != 0 && (arg->out != NULL || arg->n_out < 0);
}

void value_result(GString *out, const WendProgram *p, const WendWalk *w, const WendArg *arg, ValueStyle style)
{
    append_value(out, p, w, arg->param, arg->n_out, arg->out, TRUE, style);
}

gboolean value_repeats(const WendCall *call)
{
    if (!call->fixed)
        return FALSE;
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        gint64 words = arg->param->kind == WEND_KIND_COMM ? (arg->n_in > 0) + (arg->n_out > 0) : 0;
        if (words > 0 && (arg->param->array || wend_is_handle(arg->n_in > 0 ? arg->in[0] : arg->out[0]))) /* named by number, see append_element */
            return FALSE;
    }
    return TRUE;
}

char *value_error_class(const WendProgram *p, gint64 class)
{
    char key[32];
    g_snprintf(key, sizeof key, "%" G_GINT64_FORMAT, class);
    char *name = g_key_file_get_string(wend_program_meta(p), "error", key, NULL);
    if (name != NULL && *name == '\0')
        g_clear_pointer(&name, g_free);
    return name;
}

void value_return_code(GString *out, const WendProgram *p, gint64 class, ValueStyle style)
{
    if (class == 0) {
        g_string_append(out, style == VALUE_JSON ? "\"MPI_SUCCESS\"" : "MPI_SUCCESS");
        return;
    }
    char *name = value_error_class(p, class);
    if (name == NULL)
        name = g_strdup_printf("error %" G_GINT64_FORMAT, class);
    value_name(out, name, style);
    g_free(name);
}

typedef gboolean Belongs(const WendArg *);
typedef void Append(GString *, const WendProgram *, const WendWalk *, const WendArg *, ValueStyle);

/* "name=value, name=value" of the arguments that belong. */
static void append_named(GString *out, const WendProgram *p, const WendWalk *w, const WendCall *call, Belongs *belongs, Append *append)
{
    const char *separator = "";
    for (guint i = 0; i < call->n_args; i++) {
        if (!belongs(&call->args[i]))
            continue;
        g_string_append(out, separator);
        separator = ", ";
        text_foreign(out, call->args[i].param->name);
        g_string_append_c(out, '=');
        append(out, p, w, &call->args[i], VALUE_TEXT);
    }
}

void value_call_arguments(GString *out, const WendProgram *p, const WendWalk *w, const WendCall *call)
{
    append_named(out, p, w, call, value_is_argument, value_argument);
}

void value_call_results(GString *out, const WendProgram *p, const WendWalk *w, const WendCall *call)
{
    append_named(out, p, w, call, value_is_result, value_result);
}

void value_return(GString *out, const WendProgram *p, const WendCall *call, ValueStyle style)
{
    if (call->unfinished)
        value_name(out, "unfinished", style);
    else
        value_return_code(out, p, call->return_code, style);
}

void value_call(GString *out, const WendProgram *p, const WendWalk *w, const WendCall *call)
{
    text_foreign(out, call->function->name);
    g_string_append_c(out, '(');
    value_call_arguments(out, p, w, call);
    g_string_append_len(out, ") -> ", 5);
    value_return(out, p, call, VALUE_TEXT);
    gsize before = out->len;
    g_string_append_len(out, ", ", 2);
    value_call_results(out, p, w, call);
    if (out->len == before + 2)
        g_string_truncate(out, before);
}
