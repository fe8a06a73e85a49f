/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c: see wend.h. To its launcher the command is the program: it must stop, go on and end as
 * the program does. */
#include "wend.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "src/command/command.h"
#include "src/tracer/process/launcher.h"

/* -- errors: one process of a job prints them -- */

/* Whether a launcher has started this process directly. If the parent has a rank, too, it may go on
 * after this process. */
static gboolean is_of_launcher(const char *variable)
{
    g_autofree char *path = g_strdup_printf("/proc/%ld/environ", (long)getppid());
    g_autofree char *environment = NULL;
    g_autofree char *wanted = g_strdup_printf("%s=", variable);
    gsize n;
    if (!g_file_get_contents(path, &environment, &n, NULL))
        return TRUE; /* the parent belongs to another user */
    for (const char *p = environment; p < environment + n; p += strlen(p) + 1)
        if (g_str_has_prefix(p, wanted))
            return FALSE;
    return TRUE;
}

/* The launcher's socket, if the launcher must be told to end the job; else -1. */
static int launcher_socket(void)
{
    const char *given = g_getenv("PMI_FD");
    guint64 fd;
    struct stat info;
    gboolean there = given && g_ascii_string_to_unsigned(given, 10, 0, G_MAXINT, &fd, NULL)
                     && fstat((int)fd, &info) == 0 && S_ISSOCK(info.st_mode);
    return there && is_of_launcher("PMI_RANK") ? (int)fd : -1;
}

int launch_fail(const char *command, Error *error)
{
    int status = (int)error->code, launcher = launcher_socket();
    gboolean prints = launcher_is_first();
    signal(SIGPIPE, SIG_IGN); /* the exit status is enough if nobody reads the line */
    /* Open MPI's launcher ends a job as soon as one process fails. */
    if (!prints && (launcher >= 0 || g_getenv("OMPI_COMM_WORLD_SIZE"))) {
        g_usleep(2 * G_USEC_PER_SEC);
        prints = TRUE;
    }
    if (prints)
        command_fail(command, error);
    else
        error_free(error);
    if (launcher >= 0) {
        g_autofree char *abort = g_strdup_printf("cmd=abort exitcode=%d\n", status);
        g_usleep(G_USEC_PER_SEC / 10);
        if (write(launcher, abort, strlen(abort)) < 0)
            return status; /* the launcher has ended */
    }
    return status;
}

int launch_fail_usage(const char *command, const char *problem)
{
    return launch_fail(command, command_usage_error(command, problem));
}

/* -- the library -- */

/* Puts LIBRARY before all libraries that are preloaded already, once. */
static void preload(const char *library)
{
    const char *before = g_getenv("LD_PRELOAD");
    GString *all = g_string_new(library);
    char **others = g_strsplit_set(before ? before : "", ": ", -1);
    for (char **other = others; *other; other++)
        if (**other && strcmp(*other, library) != 0)
            g_string_append_printf(all, ":%s", *other);
    g_setenv("LD_PRELOAD", all->str, TRUE);
    g_strfreev(others);
    g_string_free(all, TRUE);
}

/* AddressSanitizer ends a program in which its shared library is not the first. Wend hands on to it
 * what both stand before. The program may come after a launcher or a script, so it is not asked
 * which libraries it has. */
static void tell_sanitizer(void)
{
    static const char option[] = "verify_asan_link_order";
    const char *before = g_getenv("ASAN_OPTIONS");
    if (before && strstr(before, option))
        return;
    g_autofree char *options =
        g_strdup_printf("%s%s%s=0", before ? before : "", before && *before ? ":" : "", option);
    g_setenv("ASAN_OPTIONS", options, TRUE);
}

/* -- the program -- */

char **launch_program(const char *command, char **operands, int *status)
{
    char **program = operands + (*operands && strcmp(*operands, "--") == 0);
    if (!*program) {
        *status = launch_fail_usage(command, "no program given");
        return NULL;
    }
    g_autofree char *problem = setting_options_apply();
    if (problem) {
        *status = launch_fail_usage(command, problem);
        return NULL;
    }
    return program;
}

char *launch_find(const char *program, Error **error)
{
    char *file = executable_find(program, error);
    const char *obstacle = file ? executable_obstacle(file) : NULL;
    if (obstacle) {
        error_set(error, WEND_ERROR_INPUT, "%s %s: it cannot be traced", file, obstacle);
        g_free(file);
        return NULL;
    }
    return file;
}

int launch(const char *command, const char *file, const char *library, char **program)
{
    preload(library);
    tell_sanitizer();
    /* WEND_TOP: the process at whose end the tracer prints that nothing was recorded, and the time
     * from which on recordings are its own. */
    struct rusage children = {0};
    struct timespec now;
    getrusage(RUSAGE_CHILDREN, &children);      /* children of a shell that executed wend */
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the clock of file times */
    g_autofree char *top =
        g_strdup_printf("%ld:%ld:%lld", (long)getpid(), children.ru_minflt + children.ru_majflt,
                        now.tv_sec * 1000000000LL + now.tv_nsec);
    g_setenv("WEND_TOP", top, TRUE);
    execvp(*program, program);
    Error *error = NULL;
    error_set(&error, WEND_ERROR_SYSTEM, "%s: %s", file, g_strerror(errno));
    return launch_fail(command, error);
}

/* -- a program as a child of the command -- */

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

pid_t launch_fork(void)
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

int launch_wait(pid_t child)
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

_Noreturn void launch_end(int status)
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
