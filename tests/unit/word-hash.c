/* SPDX-License-Identifier: BSD-3-Clause */
/* word-hash.c: words that differ have different hashes, also where they have one half in common. */
#include <glib.h>

#include "../../lib/base/word-hash.h"

enum { WORDS = 1 << 16 };

static guint64 one_lower_half(guint64 i)
{
    return i << 32 | 9;
}

static guint64 highest_lower_half(guint64 i)
{
    return i << 32 | G_MAXUINT32;
}

static guint64 one_upper_half(guint64 i)
{
    return G_GUINT64_CONSTANT(9) << 32 | i;
}

static guint64 equal_halves(guint64 i)
{
    return i << 32 | i;
}

static guint64 far_apart(guint64 i)
{
    return i << 48;
}

/* Of 65,536 hashes of 32 bits that were random, less than one in a thousand would come again. */
static void test_different(gconstpointer word_of)
{
    guint64 (*const *word)(guint64) = word_of;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint64 i = 0; i < WORDS; i++) {
        guint64 key = (*word)(i);
        g_hash_table_add(seen, GUINT_TO_POINTER(wend_word_hash(&key)));
    }
    g_assert_cmpuint(g_hash_table_size(seen), >, WORDS - WORDS / 1000);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        guint64 (*word)(guint64);
    } kinds[] = {{"/word-hash/one-lower-half", one_lower_half},
                 {"/word-hash/highest-lower-half", highest_lower_half},
                 {"/word-hash/one-upper-half", one_upper_half},
                 {"/word-hash/equal-halves", equal_halves},
                 {"/word-hash/far-apart", far_apart}};
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        g_test_add_data_func(kinds[i].name, &kinds[i].word, test_different);
    return g_test_run();
}
