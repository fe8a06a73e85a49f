/* SPDX-License-Identifier: BSD-3-Clause */
/* attend.c: see attend.h. To its launcher the command is the program: it must stop, go on and end
 * as the program does. */
#include "attend.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
    sigset_t all, before;
    pid_t own = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* until the child can be told */
    pid_t child = fork();
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
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

int attend_wait(pid_t child)
{
    int status = 0;
    syscall(SYS_close_range, 3U, ~0U, 0U);
    for (;;) {
        pid_t changed = waitpid(child, &status, WUNTRACED);
        if (changed < 0 && errno == EINTR)
            continue;
        if (changed != child || !WIFSTOPPED(status))
            return changed == child ? status : 0;
        kill(getpid(), SIGSTOP);
        kill(child, SIGCONT); /* somebody has let this process go on */
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
