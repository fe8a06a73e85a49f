/* SPDX-License-Identifier: BSD-3-Clause */
/* termination.c: see lifecycle.h.
 *
 * Wend installs a handler for each signal for which the application has none. It interposes
 * sigaction and signal, and shows the application the state without Wend. A handler of the
 * application is installed. If the application restores the default, Wend's handler is installed
 * again. Wend's handler ends with the default action, by the same signal. */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/printable.h"
#include "lib/record/checkpoint-file.h"
#include "interpose/interpose.h"
#include "lifecycle.h"
#include "output/output.h"
#include "process/process.h"
#include "process/program-file.h"
#include "recorder/recorder.h"

#define EXPORT __attribute__((visibility("default")))

enum { STACK_BYTES = 64 << 10 };

/* All signals with a name that end the process by default and can be caught. */
static const struct {
    int number;
    const char *name;
} signals[] = {
#define S(name)     \
    {               \
        name, #name \
    }
    S(SIGHUP),  S(SIGINT),    S(SIGQUIT),   S(SIGILL),  S(SIGTRAP), S(SIGABRT),
    S(SIGBUS),  S(SIGFPE),    S(SIGUSR1),   S(SIGSEGV), S(SIGUSR2), S(SIGPIPE),
    S(SIGALRM), S(SIGTERM),   S(SIGSTKFLT), S(SIGIO),   S(SIGPWR),  S(SIGXCPU),
    S(SIGXFSZ), S(SIGVTALRM), S(SIGPROF),   S(SIGSYS),
#undef S
};
enum { SIGNALS = sizeof signals / sizeof *signals };

static bool opened;
static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);

/* Functions that take and return a handler. Compilers call the second for programs in strict ISO
 * C. */
enum { SIGNAL, SYSV_SIGNAL, SIGSET, SIGNAL_FUNCTIONS };
static sighandler_t (*real_signals[SIGNAL_FUNCTIONS])(int, sighandler_t);

/* Finds the real functions when the library is loaded, because handlers may be the first to call
 * them; or earlier, if a constructor of another library calls them. */
__attribute__((constructor)) static void find_real(void)
{
    static const char *const names[] = {"signal", "__sysv_signal", "sigset"};
    if (real_sigaction)
        return;
    for (int i = 0; i < SIGNAL_FUNCTIONS; i++)
        real_signals[i] = (sighandler_t(*)(int, sighandler_t))dlsym(RTLD_NEXT, names[i]);
    real_sigaction =
        (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
}

static const char *name_of(int number)
{
    for (int i = 0; i < SIGNALS; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return ""; /* no signal of on_signal */
}

/* Prints one line, by system calls only. */
static void say(const char *a, const char *b, const char *c, const char *d)
{
    const char *const pieces[] = {"wend: ", a, b, c, d, "\n"};
    enum { PIECES = sizeof pieces / sizeof *pieces };
    struct iovec line[PIECES];
    for (size_t i = 0; i < PIECES; i++)
        line[i] = (struct iovec){(void *)(uintptr_t)pieces[i], strlen(pieces[i])};
    process_print_line(line, PIECES);
}

/* Appends MORE to a text of SIZE bytes, and truncates it if needed. snprintf may not be called
 * here. */
static void append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text), m = strlen(more);
    if (m > size - 1 - n)
        m = size - 1 - n;
    memcpy(text + n, more, m);
    text[n + m] = '\0';
}

static void append_number(char *text, size_t size, long n)
{
    char digits[24], *p = digits + sizeof digits - 1;
    unsigned long rest = n < 0 ? 0UL - (unsigned long)n : (unsigned long)n;
    *p = '\0';
    do
        *--p = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (n < 0)
        *--p = '-';
    append(text, size, p);
}

/* Saves the part, and prints how to make the recording. Returns false if nothing is saved. */
static bool save(const char *ended)
{
    char rank[48] = "rank ";
    bool saved = watcher_save(ended, true);
    if (!saved && (state_inherited() || !parts_any()))
        return false;
    append_number(rank, sizeof rank, state()->world_rank);
    const char *directory = watcher_news();
    if (directory) {
        append(rank, sizeof rank, ": ");
        say(rank, ended,
            saved ? "; to make the recording: wend merge "
                  : "; to make the recording up to the last checkpoint: wend merge ",
            directory);
    }
    return true;
}

/* -- signals -- */

/* Whether an instruction of the thread caused the signal. The signal then recurs when the
 * instruction is repeated, and a core file shows it. */
static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0
           && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    Thread *t = this_thread;
    bool sent = !is_fault(number, info);
    if (t && atomic_load(&t->busy)) {
        if (sent) { /* after the recorder has finished */
            atomic_store(&t->postponed, number);
            errno = saved;
            return;
        }
    } else if (!state()->finished) {
        char ended[WEND_ENDED_ROOM] = WEND_ENDED_SIGNAL;
        append(ended, sizeof ended, name_of(number));
        save(ended);
    }
    real_sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if (sent)
        syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
    errno = saved;
}

static struct sigaction own(void)
{
    struct sigaction a = {.sa_sigaction = on_signal,
                          .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&a.sa_mask);
    return a;
}

bool termination_open(void)
{
    const struct sigaction a = own();
    find_real();
    if (opened || !real_sigaction)
        return false;
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction before;
        if (real_sigaction(signals[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            real_sigaction(signals[i].number, &a, NULL);
    }
    opened = true;
    return true;
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction a = own(), before;
    find_real();
    if (!real_sigaction) {
        errno = ENOSYS;
        return -1;
    }
    bool restores =
        opened && !state()->forked && action && action->sa_handler == SIG_DFL && name_of(number);
    int rc = real_sigaction(number, restores ? &a : action, &before);
    if (rc == 0 && old) {
        if (before.sa_sigaction == on_signal)
            before = (struct sigaction){.sa_handler = SIG_DFL};
        *old = before;
    }
    return rc;
}

static sighandler_t set_handler(int function, int number, sighandler_t handler)
{
    const struct sigaction a = own();
    find_real();
    if (!real_signals[function]) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    sighandler_t before = real_signals[function](number, handler);
    if (before != SIG_ERR && opened && !state()->forked && handler == SIG_DFL && name_of(number))
        real_sigaction(number, &a, NULL);
    return before == (sighandler_t)(void (*)(void))on_signal ? SIG_DFL : before;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return set_handler(SIGNAL, number, handler);
}
EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return set_handler(SIGNAL, number, handler);
}
EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
    return set_handler(SIGNAL, number, handler);
}
EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return set_handler(SYSV_SIGNAL, number, handler);
}
EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set_handler(SYSV_SIGNAL, number, handler);
}
EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    return set_handler(SIGSET, number, handler);
}

void termination_prepare_thread(void)
{
    stack_t now, mine = {.ss_size = STACK_BYTES};
    int saved = errno;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE)) {
        mine.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mine.ss_sp != MAP_FAILED)
            sigaltstack(&mine, NULL);
    }
    errno = saved;
}

/* -- exit and abort -- */

void termination_exit(int status)
{
    char ended[WEND_ENDED_ROOM] = WEND_ENDED_EXIT;
    State *s = state();
    if (!s->started || s->finished || s->refused || state_inherited())
        return;
    append_number(ended, sizeof ended, status);
    /* libraries end a job in this way after an error that is not handled */
    bool within_mpi = this_thread && this_thread->inside;
    if (save(within_mpi ? WEND_ENDED_FATAL : ended)) {
        s->finished = true;
        return;
    }
    /* Rank 0 prints the line. Another rank prints it only if MPI itself ends the process, because
     * rank 0 may then never come here. */
    if (s->world_rank > 0 && !within_mpi)
        return;
    s->finished = true;
    if (within_mpi)
        state_say("rank %d: the process ended within an MPI call: nothing was recorded",
                  s->world_rank);
    else
        state_say("the program ended without MPI_Finalize: nothing was recorded");
}

void termination_let_be_read(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

void termination_fatal(void)
{
    State *s = state();
    if (!s->started || s->finished || s->refused || state_inherited())
        return;
    if (!save(WEND_ENDED_FATAL))
        state_say("rank %d: the process ended within an MPI call: nothing was recorded",
                  s->world_rank);
    termination_let_be_read(100);
    s->finished = true;
}

bool termination_abort(int code)
{
    char ended[WEND_ENDED_ROOM] = WEND_ENDED_ABORT;
    append_number(ended, sizeof ended, code);
    bool saved = save(ended);
    termination_let_be_read(100);
    return saved;
}

void termination_exec(const char *name)
{
    char ended[WEND_ENDED_ROOM] = WEND_ENDED_EXEC;
    const char *slash = name ? strrchr(name, '/') : NULL;
    append(ended, sizeof ended, slash ? slash + 1 : name ? name : "?");
    for (char *p = ended; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    save(ended);
}

void termination_keep(int rank, const char *why)
{
    bool saved = watcher_save("", false);
    if (rank != 0)
        return;
    if (saved || parts_any()) {
        char word[PATH_MAX + 8];
        printable_word(word, sizeof word, output_directory());
        state_say("%s; to make the recording: wend merge %s", why, word);
        return;
    }
    state_say("%s: nothing was recorded", why);
    parts_remove();
    output_abandon();
}

/* -- an error that is not handled -- */

/* The way in which MPICH ends a job after an error that is not handled (MPI_ERRORS_ARE_FATAL). It
 * writes one line to the launcher, which kills all ranks at once, this one included. The only
 * function on that way that a library can intercept is write(). So that reference of the MPI
 * library is redirected to this file, and the parts are saved before the line is written. */

static bool begins(const char *text, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* The line is in one of PMI's two wire protocols. The second begins with a length of six digits. */
static ssize_t write_of_library(int fd, const void *data, size_t n)
{
    if (begins(data, n, "cmd=abort ")
        || (n > 6 && begins((const char *)data + 6, n - 6, "cmd=abort;")))
        termination_fatal();
    return write(fd, data, n);
}

static void *wrapper_of(const char *name, void *unused)
{
    (void)unused;
    return strcmp(name, "write") == 0 ? (void *)write_of_library : NULL;
}

static void visit(const Module *m, void *of_library)
{
    if (module_contains(m, of_library))
        module_redirect(m, wrapper_of, NULL);
}

void termination_watch_fatal(void)
{
    /* a reference by name would also look it up in programs without MPI */
    void *of_library = mpi_library_symbol(MPI_LIBRARY_MARK);
    if (of_library)
        modules_each(visit, of_library);
}

/* -- exec -- */

/* A rank that executes another program between MPI_Init and MPI_Finalize. Only the kernel learns of
 * it. The other ranks wait for it for ever, or are killed. So its recording is saved before, as at
 * any other end. Children, and processes without MPI, pass through at once. */

#define EXPORT __attribute__((visibility("default")))

static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_execvpe)(const char *, char *const[], char *const[]);
static int (*real_fexecve)(int, char *const[], char *const[]);
static int (*real_execveat)(int, const char *, char *const[], char *const[], int);

/* Finds the real functions when the library is loaded, because a child after vfork may not look
 * them up; or earlier, if a constructor of another library calls exec. */
__attribute__((constructor)) static void find_real_exec(void)
{
    if (real_execve)
        return;
    real_fexecve = (int (*)(int, char *const[], char *const[]))dlsym(RTLD_NEXT, "fexecve");
    real_execveat =
        (int (*)(int, const char *, char *const[], char *const[], int))dlsym(RTLD_NEXT, "execveat");
    real_execvpe = (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execvpe");
    real_execve = (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execve");
}

static bool is_there(const char *name, bool on_path)
{
    char file[PATH_MAX];
    return on_path && !strchr(name, '/') ? program_file_find(getenv("PATH"), name, file)
                                         : program_file_is(name);
}

/* Saves the recording before exec. NAME is NULL for a program given by a descriptor. If the program
 * does not exist, exec will fail, and the rank goes on. */
static void become(const char *name, bool on_path)
{
    const State *s = state();
    int saved = errno;
    if (s->started && !s->finished && !s->refused && !state_inherited()
        && (!name || is_there(name, on_path)))
        termination_exec(name);
    errno = saved;
    find_real_exec();
}

static int by_file(const char *name, char *const arguments[], char *const environment[])
{
    become(name, false);
    return real_execve(name, arguments, environment);
}

static int by_path(const char *name, char *const arguments[], char *const environment[])
{
    become(name, true);
    return real_execvpe(name, arguments, environment);
}

EXPORT int execve(const char *name, char *const arguments[], char *const environment[])
{
    return by_file(name, arguments, environment);
}
EXPORT int execv(const char *name, char *const arguments[])
{
    return by_file(name, arguments, environ);
}
EXPORT int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    return by_path(name, arguments, environment);
}
EXPORT int execvp(const char *name, char *const arguments[])
{
    return by_path(name, arguments, environ);
}

EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    become(NULL, false);
    return real_fexecve(fd, arguments, environment);
}

EXPORT int execveat(int folder, const char *name, char *const arguments[],
                    char *const environment[], int flags)
{
    become(NULL, false);
    if (!real_execveat) {
        errno = ENOSYS;
        return -1;
    }
    return real_execveat(folder, name, arguments, environment, flags);
}

/* Collects the arguments of a call on the caller's stack, because a child after vfork may not
 * allocate. REST reads arguments after their NULL. */
#define ARGUMENTS(first, rest)                              \
    size_t n = 1;                                           \
    va_list list;                                           \
    va_start(list, first);                                  \
    while (va_arg(list, char *))                            \
        n++;                                                \
    va_end(list);                                           \
    char **arguments = alloca((n + 1) * sizeof *arguments); \
    va_start(list, first);                                  \
    arguments[0] = (char *)first;                           \
    for (size_t i = 1; i <= n; i++)                         \
        arguments[i] = va_arg(list, char *);                \
    rest;                                                   \
    va_end(list)

EXPORT int execl(const char *name, const char *first, ...)
{
    ARGUMENTS(first, );
    return by_file(name, arguments, environ);
}

EXPORT int execlp(const char *name, const char *first, ...)
{
    ARGUMENTS(first, );
    return by_path(name, arguments, environ);
}

EXPORT int execle(const char *name, const char *first, ...)
{
    ARGUMENTS(first, char *const *environment = va_arg(list, char *const *));
    return by_file(name, arguments, environment);
}
