/* SPDX-License-Identifier: BSD-3-Clause */
/* memory-files.c: files in memory of this user's processes are found, and those of others are
 * not. */
#include "process/system.h"

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBER = 7, OTHER_USER = 65534 };

static int n_found;

static void count(unsigned long number, int folder, const char *entry)
{
    (void)folder, (void)entry;
    n_found += number == NUMBER;
}

/* Whether the file of a child that runs as USER is found. */
static bool is_found(uid_t user)
{
    g_autofree char *prefix = g_strdup_printf("wend-test-%d-%u-", (int)getpid(), (unsigned)user);
    int ready[2];
    char byte;
    g_assert_cmpint(pipe(ready), ==, 0);
    pid_t child = fork();
    if (child == 0) {
        g_autofree char *name = g_strdup_printf("%s%d", prefix, NUMBER);
        bool good = (user == geteuid() || setuid(user) == 0) && memfd_create(name, 0) >= 0
                    && prctl(PR_SET_DUMPABLE, 1) == 0 && write(ready[1], "", 1) == 1;
        while (good)
            pause();
        _exit(1);
    }
    close(ready[1]);
    g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
    n_found = 0;
    memory_files_find(prefix, count);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    g_assert_cmpint(n_found, <=, 1);
    return n_found == 1;
}

static void own(void)
{
    g_assert_true(is_found(geteuid()));
}

static void others(void)
{
    if (geteuid() != 0)
        g_test_skip("needs root, who can read the open files of others");
    else
        g_assert_false(is_found(OTHER_USER));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/memory-files/own", own);
    g_test_add_func("/memory-files/of-others", others);
    return g_test_run();
}
