/* SPDX-License-Identifier: BSD-3-Clause */
/* attend.c: see attend.h. To its launcher the command is the program: it must stop, go on and end
 * as the program does. */
#include "attend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

static volatile sig_atomic_t attended; /* the child */

/* Signals from the kernel, such as those of a terminal, go to the child, too. Those that a process
 * sent are for the rank. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (info->si_code <= 0 && info->si_pid != attended)
        kill(attended, number);
    errno = saved;
}

/* Not those that stop a process for good or show a fault of this one. */
static bool is_passed_on(int number)
{
    switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGCHLD:
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
        return false;
    }
    return true;
}

pid_t attend_fork(void)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction of_child;
    sigset_t all, none, before;
    pid_t own = getpid();
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, &before); /* until the child can be told */
    sigaction(SIGCHLD, &plain, &of_child);   /* the kernel keeps no status if it is ignored */
    pid_t child = fork();
    if (child <= 0)
        sigaction(SIGCHLD, &of_child, NULL);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != own)
            _exit(1);
    } else if (child > 0) {
        struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
        attended = child;
        for (int i = 1; i <= SIGRTMAX; i++)
            if (is_passed_on(i))
                sigaction(i, &action, NULL); /* the C library keeps two for itself */
    }
    /* A signal that the caller blocks is blocked in the child. The program may let it in. */
    sigprocmask(SIG_SETMASK, child > 0 ? &none : &before, NULL);
    return child;
}

/* The launcher's pipes are the program's: they end when the program closes them. Standard error
 * stays, for messages. */
static void leave_files(void)
{
    syscall(SYS_close_range, 3U, ~0U, 0U);
    int null = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDOUT_FILENO; fd++)
        dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
}

/* Whether the process has been stopped and has not gone on. */
static bool is_stopped(pid_t process)
{
    g_autofree char *path = g_strdup_printf("/proc/%ld/stat", (long)process), *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return false;
    const char *state = strrchr(text, ')'); /* the program's name is before it */
    return state && g_str_has_prefix(state, ") T");
}

/* Stops this process until somebody lets it or the child go on. Only another process can notice
 * the latter. */
static void stop_with(pid_t child)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t own = getpid(), other = fork();
    while (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != own)
            _exit(1);
        if (!is_stopped(child))
            kill(own, SIGCONT);
        g_usleep(G_USEC_PER_SEC / 20);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    raise(SIGSTOP);
    if (other > 0) {
        kill(other, SIGKILL);
        while (waitpid(other, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (is_stopped(child))
        kill(child, SIGCONT);
}

int attend_wait(pid_t child)
{
    int status = 0;
    leave_files();
    for (;;) {
        pid_t changed = waitpid(child, &status, WUNTRACED);
        if (changed < 0 && errno == EINTR)
            continue;
        if (changed < 0)
            return W_EXITCODE(EXIT_FAILURE, 0);
        if (!WIFSTOPPED(status))
            return status;
        stop_with(child);
    }
}

_Noreturn void attend_end(int status)
{
    if (!WIFSIGNALED(status))
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    const struct rlimit none = {0, 0};
    sigset_t one;
    setrlimit(RLIMIT_CORE, &none); /* the program has left one */
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}
