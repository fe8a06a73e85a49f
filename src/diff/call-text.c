/* SPDX-License-Identifier: BSD-3-Clause */
/* call-text.c: see call-text.h. The rules of wend diff compare words, and value.h writes values of
 * libwend-read. */
#include "config.h"

#include "call-text.h"

#include "lib/record/layout.h"
#include "src/command/text.h"
#include "src/command/value.h"
#include "src/read/wrap.h"

void call_text(GString *out, const WendProgram *p, const WendWalk *walk, const WendCall *call)
{
    WendRead *r = read_wrap(p);
    value_call(out, r, read_wrap_call(r, walk, call));
    wend_read_free(r);
}

void call_text_value(GString *out, const WendProgram *p, const WendCall *call, guint i)
{
    WendReadValue v;
    WendRead *r = read_wrap(p);
    const WendReadCall *wrapped = read_wrap_call(r, NULL, call);
    if (value_argument(wrapped, i, &v) || value_result(wrapped, i, &v))
        value_append(out, wrapped, i, &v, VALUE_TEXT);
    wend_read_free(r);
}

char *call_text_error_class(const WendProgram *p, gint64 class)
{
    char key[32];
    g_snprintf(key, sizeof key, "%" G_GINT64_FORMAT, class);
    char *name = g_key_file_get_string(program_meta(p), "error", key, NULL);
    if (name != NULL && *name == '\0')
        g_clear_pointer(&name, g_free);
    return name;
}

/* The number of words of a string or, if DEPTH > 0, a list of strings, with its length word. */
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

gsize call_text_words(const WendArg *arg, gboolean is_out)
{
    gint64 n = is_out ? arg->n_out : arg->n_in;
    const gint64 *words = is_out ? arg->out : arg->in;
    WendKind kind = arg->param->kind;
    if (n <= 0 || !words || (kind == WEND_KIND_STATUS && !is_out))
        return 0; /* the input of a status is its length word alone */
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

void call_text_rank(GString *out, const WendProgram *p, guint rank)
{
    guint world = program_world_of(p, rank);
    text_rank(out, rank, program_n_worlds(p), world, rank - program_world(p, world)->first);
}

void call_text_sequence(GString *out, const WendSequence *sequence)
{
    text_sequence(out, sequence->kind == WEND_SEQUENCE_CALLBACK, sequence->id);
}
