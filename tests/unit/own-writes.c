/* SPDX-License-Identifier: BSD-3-Clause */
/* own-writes.c: signals of Wend's own writes are gone afterwards, all others are as they
 * were; a file that is kept is known by more than its number. */
#include "process/system.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int delivered[2]; /* SIGPIPE, SIGXFSZ */

static void count(int number)
{
    delivered[number == SIGXFSZ]++;
}

static void expect(int pipes, int sizes)
{
    g_assert_cmpint(delivered[0], ==, pipes);
    g_assert_cmpint(delivered[1], ==, sizes);
    memset(delivered, 0, sizeof delivered);
}

static gboolean is_pending(int number)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, number) == 1;
}

static void block(int how)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(how, &pipe, NULL);
}

static int unread_pipe(void)
{
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    close(ends[0]);
    return ends[1];
}

static int new_file(void)
{
    g_autofree char *name = NULL;
    int fd = g_file_open_tmp("wend-writes-XXXXXX", &name, NULL);
    g_assert_cmpint(unlink(name), ==, 0);
    return fd;
}

/* Returns the limit before. What the test says goes to a file, too. */
static rlim_t limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = bytes;
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    return before;
}

static void write_fails(int fd, int with)
{
    g_assert_cmpint(write(fd, "ab", 2) == 1 ? write(fd, "b", 1) : -1, ==, -1);
    g_assert_cmpint(errno, ==, with);
}

static void own_signals(void)
{
    WriteSignals s;
    int closed = unread_pipe(), full = new_file();
    rlim_t before = limit_files(1);
    write_signals_block(&s);
    write_fails(closed, EPIPE);
    write_fails(full, EFBIG);
    write_signals_restore(&s);
    expect(0, 0);
    g_assert_false(is_pending(SIGPIPE) || is_pending(SIGXFSZ));
    write_fails(closed, EPIPE);
    write_fails(full, EFBIG);
    limit_files(before);
    expect(1, 1);
    close(closed);
    close(full);
}

static void pending_before(void)
{
    WriteSignals s;
    int closed = unread_pipe();
    block(SIG_BLOCK);
    raise(SIGPIPE);
    write_signals_block(&s);
    write_fails(closed, EPIPE);
    write_signals_restore(&s);
    g_assert_true(is_pending(SIGPIPE));
    expect(0, 0);
    block(SIG_UNBLOCK);
    expect(1, 0);
    close(closed);
}

static void *send_from_thread(void *to)
{
    pthread_kill(*(pthread_t *)to, SIGPIPE);
    return NULL;
}

static void of_others(void)
{
    WriteSignals s;
    pthread_t self = pthread_self(), other;
    pid_t me = getpid();
    write_signals_block(&s);
    pid_t child = fork();
    if (child == 0)
        _exit(kill(me, SIGXFSZ));
    g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
    g_assert_cmpint(pthread_create(&other, NULL, send_from_thread, &self), ==, 0);
    pthread_join(other, NULL);
    write_signals_restore(&s);
    expect(1, 1);
}

static void nested(void)
{
    WriteSignals outer, inner;
    int closed = unread_pipe();
    write_signals_block(&outer);
    write_fails(closed, EPIPE);
    write_signals_block(&inner);
    write_fails(closed, EPIPE);
    write_signals_restore(&inner);
    write_signals_restore(&outer);
    expect(0, 0);
    close(closed);
}

static void say(void)
{
    struct iovec pieces[] = {
        {(char *)"", 0}, {(char *)"wend: ", 6}, {(char *)"", 0}, {(char *)"said\n", 5}};
    process_print_line(pieces, G_N_ELEMENTS(pieces));
}

/* Whether one line has come to PIPE. */
static void expect_line(int pipe)
{
    char text[32] = "";
    g_assert_cmpint(read(pipe, text, sizeof text), ==, 11);
    g_assert_cmpstr(text, ==, "wend: said\n");
}

static void lines(void)
{
    int ends[2], closed = unread_pipe(), before = dup(STDERR_FILENO), other = new_file();
    g_assert_cmpint(pipe(ends), ==, 0);
    dup2(ends[1], STDERR_FILENO);
    process_keep_stderr();
    say();
    expect_line(ends[0]);
    dup2(other, STDERR_FILENO); /* the program's */
    say();
    expect_line(ends[0]);
    g_assert_cmpint(lseek(other, 0, SEEK_END), ==, 0);
    dup2(closed, STDERR_FILENO);
    process_keep_stderr();
    errno = 0;
    say();
    g_assert_cmpint(errno, ==, 0);
    expect(0, 0);
    dup2(before, STDERR_FILENO);
    close(before);
    close(other);
    close(closed);
    close(ends[0]);
    close(ends[1]);
}

static void kept(void)
{
    KeptFile file = KEPT_NONE, none = KEPT_NONE;
    g_assert_cmpint(kept_file_number(&file), ==, -1);
    g_assert_false(kept_file_take(&none, -1));
    g_assert_true(kept_file_take(&file, open("/dev/null", O_RDONLY | O_CLOEXEC)));
    g_assert_cmpint(file.number, >, STDERR_FILENO);
    g_assert_cmpint(kept_file_number(&file), ==, file.number);
    g_assert_cmpint(fcntl(file.number, F_GETFD), ==, FD_CLOEXEC);
    int other = open("/dev/zero", O_RDONLY | O_CLOEXEC), number = file.number;
    g_assert_cmpint(dup2(other, number), ==, number);
    g_assert_cmpint(kept_file_number(&file), ==, -1);
    kept_file_close(&file);
    g_assert_cmpint(fcntl(number, F_GETFD), >=, 0); /* it is not Wend's any more */
    close(number);
    close(other);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    signal(SIGPIPE, count);
    signal(SIGXFSZ, count);
    g_test_add_func("/own-writes/own", own_signals);
    g_test_add_func("/own-writes/pending", pending_before);
    g_test_add_func("/own-writes/others", of_others);
    g_test_add_func("/own-writes/nested", nested);
    g_test_add_func("/own-writes/lines", lines);
    g_test_add_func("/kept", kept);
    return g_test_run();
}
