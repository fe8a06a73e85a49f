/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c: see requests.h. */
#include "requests.h"

void requests_init(Requests *r, guint tid)
{
    r->tid = tid;
    r->own = g_array_new(FALSE, TRUE, sizeof(Request));
    r->foreign = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

void requests_clear(Requests *r)
{
    g_array_unref(r->own);
    g_hash_table_unref(r->foreign);
}

Request *requests_find(const Requests *r, gint64 word)
{
    if (!wend_word_is_handle(word))
        return NULL;
    guint32 number = wend_word_handle_number(word);
    if (wend_word_handle_tid(word) == r->tid && number < r->own->len) {
        Request *q = &g_array_index(r->own, Request, number);
        if (q->exists)
            return q;
    }
    return g_hash_table_size(r->foreign) ? g_hash_table_lookup(r->foreign, &word) : NULL;
}

Request *requests_put(Requests *r, gint64 word)
{
    guint32 number = wend_word_handle_number(word);
    Request *found = requests_find(r, word);
    if (found)
        return found;
    /* Numbers go up by one. Large gaps come from another thread or a hostile file, and must not
     * cost memory. */
    if (wend_word_handle_tid(word) == r->tid && number <= r->own->len + 1024) {
        if (number >= r->own->len)
            g_array_set_size(r->own, number + 1);
        found = &g_array_index(r->own, Request, number);
    } else {
        found = g_new0(Request, 1);
        g_hash_table_replace(r->foreign, g_memdup2(&word, sizeof word), found);
    }
    found->exists = TRUE;
    return found;
}
