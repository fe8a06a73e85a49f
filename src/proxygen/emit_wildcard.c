/* emit_wildcard.c: receives from any source, kept or pinned (wildcards.c). */
#include "emit.h"

guint emit_wildcard(Emitter *e, GString *out, int indent, const Wildcard *wildcard, guint terminal)
{
    if (!wildcard->pinned)
        return emit_call(e, out, indent, terminal);
    g_autoptr(GString) list = g_string_new("");
    RankSet ranks = e->plan->rules[wildcard->site.rule].ranks;
    gint32 only = -1;
    gboolean constant = TRUE, same = TRUE;
    g_autofree char *last = NULL;
    guint first = ranks.ranks[0], n = ranks.ranks[ranks.n - 1] - first + 1;
    for (guint r = first; r < first + n; r++) {
        GArray *sources = g_hash_table_lookup(wildcard->sources, GUINT_TO_POINTER(r));
        g_string_append(list, r > first ? ", " : "");
        if (!sources) {
            g_string_append(list, "NULL");
            continue;
        }
        g_autoptr(GString) contents = g_string_new("");
        for (guint i = 0; i < sources->len; i++) {
            gint32 source = g_array_index(sources, gint32, i);
            constant &= only == -1 || only == source;
            only = source;
            g_string_append_printf(contents, "%s%d", i ? ", " : "", source);
        }
        g_autofree char *dimensions = g_strdup_printf("[%u]", sources->len);
        char *name = table_of(e, "int", "source", dimensions, contents->str);
        same &= !last || g_str_equal(last, name);
        g_free(last);
        last = name;
        g_string_append(list, name);
    }
    g_autofree char *source = NULL;
    if (constant && only >= 0) {
        source = g_strdup_printf("%d", only);
    } else {
        guint number = ++e->n_tables;
        write_line(e->definitions, 0, "static long source_next_%u;", number);
        g_autofree char *dimensions = g_strdup_printf("[%u]", n);
        g_autofree char *table = same ? g_strdup(last) : table_of(e, "int *const", "source_by_rank", dimensions, list->str);
        source = same ? g_strdup_printf("%s[source_next_%u++]", table, number)
               : first ? g_strdup_printf("%s[rank - %u][source_next_%u++]", table, first, number)
                       : g_strdup_printf("%s[rank][source_next_%u++]", table, number);
    }
    write_comment(out, indent, "From any source when it was recorded; pinned to the source that came: %s", wildcard->reason);
    e->source = source;
    guint statements = emit_call(e, out, indent, terminal);
    e->source = NULL;
    return MAX(2, statements);
}
