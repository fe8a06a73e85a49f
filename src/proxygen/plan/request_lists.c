/* SPDX-License-Identifier: BSD-3-Clause */
/* request_lists.c: see request_lists.h. */
#include "request_lists.h"

#include <string.h>

struct RequestLists {
    GHashTable *by_words; /* RequestList (by words) -> itself */
    GPtrArray *in_order;
};

static guint list_hash(gconstpointer list)
{
    const RequestList *l = list;
    guint h = (guint)l->n;
    for (gint64 i = 0; i < l->n; i++)
        h = h * 31 + (guint)l->words[i] + (guint)((guint64)l->words[i] >> 32) * 17;
    return h;
}

static gboolean list_equal(gconstpointer a, gconstpointer b)
{
    const RequestList *l = a, *m = b;
    return l->n == m->n && memcmp(l->words, m->words, (gsize)l->n * sizeof *l->words) == 0;
}

static void list_free(gpointer list)
{
    g_free(((RequestList *)list)->words);
    g_free(list);
}

RequestLists *request_lists_new(void)
{
    RequestLists *lists = g_new(RequestLists, 1);
    lists->by_words = g_hash_table_new_full(list_hash, list_equal, list_free, NULL);
    lists->in_order = g_ptr_array_new();
    return lists;
}

void request_lists_free(RequestLists *lists)
{
    g_ptr_array_free(lists->in_order, TRUE);
    g_hash_table_destroy(lists->by_words);
    g_free(lists);
}

GPtrArray *request_lists_in_order(const RequestLists *lists)
{
    return lists->in_order;
}

void request_lists_add(RequestLists *lists, const Word *words, gint64 n)
{
    RequestList *list = g_new0(RequestList, 1);
    list->n = n;
    list->words = g_new(gint64, n);
    gboolean any = FALSE;
    for (gint64 i = 0; i < n; i++) {
        list->words[i] = words[i].value;
        any |= wend_word_is_handle(words[i].value);
    }
    if (!any || g_hash_table_contains(lists->by_words, list)) {
        list_free(list);
        return;
    }
    g_hash_table_add(lists->by_words, list);
    g_ptr_array_add(lists->in_order, list);
}

RequestList *request_lists_find(const RequestLists *lists, const Word *words, gint64 n)
{
    g_autofree gint64 *values = g_new(gint64, MAX(n, 1));
    for (gint64 i = 0; i < n; i++)
        values[i] = words[i].value;
    RequestList key = {.n = n, .words = values};
    return g_hash_table_lookup(lists->by_words, &key);
}
