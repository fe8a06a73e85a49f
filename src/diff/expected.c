/* SPDX-License-Identifier: BSD-3-Clause */
/* expected.c: see expected.h. */
#include "config.h"

#include "expected.h"

#include <string.h>

#include "comparison-key.h"
#include "src/command/text.h"

guint64 expected_calls(GHashTable *pinned)
{
    GHashTableIter iter;
    gpointer calls;
    guint64 n = 0;
    g_hash_table_iter_init(&iter, pinned);
    while (g_hash_table_iter_next(&iter, NULL, &calls))
        n += ((const PinnedCalls *)calls)->calls + ((const PinnedCalls *)calls)->split;
    return n;
}

static void append_line(GString *out, guint64 calls, const char *name, const char *what)
{
    if (calls == 0)
        return;
    g_string_append(out, "  ");
    text_count(out, calls);
    g_string_append_printf(out, calls == 1 ? " call of %s: %s\n" : " calls of %s: %s\n", name,
                           what);
}

void expected_append(GString *out, GHashTable *pinned)
{
    GList *names = g_list_sort(g_hash_table_get_keys(pinned), (GCompareFunc)strcmp);
    for (const GList *l = names; l != NULL; l = l->next) {
        const PinnedCalls *calls = g_hash_table_lookup(pinned, l->data);
        gboolean graph = strcmp(l->data, "MPI_Dist_graph_create") == 0;
        append_line(out, calls->calls, l->data,
                    graph ? "MPI_Dist_graph_create_adjacent with the order of neighbours that the "
                            "library gave"
                          : "the source that came instead of MPI_ANY_SOURCE");
        append_line(out, calls->split, l->data,
                    "the sources that came instead of MPI_ANY_SOURCE, each with its own request");
    }
    g_list_free(names);
}
