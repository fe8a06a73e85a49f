/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_wildcard.c: writes receives from any source that are pinned. */
#include "changes.h"

guint emit_wildcard(Emitter *e, GString *out, int indent, const Wildcard *wildcard, guint terminal)
{
    g_autofree char *source = emit_wildcard_source(e, wildcard);
    changes_comment(e, out, indent, wildcard->starts ? CHANGE_SOURCES : CHANGE_SOURCE, terminal,
                    wildcard->reason);
    if (wildcard->starts) {
        e->source = source;
        guint statements = emit_call(e, out, indent, terminal);
        e->source = NULL;
        return statements;
    }
    /* The source is read once, because the call may be polled. */
    const char *variable = locals_variable(e, "int", "source", 0);
    c_text_line(out, indent, "%s = %s;", variable, source);
    e->source = variable;
    guint statements = emit_call(e, out, indent, terminal);
    e->source = NULL;
    return MAX(2, statements);
}
