/* SPDX-License-Identifier: BSD-3-Clause */
/* own-writes.c: see system.h. */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGPIPE, SIGXFSZ};
enum { SIGNALS = sizeof signals / sizeof *signals };

void write_signals_block(WriteSignals *s)
{
    int saved = errno;
    sigset_t all, pending;
    sigemptyset(&all);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&all, signals[i]);
    pthread_sigmask(SIG_BLOCK, &all, &s->before);
    /* A signal that is pending already stays pending. A second one of its kind cannot be
     * distinguished from it. */
    sigemptyset(&s->own);
    sigpending(&pending);
    for (int i = 0; i < SIGNALS; i++)
        if (!sigismember(&pending, signals[i]))
            sigaddset(&s->own, signals[i]);
    errno = saved;
}

/* Whether the kernel raised the signal for an action of this process. It then has this process's
 * number, as if the process had sent it to itself. */
static bool is_of_write(const siginfo_t *info)
{
    return info->si_code > 0 || (info->si_code == SI_USER && info->si_pid == getpid());
}

static void take_back(int number)
{
    sigset_t one;
    siginfo_t info;
    sigemptyset(&one);
    sigaddset(&one, number);
    /* The C library's function makes signals by tgkill look like the kernel's. */
    struct timespec now = {0};
    long taken = syscall(SYS_rt_sigtimedwait, &one, &info, &now, _NSIG / 8);
    if (taken != number || is_of_write(&info))
        return;
    if (syscall(SYS_rt_sigqueueinfo, getpid(), number, &info) != 0)
        syscall(SYS_kill, getpid(), number);
}

void write_signals_restore(const WriteSignals *s)
{
    int saved = errno;
    for (int i = 0; i < SIGNALS; i++)
        if (sigismember(&s->own, signals[i]))
            take_back(signals[i]);
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
    errno = saved;
}

/* -- lines -- */

/* Standard error as the launcher gave it: the file, and a copy of the descriptor. The program may
 * close its own, as all of GNU's do at their end, or open a file of its own with that number. */
static struct stat given;
static bool is_given; /* it was open when the library was loaded */
static KeptFile copy = KEPT_NONE;

__attribute__((constructor)) static void look_at_stderr(void)
{
    int saved = errno;
    is_given = fstat(STDERR_FILENO, &given) == 0;
    errno = saved;
}

/* A child that outlives its parent must not hold a pipe open whose reader waits for the end. */
static void in_child(void)
{
    kept_file_close(&copy);
}

void process_keep_stderr(void)
{
    int saved = errno;
    look_at_stderr(); /* the order of constructors is not known */
    if (is_given && kept_file_take(&copy, fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)))
        pthread_atfork(NULL, NULL, in_child);
    errno = saved;
}

/* The descriptor for a line. -1: none. */
static int line_file(void)
{
    struct stat now;
    if (is_given && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == given.st_dev
        && now.st_ino == given.st_ino)
        return STDERR_FILENO;
    return kept_file_number(&copy);
}

/* Removes the first DONE bytes from PIECES. */
static void drop(struct iovec **pieces, size_t *n, size_t done)
{
    while (*n > 0 && done >= (*pieces)->iov_len) {
        done -= (*pieces)->iov_len;
        ++*pieces;
        --*n;
    }
    if (*n > 0) {
        (*pieces)->iov_base = (char *)(*pieces)->iov_base + done;
        (*pieces)->iov_len -= done;
    }
}

void process_print_line(struct iovec *pieces, size_t n)
{
    int saved = errno, fd = line_file();
    WriteSignals blocked;
    write_signals_block(&blocked);
    drop(&pieces, &n, 0);
    while (fd >= 0 && n > 0) {
        long done = syscall(SYS_writev, fd, pieces, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            break;
        drop(&pieces, &n, (size_t)done);
    }
    write_signals_restore(&blocked);
    errno = saved;
}

/* -- files that stay open -- */

enum { HIGH = 200, ABOVE_STANDARD = 3 };

static int move(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    if (high < 0)
        high = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STANDARD);
    if (high < 0 && fd >= ABOVE_STANDARD)
        return fd;
    close(fd);
    return high;
}

bool kept_file_take(KeptFile *file, int fd)
{
    struct stat info;
    file->number = fd < 0 ? -1 : move(fd);
    if (file->number < 0)
        return false;
    if (fstat(file->number, &info) != 0) {
        close(file->number);
        file->number = -1;
        return false;
    }
    file->device = info.st_dev;
    file->inode = info.st_ino;
    return true;
}

int kept_file_number(const KeptFile *file)
{
    int saved = errno;
    struct stat info;
    bool same = file->number >= 0 && fstat(file->number, &info) == 0 && info.st_dev == file->device
                && info.st_ino == file->inode;
    errno = saved;
    return same ? file->number : -1;
}

void kept_file_close(KeptFile *file)
{
    int number = kept_file_number(file);
    if (number >= 0)
        close(number);
    file->number = -1;
}
