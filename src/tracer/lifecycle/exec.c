/* SPDX-License-Identifier: BSD-3-Clause */
/* exec.c: a rank that executes another program between MPI_Init and MPI_Finalize. Only the kernel
 * learns of it. The other ranks wait for it for ever, or are killed. So its recording is saved
 * before, as at any other end (termination.h). Children, and processes without MPI, pass through at
 * once. */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "termination.h"
#include "process/process.h"
#include "shared/shared.h"

#define EXPORT __attribute__((visibility("default")))

static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_execvpe)(const char *, char *const[], char *const[]);
static int (*real_fexecve)(int, char *const[], char *const[]);
static int (*real_execveat)(int, const char *, char *const[], char *const[], int);

/* Finds the real functions when the library is loaded, because a child after vfork may not look
 * them up; or earlier, if a constructor of another library calls exec. */
__attribute__((constructor)) static void find_real(void)
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
    find_real();
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
