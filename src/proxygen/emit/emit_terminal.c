/* SPDX-License-Identifier: BSD-3-Clause */
/* emit_terminal.c: writes a call with the statements before and after it. */
#include "emitter.h"

guint emit_terminal(Emitter *e, GString *out, int indent, guint terminal)
{
    const Wildcard *wildcard = g_hash_table_lookup(e->plan->wildcards, GUINT_TO_POINTER(terminal));
    guint statements = emit_shared(e, out, indent, terminal, FALSE, FALSE);
    statements += wildcard ? emit_wildcard(e, out, indent, wildcard, terminal)
                           : emit_call(e, out, indent, terminal);
    return statements + emit_shared(e, out, indent, terminal, TRUE, FALSE);
}
