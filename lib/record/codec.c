/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.c: see codec.h. */
#include "codec.h"

#include <string.h>

#include "base/word-hash.h"

/* Even numbers are plain values, odd ones specials: 0 is followed by a raw word, 1 to 15 are the
 * special words, 16 and up are constants. */
enum { RAW = 0, FIRST_CONSTANT = 16 };

void codec_put_word(WendBuf *b, gint64 word, const guint32 *constants)
{
    if (wend_word_is_const(word)) {
        wend_buf_unsigned(b, ((guint64)FIRST_CONSTANT + constants[wend_word_const_index(word)]) << 1
                                 | 1);
        return;
    }
    if (word > G_MININT64 && word < G_MININT64 + FIRST_CONSTANT) {
        wend_buf_unsigned(b, (guint64)(word - G_MININT64) << 1 | 1);
        return;
    }
    guint64 zigzag = wend_buf_zigzag(word);
    if (zigzag >> 62 == 0) {
        wend_buf_unsigned(b, zigzag << 1);
        return;
    }
    guint64 raw = GUINT64_TO_LE((guint64)word);
    wend_buf_unsigned(b, RAW << 1 | 1);
    wend_buf_bytes(b, &raw, sizeof raw);
}

gint64 codec_word(WendCursor *c, const gint64 *constants, guint n_constants)
{
    guint64 code = wend_cursor_unsigned(c), special = code >> 1;
    if (!(code & 1))
        return wend_buf_unzigzag(special);
    if (special == RAW) {
        guint64 raw;
        const uint8_t *p = wend_cursor_bytes(c, sizeof raw);
        if (!p)
            return 0;
        memcpy(&raw, p, sizeof raw);
        gint64 word = (gint64)GUINT64_FROM_LE(raw);
        /* a raw word in the range of constants, of which the archive has no name */
        if (wend_word_is_const(word))
            c->failed = true;
        return word;
    }
    if (special < FIRST_CONSTANT)
        return G_MININT64 + (gint64)special;
    if (special - FIRST_CONSTANT < n_constants)
        return constants[special - FIRST_CONSTANT];
    c->failed = true;
    return 0;
}

void batches_init(Batches *b)
{
    b->by_key = g_hash_table_new_full(wend_word_hash, g_int64_equal, g_free, NULL); /* number + 1 */
    b->all = g_array_new(FALSE, FALSE, sizeof(Batch));
}

void batches_clear(Batches *b)
{
    for (guint i = 0; i < b->all->len; i++)
        g_ptr_array_unref(g_array_index(b->all, Batch, i).things);
    g_hash_table_unref(b->by_key);
    g_array_unref(b->all);
}

void batches_add(Batches *b, gint64 head, guint n, gpointer thing)
{
    gint64 key = (gint64)((guint64)head << 32 | n);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(b->by_key, &key));
    if (!number) {
        Batch batch = {n, g_ptr_array_new()};
        g_array_append_val(b->all, batch);
        number = b->all->len;
        g_hash_table_insert(b->by_key, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(number));
    }
    g_ptr_array_add(g_array_index(b->all, Batch, number - 1).things, thing);
}

gboolean batch_by_column(const Batch *b, WendCursor *c)
{
    return b->things->len > 1 && wend_cursor_unsigned(c) == 1;
}

void codec_put_name(WendBuf *b, const char *name)
{
    const gsize n = strlen(CODEC_NAME_PREFIX);
    g_autofree char *other =
        g_str_has_prefix(name, CODEC_NAME_PREFIX) ? NULL : g_strconcat(".", name, NULL);
    wend_buf_string(b, other ? other : name + n);
}

char *codec_string(WendCursor *c)
{
    WendCursor block = wend_cursor_block(c);
    if (c->failed)
        return g_strdup("");
    g_autofree char *raw = g_strndup((const char *)block.p, (gsize)(block.end - block.p));
    return g_utf8_make_valid(raw, -1);
}
