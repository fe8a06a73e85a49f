/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c: see launch.h. */
#include "launch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "executable.h"
#include "lib/base/error.h"
#include "setting-options.h"
#include "src/command/command.h"
#include "src/tracer/shared/launcher.h"

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

int launch_fail(const char *command, GError *error)
{
    int status = wend_command_status(error), launcher = launcher_socket();
    gboolean speaks = launcher_speaks();
    signal(SIGPIPE, SIG_IGN); /* the exit status is enough if nobody reads the line */
    /* Open MPI's launcher ends a job as soon as one process fails. */
    if (!speaks && (launcher >= 0 || g_getenv("OMPI_COMM_WORLD_SIZE"))) {
        g_usleep(2 * G_USEC_PER_SEC);
        speaks = TRUE;
    }
    if (speaks)
        wend_command_fail(command, error);
    else
        g_error_free(error);
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
    return launch_fail(command, wend_command_usage_error(command, problem));
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

char *launch_find(const char *program, GError **error)
{
    char *file = executable_find(program, error);
    const char *obstacle = file ? executable_obstacle(file) : NULL;
    if (obstacle) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s %s: it cannot be traced", file,
                    obstacle);
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
    return launch_fail(
        command, g_error_new(WEND_ERROR, WEND_ERROR_SYSTEM, "%s: %s", file, g_strerror(errno)));
}
