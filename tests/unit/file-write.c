/* SPDX-License-Identifier: BSD-3-Clause */
/* file-write.c: what a file is after it was written, or after that failed, for each kind of thing
 * that may have its name; and that a signal leaves what was there and nothing besides. */
#include "../../lib/base/file-write.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *scratch;
static void (*at_sync)(void); /* called when the new file is whole and has no name yet */

/* The library's calls come here. */
int fsync(int fd)
{
    if (at_sync)
        at_sync();
    return (int)syscall(SYS_fsync, fd);
}

static void enter_scratch(void)
{
    scratch = g_dir_make_tmp("wend-file-write-XXXXXX", NULL);
    g_assert_nonnull(scratch);
    g_assert_cmpint(chdir(scratch), ==, 0);
    umask(022);
}

static void leave_scratch(void)
{
    at_sync = NULL;
    GDir *d = g_dir_open(".", 0, NULL);
    for (const char *name; (name = g_dir_read_name(d));)
        if (unlink(name) != 0)
            rmdir(name);
    g_dir_close(d);
    g_assert_cmpint(chdir("/"), ==, 0);
    g_assert_cmpint(rmdir(scratch), ==, 0);
    g_free(scratch);
}

static guint entries(void)
{
    guint n = 0;
    GDir *d = g_dir_open(".", 0, NULL);
    while (g_dir_read_name(d))
        n++;
    g_dir_close(d);
    return n;
}

static void holds(const char *path, const char *expected)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, expected);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    g_assert_cmpint(lstat(path, &info), ==, 0);
    return info.st_mode;
}

static void writes(const char *path, const char *text, WendFileFlags flags)
{
    Error *error = NULL;
    g_assert_true(file_write(path, text, strlen(text), flags, &error));
    g_assert_null(error);
}

static void refuses(const char *path, WendFileFlags flags, WendErrorCode code)
{
    AUTO(Error) error = NULL;
    g_assert_false(file_write(path, "new", 3, flags, &error));
    g_assert_true(error && error->code == code);
    g_assert_true(g_str_has_prefix(error->message, path));
}

static void test_regular(void)
{
    enter_scratch();
    umask(027);
    writes("a", "one", 0);
    g_assert_cmpuint(mode_of("a"), ==, S_IFREG | 0640);
    refuses("a", 0, WEND_ERROR_INPUT);
    holds("a", "one");
    chmod("a", 0600);
    writes("a", "two", WEND_FILE_REPLACE);
    holds("a", "two");
    g_assert_cmpuint(mode_of("a"), ==, S_IFREG | 0600);
    writes("empty", "", WEND_FILE_DURABLE);
    holds("empty", "");
    refuses("missing/a", 0, WEND_ERROR_SYSTEM);
    refuses("a/b", WEND_FILE_REPLACE, WEND_ERROR_SYSTEM);
    g_autofree char *long_name = g_strnfill(300, 'n');
    refuses(long_name, 0, WEND_ERROR_INPUT);
    g_autofree char *longest = g_strnfill(255, 'n'); /* a temporary name must not be longer */
    writes(longest, "long", 0);
    g_assert_cmpint(mkdir("d", 0777), ==, 0);
    refuses("d", WEND_FILE_REPLACE, WEND_ERROR_INPUT);
    g_assert_cmpuint(entries(), ==, 4);
    leave_scratch();
}

/* What a link leads to is never written, and never lost. */
static void test_links(void)
{
    enter_scratch();
    writes("victim", "precious", 0);
    g_assert_cmpint(symlink("victim", "link"), ==, 0);
    refuses("link", 0, WEND_ERROR_INPUT);
    writes("link", "new", WEND_FILE_REPLACE);
    holds("victim", "precious");
    holds("link", "new");
    g_assert_true(S_ISREG(mode_of("link")));
    g_assert_cmpint(symlink("nowhere", "dangling"), ==, 0);
    refuses("dangling", 0, WEND_ERROR_INPUT);
    writes("dangling", "new", WEND_FILE_REPLACE);
    g_assert_false(g_file_test("nowhere", G_FILE_TEST_EXISTS));
    g_assert_cmpint(symlink("loop", "loop"), ==, 0);
    refuses("loop", WEND_FILE_REPLACE, WEND_ERROR_INPUT);
    refuses("loop/a", WEND_FILE_REPLACE, WEND_ERROR_INPUT);
    g_assert_cmpint(symlink("/dev/null", "null"), ==, 0);
    writes("null", "new", WEND_FILE_REPLACE);
    g_assert_true(S_ISLNK(mode_of("null")));
    if (geteuid() == 0) {
        g_assert_cmpint(lchown("null", 12345, 12345), ==, 0);
        refuses("null", WEND_FILE_REPLACE, WEND_ERROR_INPUT);
    }
    leave_scratch();
}

static void test_devices(void)
{
    enter_scratch();
    struct stat before, after;
    g_assert_cmpint(lstat("/dev/full", &before), ==, 0);
    refuses("/dev/full", WEND_FILE_REPLACE, WEND_ERROR_SYSTEM);
    refuses("/dev/full", 0, WEND_ERROR_SYSTEM);
    refuses("/dev/null", WEND_FILE_REPLACE | WEND_FILE_REGULAR, WEND_ERROR_INPUT);
    writes("/dev/null", "new", 0);
    g_assert_cmpint(lstat("/dev/full", &after), ==, 0);
    g_assert_true(S_ISCHR(after.st_mode) && after.st_ino == before.st_ino);
    leave_scratch();
}

static void test_fifo(void)
{
    enter_scratch();
    g_assert_cmpint(mkfifo("fifo", 0600), ==, 0);
    refuses("fifo", WEND_FILE_REPLACE | WEND_FILE_REGULAR, WEND_ERROR_INPUT);
    pid_t child = fork();
    if (child == 0) {
        char text[8] = "";
        int fd = open("fifo", O_RDONLY);
        _exit(read(fd, text, sizeof text) == 3 && strcmp(text, "new") == 0 ? 0 : 1);
    }
    writes("fifo", "new", WEND_FILE_REPLACE);
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
    g_assert_true(S_ISFIFO(mode_of("fifo")));
    g_assert_cmpuint(entries(), ==, 1);
    leave_scratch();
}

/* What is open is written to as it is: a file of that name would be another one. */
static void test_descriptors(void)
{
    enter_scratch();
    int fd = open("open", O_RDWR | O_CREAT, 0600);
    g_assert_cmpint(write(fd, "before ", 7), ==, 7);
    g_autofree char *name = g_strdup_printf("/dev/fd/%d", fd),
                    *other = g_strdup_printf("/proc/self/fd/%d", fd);
    writes(name, "between ", 0);
    writes(other, "after", WEND_FILE_REPLACE);
    holds("open", "before between after");
    close(fd);
    leave_scratch();
}

static void interrupt(void)
{
    kill(getpid(), SIGTERM);
}
static void appear(void)
{
    g_assert_true(g_file_set_contents("late", "theirs", -1, NULL));
}
static volatile sig_atomic_t handled;
static void on_signal(int number)
{
    handled = number;
}

/* In a child, for the signal ends it: replaces a file and makes one. The status. */
static int interrupted(void (*handler)(int), gboolean directory)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGTERM, handler);
        at_sync = interrupt;
        const WendFile files[] = {{"one", "1", 1}, {"two", "2", 1}};
        gboolean good = directory ? file_write_directory("made", files, 2, WEND_FILE_DURABLE, NULL)
                                  : file_write("a", "new", 3, WEND_FILE_REPLACE, NULL);
        _exit(good ? 0 : 1);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    return status;
}

static void test_signals(void)
{
    enter_scratch();
    writes("a", "old", 0);
    int status = interrupted(SIG_DFL, FALSE);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    holds("a", "old");
    status = interrupted(SIG_DFL, TRUE);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    g_assert_cmpuint(entries(), ==, 1);
    g_assert_cmpint(interrupted(SIG_IGN, FALSE), ==, 0); /* one that ends nothing stops nothing */
    holds("a", "new");
    writes("a", "old", WEND_FILE_REPLACE);
    g_assert_cmpint(interrupted(on_signal, FALSE), ==, 0);
    holds("a", "new");
    g_assert_cmpuint(entries(), ==, 1);
    leave_scratch();
}

static void test_size_limit(void)
{
    enter_scratch();
    int status;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {4096, 4096};
        static char data[8192];
        setrlimit(RLIMIT_FSIZE, &limit);
        AUTO(Error) error = NULL;
        gboolean good = file_write("a", data, sizeof data, 0, &error);
        _exit(!good && error->code == WEND_ERROR_SYSTEM ? 0 : 1);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpuint(entries(), ==, 0);
    leave_scratch();
}

static void test_race(void)
{
    enter_scratch();
    at_sync = appear;
    refuses("late", WEND_FILE_DURABLE, WEND_ERROR_INPUT);
    holds("late", "theirs");
    g_assert_cmpuint(entries(), ==, 1);
    leave_scratch();
}

static void test_directory(void)
{
    enter_scratch();
    const WendFile files[] = {{"one", "1", 1}, {"sub/two", "2", 1}};
    AUTO(Error) error = NULL;
    g_assert_false(file_write_directory("made", files, 2, 0, &error)); /* half of it fails */
    g_assert_true(error && error->code == WEND_ERROR_SYSTEM);
    g_assert_cmpuint(entries(), ==, 0);
    g_assert_true(file_write_directory("made/", files, 1, 0, NULL));
    holds("made/one", "1");
    g_assert_false(file_write_directory("made", files, 1, 0, NULL));
    g_assert_true(file_write_directory("made", files, 1, WEND_FILE_REPLACE, NULL));
    unlink("made/one");
    leave_scratch();
}

static void test_check(void)
{
    enter_scratch();
    AUTO(Error) error = NULL;
    g_assert_true(file_check("a", 0, NULL));
    writes("a", "old", 0);
    g_assert_false(file_check("a", 0, &error));
    g_assert_true(error && error->code == WEND_ERROR_INPUT);
    g_assert_true(file_check("a", WEND_FILE_REPLACE, NULL));
    g_assert_true(file_check("-", 0, NULL));
    leave_scratch();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file-write/regular", test_regular);
    g_test_add_func("/file-write/links", test_links);
    g_test_add_func("/file-write/devices", test_devices);
    g_test_add_func("/file-write/fifo", test_fifo);
    g_test_add_func("/file-write/descriptors", test_descriptors);
    g_test_add_func("/file-write/signals", test_signals);
    g_test_add_func("/file-write/size-limit", test_size_limit);
    g_test_add_func("/file-write/race", test_race);
    g_test_add_func("/file-write/directory", test_directory);
    g_test_add_func("/file-write/check", test_check);
    return g_test_run();
}
