/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-birth.c: no two threads get one number, whoever creates them. */
#include "../../src/tracer/recorder/thread-birth.h"

#include <glib.h>

static void test_known(void)
{
    for (guint32 n = 1; n < 1000; n++)
        g_assert_cmpuint(thread_birth(0, n), ==, n);
    g_assert_cmpuint(thread_birth(1, 1), ==, 1004);
    g_assert_cmpuint(thread_birth(2, 1), ==, 1009);
    g_assert_cmpuint(thread_birth(1, 0), ==, 0);
}

/* Adds the threads of CREATOR up to the N-th one, and as many for each of these. */
static void add(GHashTable *all, guint32 creator, guint32 n, guint depth)
{
    for (guint32 i = 1; i <= n; i++) {
        guint32 birth = thread_birth(creator, i);
        if (birth == 0)
            continue;
        g_assert_cmpuint(birth, <, THREADS_MOST);
        g_assert_true(g_hash_table_add(all, GUINT_TO_POINTER(birth)));
        if (depth > 1)
            add(all, birth, n, depth - 1);
    }
}

static void test_unique(void)
{
    g_autoptr(GHashTable) all = g_hash_table_new(NULL, NULL);
    add(all, 0, 30, 3);
    g_assert_cmpuint(g_hash_table_size(all), >, 20000);
    g_hash_table_remove_all(all);
    add(all, 0, 1500, 1);
    add(all, CREATOR_UNKNOWN, 100, 1);
    for (guint32 creator = 1; creator < 3000; creator++)
        add(all, creator, 5, 1);
    add(all, 3000, 300, 1);
    g_assert_cmpuint(g_hash_table_size(all), ==, 1500 + 100 + 5 * 2999 + 300);
}

static void test_room(void)
{
    /* nested regions of OpenMP make new threads each time */
    g_assert_cmpuint(thread_birth(7, 50000), >, 0);
    g_assert_cmpuint(thread_birth(63, 5000), >, 0);
    g_assert_cmpuint(thread_birth(0, 500000), >, 0);
    g_assert_cmpuint(thread_birth(3, G_MAXUINT32), ==, 0);
    g_assert_cmpuint(thread_birth(THREADS_MOST - 1, 2), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/thread-birth/known", test_known);
    g_test_add_func("/thread-birth/unique", test_unique);
    g_test_add_func("/thread-birth/room", test_room);
    return g_test_run();
}
