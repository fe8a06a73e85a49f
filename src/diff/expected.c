/* SPDX-License-Identifier: BSD-3-Clause */
/* expected.c: see expected.h. */
#include "config.h"

#include "expected.h"

#include <string.h>

#include "src/command/text.h"

guint64 expected_calls(GHashTable *pinned)
{
    GHashTableIter iter;
    gpointer calls;
    guint64 n = 0;
    g_hash_table_iter_init(&iter, pinned);
    while (g_hash_table_iter_next(&iter, NULL, &calls))
        n += *(const guint64 *)calls;
    return n;
}

void expected_append(GString *out, GHashTable *pinned)
{
    GList *names = g_list_sort(g_hash_table_get_keys(pinned), (GCompareFunc)strcmp);
    for (const GList *l = names; l != NULL; l = l->next) {
        guint64 calls = *(const guint64 *)g_hash_table_lookup(pinned, l->data);
        gboolean graph = strcmp(l->data, "MPI_Dist_graph_create") == 0;
        g_string_append(out, "  ");
        text_count(out, calls);
        g_string_append_printf(
            out, calls == 1 ? " call of %s: " : " calls of %s: ", (const char *)l->data);
        g_string_append(out, graph ? "MPI_Dist_graph_create_adjacent with the order of neighbours "
                                     "that the library gave\n"
                                   : "the source that came instead of MPI_ANY_SOURCE\n");
    }
    g_list_free(names);
}
