/* SPDX-License-Identifier: BSD-3-Clause */
/* word-hash.h: the hash of tables whose keys are words, or two numbers in one word. */
#ifndef WEND_WORD_HASH_H
#define WEND_WORD_HASH_H

#include <glib.h>

/* For a GHashTable with keys gint64, beside g_int64_equal. GLib's own g_int64_hash takes the lower
 * half alone. All keys a << 32 | b with one b then have one hash, and a table of them takes time
 * quadratic in their number. Here a product mixes the halves (Knuth, The Art of Computer
 * Programming 3, 6.4: Fibonacci hashing). */
static inline guint wend_word_hash(gconstpointer word)
{
    guint64 h = *(const guint64 *)word * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return (guint)(h >> 32) ^ (guint)h;
}

#endif
