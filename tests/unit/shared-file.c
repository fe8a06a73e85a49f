/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-file.c: a file that several processes write: who may write where, and that nothing is left
 * of one that is given up. Other processes are this one here: they only know the key. */
#include "../../lib/base/shared-file.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char *folder, *path;

static void enter(void)
{
    folder = g_dir_make_tmp("wend-shared-XXXXXX", NULL);
    g_assert_nonnull(folder);
    path = g_build_filename(folder, "archive", NULL);
}

static guint entries(void)
{
    guint n = 0;
    g_autoptr(GDir) d = g_dir_open(folder, 0, NULL);
    while (g_dir_read_name(d))
        n++;
    return n;
}

static void leave(void)
{
    g_unlink(path);
    g_assert_cmpint(g_rmdir(folder), ==, 0); /* nothing else is there */
    g_free(path);
    g_free(folder);
}

static void begin(SharedFile *f)
{
    Error *error = NULL;
    g_assert_true(shared_file_begin(f, path, &error));
    g_assert_null(error);
}

/* A file of two places of others, of 10 and 8 bytes, and "owner" behind these. */
static void begin_with_places(SharedFile *f)
{
    begin(f);
    g_assert_true(shared_file_write(f, 18, "owner", 5, NULL));
    g_assert_true(shared_file_mark(f, 0, NULL));
    g_assert_true(shared_file_mark(f, 10, NULL));
    g_assert_true(shared_file_share(f, NULL));
}

static void test_places(void)
{
    SharedFile f;
    Error *error = NULL;
    char *bytes;
    gsize n;
    enter();
    begin_with_places(&f);
    g_assert_true(shared_file_contribute(folder, &f.key, 10, "second..", 8));
    g_assert_true(shared_file_write(&f, 0, "first.....", 10, NULL)); /* the owner does it instead */
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    g_assert_true(shared_file_end(&f, &error));
    g_assert_null(error);
    g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    g_assert_cmpmem(bytes, n, "first.....second..owner", 23);
    g_free(bytes);
    g_assert_cmpuint(entries(), ==, 1);
    leave();
}

/* Only where the owner's mark is. */
static void test_refused(void)
{
    SharedFile f;
    enter();
    begin_with_places(&f);
    SharedFileKey other = f.key;
    other.mark ^= 1;
    g_assert_false(shared_file_contribute(folder, &other, 10, "second..", 8));
    g_assert_false(shared_file_contribute(folder, &f.key, 11, "second..", 8));
    g_assert_false(shared_file_contribute(folder, &f.key, 1 << 20, "second..", 8));
    g_assert_false(shared_file_contribute("/nonexistent", &f.key, 10, "second..", 8));
    other = f.key;
    g_snprintf(other.temporary, sizeof other.temporary, "%s", "another");
    g_assert_false(shared_file_contribute(folder, &other, 10, "second..", 8));
    g_autofree char *link = g_build_filename(folder, "another", NULL);
    g_assert_cmpint(symlink(f.key.temporary, link), ==, 0);
    g_assert_false(shared_file_contribute(folder, &other, 10, "second..", 8));
    g_unlink(link);
    g_assert_true(shared_file_contribute(folder, &f.key, 10, "second..", 8));
    g_assert_false(shared_file_contribute(folder, &f.key, 10, "second..", 8)); /* done already */
    shared_file_abandon(&f);
    leave();
}

static void test_given_up(void)
{
    SharedFile f;
    Error *error = NULL;
    enter();
    g_assert_true(g_file_set_contents(path, "old", -1, NULL));
    begin_with_places(&f);
    g_assert_cmpuint(entries(), ==, 2);
    shared_file_abandon(&f);
    shared_file_abandon(&f);
    g_assert_cmpuint(entries(), ==, 1);
    g_autofree char *inside = g_build_filename(path, "archive", NULL);
    g_assert_false(shared_file_begin(&f, inside, &error)); /* of a file */
    g_assert_true(error && error->code == WEND_ERROR_SYSTEM);
    error_clear(&error);
    shared_file_abandon(&f);
    g_assert_false(shared_file_begin(&f, "/nonexistent/archive", &error));
    g_assert_nonnull(strstr(error->message, "/nonexistent/archive"));
    error_clear(&error);
    leave();
}

/* A limit is an error, and not SIGXFSZ. */
static void test_too_large(void)
{
    SharedFile f;
    Error *error = NULL;
    struct rlimit before, now;
    enter();
    begin_with_places(&f);
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    now = before;
    now.rlim_cur = 12;
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &now), ==, 0);
    gboolean other = shared_file_contribute(folder, &f.key, 10, "second..", 8),
             owner = shared_file_write(&f, 10, "second..", 8, &error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false(other);
    g_assert_false(owner);
    g_assert_true(error && error->code == WEND_ERROR_SYSTEM);
    g_assert_nonnull(strstr(error->message, path));
    error_free(error);
    shared_file_abandon(&f);
    leave();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/shared-file/places", test_places);
    g_test_add_func("/shared-file/refused", test_refused);
    g_test_add_func("/shared-file/given-up", test_given_up);
    g_test_add_func("/shared-file/too-large", test_too_large);
    return g_test_run();
}
