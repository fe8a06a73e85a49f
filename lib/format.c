/* format.c: arguments as people write them. */
#include <string.h>

#include "layout.h"
#include "program-private.h"

typedef struct { const WendProgram *p; const WendWalk *w; GString *out; } Text;

static const char *handle_name(WendKind kind)
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
    case WEND_KIND_REQUEST: return "req";
    case WEND_KIND_FUNC: return "func";
    case WEND_KIND_TENUM: return "enum";
    case WEND_KIND_CVAR: return "cvar";
    case WEND_KIND_PVAR: return "pvar";
    case WEND_KIND_PVARSESSION: return "pvar_session";
    case WEND_KIND_EVENTREG: return "event_registration";
    case WEND_KIND_EVENT: return "event";
    default: return "handle";
    }
}

/* Constants and the special words; FALSE: it is neither. */
static gboolean put_special(const Text *t, gint64 word)
{
    const char *name = wend_constant_name(t->p, word);
    if (name) g_string_append(t->out, name);
    else if (wend_is_const(word)) g_string_append(t->out, "?");
    else if (word == WEND_ABSENT) g_string_append_c(t->out, '-');
    else if (word == WEND_UNKNOWN) g_string_append_c(t->out, '?');
    else if (word == WEND_IGNORE) g_string_append(t->out, "ignored");
    else return FALSE;
    return TRUE;
}

static void put_number(const Text *t, gint64 word)
{
    if (!put_special(t, word)) g_string_append_printf(t->out, "%" G_GINT64_FORMAT, word);
}

static void put_handle(const Text *t, WendKind kind, gint64 word)
{
    if (put_special(t, word)) return;
    guint number = kind == WEND_KIND_COMM && t->w ? wend_walk_comm(t->w, word) : G_MAXUINT;
    g_string_append(t->out, handle_name(kind));
    if (number != G_MAXUINT) g_string_append_printf(t->out, "#%u", number);
    else if (wend_handle_tid(word)) g_string_append_printf(t->out, "#%u:%u", wend_handle_tid(word), wend_handle_number(word));
    else g_string_append_printf(t->out, "#%u", wend_handle_number(word));
}

static void put_place(const Text *t, gint64 segment, gint64 offset)
{
    static const char *const kinds[] = {"heap", "stack", "static", "mpi", "win", "map", "segment", "segment"};
    if (segment == WEND_PLAIN) {
        put_number(t, offset);
        return;
    }
    if (put_special(t, segment)) return;
    g_string_append_printf(t->out, "%s#%" G_GINT64_FORMAT, kinds[wend_segment_kind(segment)], wend_segment_id(segment));
    if (offset) g_string_append_printf(t->out, "%+" G_GINT64_FORMAT, offset);
}

static void put_bits(const Text *t, const WendParam *p, gint64 word)
{
    if (put_special(t, word)) return;
    const WendConstantGroup *group = p->group ? wend_group_by_name(p->group) : NULL;
    if (word == 0) g_string_append_c(t->out, '0');
    gboolean first = TRUE;
    guint n = group ? group->n : 0;
    for (guint i = 0; i < MIN(n, 16); i++)
        if (word >> i & 1) {
            g_string_append_printf(t->out, "%s%s", first ? "" : "|", wend_constants[group->members[i]]);
            first = FALSE;
            word &= ~((gint64)1 << i);
        }
    if (word) g_string_append_printf(t->out, "%s0x%" G_GINT64_MODIFIER "x", first ? "" : "|", (guint64)word >> (n ? 16 : 0));
}

static void put_text(const Text *t, const gint64 *words, gint64 n)
{
    if (n < 0) {
        if (n == -1) g_string_append(t->out, "NULL"); else put_number(t, n);
        return;
    }
    g_string_append_c(t->out, '"');
    for (gint64 i = 0; i < n; i++) {
        guint8 c = (guint64)words[i / 8] >> (8 * (i % 8)) & 0xff;
        if (c == '"' || c == '\\') g_string_append_printf(t->out, "\\%c", c);
        else if (c == '\n') g_string_append(t->out, "\\n");
        else if (c == '\t') g_string_append(t->out, "\\t");
        else if (c < 0x20 || c == 0x7f) g_string_append_printf(t->out, "\\x%02x", c);
        else g_string_append_c(t->out, c);
    }
    g_string_append_c(t->out, '"');
}

static const gint64 *put_texts(const Text *t, const gint64 *words, gint64 n, gboolean of_strings)
{
    if (n < 0) {
        put_text(t, NULL, n);
        return words;
    }
    g_string_append_c(t->out, '[');
    for (gint64 i = 0; i < n; i++) {
        gint64 each = *words++;
        if (i) g_string_append(t->out, ", ");
        if (of_strings) {
            words = put_texts(t, words, each, FALSE);
        } else {
            put_text(t, words, each);
            words += each > 0 ? (each + 7) / 8 : 0;
        }
    }
    g_string_append_c(t->out, ']');
    return words;
}

static void put_status(const Text *t, const gint64 *s)
{
    g_string_append(t->out, "{source=");
    put_number(t, s[0]);
    g_string_append(t->out, ", tag=");
    put_number(t, s[1]);
    g_string_append(t->out, ", bytes=");
    put_number(t, s[2]);
    if (s[3] & 1) g_string_append(t->out, ", cancelled");
    if (s[3] >> 1) g_string_append_printf(t->out, ", error=%" G_GINT64_FORMAT, s[3] >> 1);
    g_string_append_c(t->out, '}');
}

static void put_element(const Text *t, const WendParam *p, const gint64 *e)
{
    switch (p->kind) {
    case WEND_KIND_BUF: case WEND_KIND_ADDRESS: case WEND_KIND_ATTR: put_place(t, e[0], e[1]); break;
    case WEND_KIND_SEGMENT: put_place(t, e[0], 0); break;
    case WEND_KIND_STATUS: put_status(t, e); break;
    case WEND_KIND_LOGICAL:
        if (!put_special(t, e[0])) g_string_append(t->out, e[0] ? "true" : "false");
        break;
    case WEND_KIND_BITS: put_bits(t, p, e[0]); break;
    case WEND_KIND_REQUEST: case WEND_KIND_FUNC: put_handle(t, p->kind, e[0]); break;
    default:
        if (layout_kind_is_handle(p->kind)) put_handle(t, p->kind, e[0]); else put_number(t, e[0]);
    }
}

static guint element_words(const WendParam *p, gboolean out)
{
    switch (p->kind) {
    case WEND_KIND_BUF: case WEND_KIND_ADDRESS: case WEND_KIND_ATTR: return 2;
    case WEND_KIND_STATUS: return 4;
    case WEND_KIND_COMM: case WEND_KIND_DATATYPE: return out ? 6 : 1;
    default: return 1;
    }
}

static void put_value(const Text *t, const WendParam *p, const gint64 *words, gint64 n, gboolean out)
{
    if (p->kind == WEND_KIND_STRING) {
        put_text(t, words, n);
    } else if (p->kind == WEND_KIND_STRINGS || p->kind == WEND_KIND_STRINGS2) {
        put_texts(t, words, n, p->kind == WEND_KIND_STRINGS2);
    } else if (!p->array) {
        put_element(t, p, words);
    } else if (n < 0) {
        if (n == -1) g_string_append(t->out, "NULL"); else put_number(t, n);
    } else {
        g_string_append_c(t->out, '[');
        for (gint64 i = 0; i < n; i++) {
            if (i) g_string_append(t->out, ", ");
            put_element(t, p, words + i * element_words(p, out));
        }
        g_string_append_c(t->out, ']');
    }
}

void wend_arg_format(const WendProgram *p, const WendWalk *w, const WendCall *call, guint arg, GString *out)
{
    g_return_if_fail(arg < call->n_args);
    const Text t = {p, w, out};
    const WendArg *a = &call->args[arg];
    const WendParam *param = a->param;
    gboolean in = layout_param_has_in(param), gives = layout_param_has_out(param) && !call->failed;
    if (a->null) {
        g_string_append(out, "NULL");
        return;
    }
    if (param->kind == WEND_KIND_STATUS) {
        gboolean ignored = param->array ? a->n_in < 0 : a->n_in == 0;
        if (call->failed || call->poll || !gives) g_string_append_c(out, '-');
        else if (ignored) g_string_append(out, "ignored");
        else if (!param->array && a->n_out != 1) g_string_append_c(out, '-');
        else put_value(&t, param, a->out, a->n_out, TRUE);
        return;
    }
    if (!param->array && param->kind != WEND_KIND_STRING && param->kind != WEND_KIND_STRINGS && param->kind != WEND_KIND_STRINGS2) {
        in = in && a->n_in == 1;
        gives = gives && a->n_out == 1;
    } else if (gives && call->poll && a->n_out == 0) {
        gives = FALSE;
    }
    if (in) put_value(&t, param, a->in, a->n_in, FALSE);
    if (in && gives) g_string_append(out, " -> ");
    if (gives) put_value(&t, param, a->out, a->n_out, TRUE);
    if (!in && !gives) g_string_append_c(out, '-');
}

char *wend_arg_string(const WendArg *arg, gboolean out)
{
    gint64 n = out ? arg->n_out : arg->n_in;
    const gint64 *words = out ? arg->out : arg->in;
    if (arg->param->kind != WEND_KIND_STRING || n < 0) return NULL;
    char *text = g_malloc(n + 1);
    for (gint64 i = 0; i < n; i++) text[i] = (guint64)words[i / 8] >> (8 * (i % 8)) & 0xff;
    text[n] = '\0';
    return text;
}
