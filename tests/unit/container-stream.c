/* SPDX-License-Identifier: BSD-3-Clause */
/* container-stream.c: a member that is read piece by piece is the one that is read as a whole,
 * takes less memory, and is not whole if any of its bytes is another one. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/archive/container.h"

enum { SMALL = 1000, LARGE = 3 << 20, LEAST = 256 << 10 };

/* Bytes by chance, and some that compress. */
static guint8 *bytes_of(guint seed, gsize n)
{
    GRand *dice = g_rand_new_with_seed(seed);
    guint8 *bytes = g_malloc(n);
    for (gsize i = 0; i < n; i++)
        bytes[i] = i % 100000 < 10000 ? 7 : (guint8)g_rand_int(dice);
    g_rand_free(dice);
    return bytes;
}

/* An archive with the members "large" and "small", in frames of their own, and "meta". */
static Vector *archive(void)
{
    g_autofree guint8 *large = bytes_of(1, LARGE), *small = bytes_of(2, SMALL);
    ContainerWriter *w = container_writer_new(0);
    container_add_coded(w, "large", large, LARGE);
    container_add_coded(w, "small", small, SMALL);
    container_add(w, "meta", "meta", 4);
    Error *error = NULL;
    Vector *file = container_take_file(w, &error);
    g_assert_null(error);
    return file;
}

static Container *opened(const Vector *file, Error **error)
{
    AUTO(Bytes) bytes = bytes_new(file->data, file->len);
    return container_from_bytes(bytes, "archive", error);
}

/* Reads NAME in pieces of up to MOST bytes. Returns whether it is WANTED, N bytes, and whole. */
static gboolean read_pieces(Container *b, const char *name, const guint8 *wanted, gsize n,
                            gint32 most)
{
    g_autofree guint8 *piece = g_malloc((gsize)most);
    GRand *dice = g_rand_new_with_seed((guint32)most);
    ContainerStream *s = container_stream_new(b, name, LEAST, NULL);
    gboolean good = s != NULL;
    gsize at = 0;
    while (good && at < n) {
        gsize some = (gsize)g_rand_int_range(dice, 1, most + 1);
        gsize got = container_stream_read(s, piece, some);
        good = got == MIN(some, n - at) && memcmp(piece, wanted + at, got) == 0;
        if (at == 0)
            g_assert_true(!good || at + got == n || !container_stream_is_whole(s));
        at += got;
    }
    good = good && container_stream_read(s, piece, 1) == 0 && container_stream_is_whole(s);
    container_stream_free(s);
    g_rand_free(dice);
    return good;
}

static void test_pieces(void)
{
    Error *error = NULL;
    Vector *file = archive();
    g_autofree guint8 *large = bytes_of(1, LARGE), *small = bytes_of(2, SMALL);
    Container *b = opened(file, &error);
    g_assert_null(error);
    for (gint32 most = 1 << 10; most <= 1 << 22; most *= 8)
        g_assert_true(read_pieces(b, "large", large, LARGE, most));
    g_assert_true(read_pieces(b, "small", small, SMALL, 10));
    /* once it is in memory as a whole, it is read from there */
    AUTO(Bytes) whole = container_member(b, "large", &error);
    g_assert_cmpmem(whole->data, whole->n, large, LARGE);
    g_assert_true(read_pieces(b, "large", large, LARGE, 5000));
    g_assert_null(container_stream_new(b, "none", 0, &error));
    g_assert_true(error && error->code == WEND_ERROR_INPUT);
    error_clear(&error);
    container_free(b);
    vector_unref(file);
}

/* With room for less than the member, it can be read in pieces alone. */
static void test_memory(void)
{
    Error *error = NULL;
    Vector *file = archive();
    g_autofree guint8 *large = bytes_of(1, LARGE);
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "wend-stream-XXXXXX", NULL);
    int fd = g_mkstemp(path);
    g_assert_cmpint(fd, >=, 0);
    g_assert_true(g_file_set_contents(path, file->data, file->len, NULL));
    Allowance *allowance = allowance_new(LARGE / 2);
    Container *b = container_open_within(path, allowance, &error);
    g_assert_null(error);
    for (int i = 0; i < 5; i++) /* what one takes it gives back */
        g_assert_true(read_pieces(b, "large", large, LARGE, 10000));
    g_assert_null(container_member(b, "large", &error));
    g_assert_true(error && error->code == WEND_ERROR_INPUT);
    error_clear(&error);
    container_free(b);
    allowance_unref(allowance);
    g_assert_cmpint(unlink(path), ==, 0);
    g_assert_true(g_close(fd, NULL));
    vector_unref(file);
}

static void test_damage(void)
{
    Vector *file = archive();
    g_autofree guint8 *large = bytes_of(1, LARGE);
    GRand *dice = g_rand_new_with_seed(3);
    for (int i = 0; i < 300; i++) {
        gint at = i < 100 ? i : g_rand_int_range(dice, 0, LARGE / 10 * 8); /* in the frame */
        guint8 *damaged = &VECTOR_AT(file, guint8, at), was = *damaged;
        *damaged ^= (guint8)g_rand_int_range(dice, 1, 256);
        AUTO(Error) error = NULL;
        Container *b = opened(file, &error);
        g_assert_true(!b || !read_pieces(b, "large", large, LARGE, 100000));
        container_free(b);
        *damaged = was;
    }
    g_rand_free(dice);
    vector_unref(file);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/container-stream/pieces", test_pieces);
    g_test_add_func("/container-stream/memory", test_memory);
    g_test_add_func("/container-stream/damage", test_damage);
    return g_test_run();
}
