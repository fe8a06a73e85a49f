/* SPDX-License-Identifier: BSD-3-Clause */
/* containers.c: vectors, maps and bytes, against GLib's; in the bounded heap too. Words that differ
 * have different hashes, also where they have one half in common. */
#include <glib.h>
#include <string.h>

#include "lib/base/base.h"

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
        g_hash_table_add(seen, GUINT_TO_POINTER(map_word_hash(&key)));
    }
    g_assert_cmpuint(g_hash_table_size(seen), >, WORDS - WORDS / 1000);
}

/* -- against GLib -- */

enum { STEPS = 20000, KEYS = 300, LARGE = 1 << 20, BOUND = 64 << 20 };

static int by_number(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return (x > y) - (x < y);
}

static void same(const Vector *v, const GArray *a)
{
    g_assert_cmpmem(v->data, v->len * sizeof(guint), a->data, a->len * sizeof(guint));
}

static void vectors(void)
{
    AUTO(Vector) v = vector_new(sizeof(guint));
    g_autoptr(GArray) a = g_array_new(FALSE, TRUE, sizeof(guint));
    for (int i = 0; i < STEPS; i++) {
        guint x = g_test_rand_int_range(0, 1000), at = g_test_rand_int_range(0, a->len + 1);
        switch (g_test_rand_int_range(0, 8)) {
        case 0:
            vector_resize(v, at);
            g_array_set_size(a, at);
            break;
        case 1:
            vector_resize(v, a->len + x % 10);
            g_array_set_size(a, a->len + x % 10);
            break;
        case 2:
            VECTOR_INSERT(v, at, x);
            g_array_insert_val(a, at, x);
            break;
        case 3:
            vector_sort(v, by_number);
            g_array_sort(a, by_number);
            break;
        default:
            VECTOR_APPEND(v, x);
            g_array_append_val(a, x);
        }
        same(v, a);
    }
}

static guint released;

static void release(void *p)
{
    released++;
    memory_free(p);
}

/* Sorts keep the order of what is equal: only the upper half of an element counts. */
static int by_upper_half(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a >> 16, y = *(const guint *)b >> 16;
    return (x > y) - (x < y);
}

static void pointers(void)
{
    Vector *v = vector_of_pointers(release), *order = vector_new(sizeof(guint));
    released = 0;
    for (guint i = 0; i < 100; i++) {
        guint element = (guint)g_test_rand_int_range(0, 5) << 16 | i;
        vector_add(v, NEW0(int, 1));
        VECTOR_APPEND(order, element);
    }
    vector_add(v, NULL);
    g_assert_true(vector_remove(v, VECTOR_POINTER(v, 50)));
    g_assert_false(vector_remove(v, &released));
    vector_resize(v, 40);
    g_assert_cmpuint(released, ==, 60);
    vector_unref(vector_ref(v));
    g_assert_cmpuint(released, ==, 60);
    vector_unref(v);
    g_assert_cmpuint(released, ==, 100);
    vector_sort(order, by_upper_half);
    for (guint i = 1; i < order->len; i++)
        g_assert_cmpuint(VECTOR_AT(order, guint, i - 1), <, VECTOR_AT(order, guint, i));
    vector_unref(order);
}

static void maps(void)
{
    AUTO(Map) m = map_of_words();
    g_autoptr(GHashTable) h = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (int i = 0; i < STEPS; i++) {
        gint64 key = (gint64)g_test_rand_int_range(0, KEYS) << 32;
        void *value = GUINT_TO_POINTER(i + 1), *found = NULL;
        if (g_test_rand_int_range(0, 3) > 0)
            g_assert_true(map_put_word(m, key, value)
                          == g_hash_table_insert(h, g_memdup2(&key, sizeof key), value));
        else
            g_assert_true(map_remove(m, &key) == g_hash_table_remove(h, &key));
        g_assert_cmpuint(map_size(m), ==, g_hash_table_size(h));
        key = (gint64)g_test_rand_int_range(0, KEYS) << 32;
        g_assert_true(map_get(m, &key) == g_hash_table_lookup(h, &key));
        g_assert_true(map_find(m, &key, &found) == g_hash_table_contains(h, &key));
        g_assert_true(found == g_hash_table_lookup(h, &key));
    }
    guint n = 0;
    for (MapPlace p = {.map = m}; map_next(&p); n++)
        g_assert_true(p.value == g_hash_table_lookup(h, p.key));
    g_assert_cmpuint(n, ==, g_hash_table_size(h));
}

/* Whose key stays: the map's or the new one. */
static void keys(void)
{
    AUTO(Map) m = map_of_texts(NULL);
    char first[] = "key", second[] = "key";
    g_assert_true(map_put(m, first, first));
    g_assert_false(map_put(m, second, second));
    MapPlace p = {.map = m};
    g_assert_true(map_next(&p) && p.key == first && p.value == second);
    g_assert_false(map_replace(m, second, first));
    p = (MapPlace){.map = m};
    g_assert_true(map_next(&p) && p.key == second && p.value == first);
    g_assert_false(map_next(&p));
}

static void parts_of_bytes(void)
{
    Bytes *whole = bytes_new("abcdef", 6), *part = bytes_part(whole, 2, 3),
          *taken = bytes_take(memory_copy("cde", 3), 3);
    bytes_unref(whole);
    g_assert_cmpmem(part->data, part->n, "cde", 3);
    g_assert_true(bytes_equal(part, taken) && bytes_hash(part) == bytes_hash(taken));
    bytes_unref(part);
    bytes_unref(taken);
}

static void strings(void)
{
    AUTO(Vector) parts = string_split("a;;b;", ';');
    g_assert_cmpuint(parts->len, ==, 3);
    g_assert_cmpstr(VECTOR_POINTER(parts, 1), ==, "");
    g_assert_cmpstr(VECTOR_POINTER(parts, 2), ==, "b");
    static const char *const texts[] = {"",
                                        "plain",
                                        "\xc3\xa4",
                                        "\xc3",
                                        "a\xff"
                                        "b",
                                        "\xed\xa0\x80",
                                        "\xe0\x80\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xf0\x9f\x98\x80"};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        AUTOFREE char *valid = string_valid(texts[i]);
        g_autofree char *expected = g_utf8_make_valid(texts[i], -1);
        g_assert_cmpstr(valid, ==, expected);
    }
    static const char *const paths[][2] = {{"a", "b"}, {"a/", "/b"}, {"/", "b"}, {"a//", "b"}};
    for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
        AUTOFREE char *path = string_path(paths[i][0], paths[i][1]);
        g_autofree char *expected = g_build_filename(paths[i][0], paths[i][1], NULL);
        g_assert_cmpstr(path, ==, expected);
    }
    char spaces[] = " \t a b\n ";
    g_assert_cmpstr(string_strip(spaces), ==, "a b");
}

/* -- the heap -- */

static void all_in_heap(void *unused)
{
    (void)unused;
    vectors();
    pointers();
    maps();
    char *grown = NULL;
    for (gsize n = 1; n <= LARGE; n *= 2) {
        grown = memory_resize(grown, n);
        memset(grown + n / 2, (int)(n & 0xff), n - n / 2);
        g_assert_cmpint(grown[0], ==, 1);
    }
    memory_free(grown);
}

static void without_end(void *unused)
{
    (void)unused;
    AUTO(Vector) v = vector_new(sizeof(guint));
    for (guint i = 0;; i++)
        VECTOR_APPEND(v, i);
}

static void too_many(void *unused)
{
    (void)unused;
    memory_array(NULL, SIZE_MAX / 4, 8);
}

/* From then on all memory is the heap's. Tests whose names come later take none. */
static void heap(void)
{
    memory_limit(BOUND, NULL);
    g_assert_true(memory_try(all_in_heap, NULL));
    g_assert_cmpuint(memory_held(), >, 0);
    g_assert_false(memory_try(without_end, NULL));
    g_assert_true(memory_was_refused());
    g_assert_cmpuint(memory_held(), ==, 0);
    g_assert_false(memory_try(too_many, NULL));
    g_assert_null(memory_new_or_null(2 * (gsize)BOUND));
    g_assert_true(memory_try(all_in_heap, NULL));
    memory_drop();
    g_assert_cmpuint(memory_held(), ==, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        guint64 (*word)(guint64);
    } kinds[] = {{"/containers/hash/one-lower-half", one_lower_half},
                 {"/containers/hash/highest-lower-half", highest_lower_half},
                 {"/containers/hash/one-upper-half", one_upper_half},
                 {"/containers/hash/equal-halves", equal_halves},
                 {"/containers/hash/far-apart", far_apart}};
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        g_test_add_data_func(kinds[i].name, &kinds[i].word, test_different);
    g_test_add_func("/containers/vectors", vectors);
    g_test_add_func("/containers/pointers", pointers);
    g_test_add_func("/containers/maps", maps);
    g_test_add_func("/containers/keys", keys);
    g_test_add_func("/containers/bytes", parts_of_bytes);
    g_test_add_func("/containers/strings", strings);
    g_test_add_func("/containers/heap", heap);
    return g_test_run();
}
