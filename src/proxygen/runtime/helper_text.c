/* SPDX-License-Identifier: BSD-3-Clause */
/* helper_text.c: turns the text of helpers into definitions and declarations. */
#include "helpers.h"
#include "src/proxygen/model/model.h"

void helper_define(Emitter *e, GString *out, const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "@", -1);
    g_autofree char *joined = g_strjoinv(e->linkage, parts);
    g_auto(GStrv) around = g_strsplit(joined, "world_rank", -1);
    g_autofree char *with_rank =
        g_strjoinv(job_worlds_several(e->plan) ? "world_rank" : "rank", around);
    g_string_append(out, with_rank);
}

void helper_define_with(Out *o, const char *text, const char *part)
{
    g_auto(GStrv) parts = g_strsplit(text, "#", -1);
    g_autofree char *joined = g_strjoinv(part, parts);
    helper_define(o->e, o->definitions, joined);
}

void helper_declare(Emitter *e, GString *out, const char *format, ...)
{
    if (*e->linkage)
        return; /* a single file has the definitions first */
    va_list arguments;
    va_start(arguments, format);
    g_string_append_vprintf(out, format, arguments);
    va_end(arguments);
    g_string_append_c(out, '\n');
}
