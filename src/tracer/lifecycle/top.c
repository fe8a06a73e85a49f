/* SPDX-License-Identifier: BSD-3-Clause */
/* top.c: the end of the process by exit, quick_exit or _exit. A run that has not come to
 * MPI_Finalize is saved. A program under "wend trace" that never started MPI, or started it where
 * Wend could not see it, prints one line, so that the user knows why there is no recording. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/printable.h"
#include "interpose/interpose.h"
#include "lifecycle.h"
#include "process/process.h"
#include "process/settings.h"
#include "process/launcher.h"
#include "process/program-file.h"

/* Whether this is the process of WEND_TOP, which wend trace became, whatever it has executed since.
 * Its children are not. *FAULTS is the number of page faults of the children before. */
static bool is_top(long *faults)
{
    const char *top = getenv("WEND_TOP");
    long pid;
    return top && sscanf(top, "%ld:%ld", &pid, faults) == 2 && pid == (long)getpid();
}

/* Overwrites the number in place: setenv would move a string that the application may use. */
void top_started(void)
{
    char *top = getenv("WEND_TOP");
    while (top && *top >= '0' && *top <= '9')
        *top++ = '0';
}

/* Whether the process had children, as a script or a launcher has. They may have been recorded. */
static bool had_children(long faults)
{
    struct rusage children;
    return getrusage(RUSAGE_CHILDREN, &children) != 0
           || children.ru_minflt + children.ru_majflt > faults;
}

/* Whether there is a recording in the directory; *EARLIER: it was there before wend trace. */
static bool has_recording(const char *directory, bool *earlier)
{
    char path[4096];
    const char *top = getenv("WEND_TOP");
    long long since = 0;
    struct stat info;
    int n = snprintf(path, sizeof path, "%s/trace.tar.zst", directory);
    bool fits = n >= 0 && (size_t)n < sizeof path, there = !fits || stat(path, &info) == 0;
    *earlier = fits && there && top && sscanf(top, "%*d:%*d:%lld", &since) == 1
               && info.st_mtim.tv_sec * 1000000000LL + info.st_mtim.tv_nsec < since;
    return there;
}

static bool comes_first(void)
{
    Dl_info first, own;
    void *function = dlsym(RTLD_DEFAULT, "MPI_Init");
    return function && dladdr(function, &first) && dladdr((const void *)comes_first, &own)
           && first.dli_fbase == own.dli_fbase;
}

/* The reason why Wend has seen no MPI calls although there were, or may have been, some. NULL if
 * there were none. */
static const char *missed(void)
{
    bool has_library = mpi_library_symbol(MPI_LIBRARY_MARK) != NULL;
    if (mpi_library_passed_by())
        return comes_first()
                   ? "looked MPI's functions up by itself (dlsym), past libwend.so"
                   : "started MPI past libwend.so, which does not come before the MPI library";
    int program = has_library ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool has_mpi = program >= 0 && program_file_has_mpi(program);
    if (program >= 0)
        close(program);
    return has_mpi ? "has the MPI library linked into it statically" : NULL;
}

/* the process that loaded the library; its forked children print nothing */
static long process;

/* In what may become a rank, and where the end without MPI is said. */
__attribute__((constructor)) static void keep_standard_error(void)
{
    int saved = errno;
    long faults;
    process = (long)getpid();
    if (is_top(&faults) || mpi_library_symbol(MPI_LIBRARY_MARK))
        process_keep_stderr();
    errno = saved;
}

static void say_nothing_recorded(void)
{
    State *s = state();
    long faults;
    if (s->started || s->other_wend || s->unwritten || process != (long)getpid()
        || !launcher_is_first())
        return;
    const char *output = settings()->output;
    bool earlier = false, there = output && has_recording(output, &earlier);
    const char *why = s->other_family ? "has an MPI library that libwend-" MPI_FAMILY
                                        ".so does not support (wend trace chooses the recorder)"
                                      : missed();
    if (!why) {
        /* With a default name, it is unknown where children have left a recording. */
        if (!is_top(&faults) || (had_children(faults) && (!output || (there && !earlier))))
            return;
        why = "did not start MPI";
    }
    char program[1024];
    printable_text(program, sizeof program, program_invocation_short_name,
                   strlen(program_invocation_short_name), printable_utf8());
    const char *const texts[] = {"wend: ",
                                 program,
                                 " ",
                                 why,
                                 ": nothing was recorded",
                                 earlier ? ", and what an earlier run has recorded is still there\n"
                                         : "\n"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    struct iovec pieces[TEXTS];
    for (size_t i = 0; i < TEXTS; i++)
        pieces[i] = (struct iovec){(void *)(uintptr_t)texts[i], strlen(texts[i])};
    process_print_line(pieces, TEXTS);
}

/* -- the end of the process -- */

static void end(int status)
{
    termination_exit(status);
    say_nothing_recorded();
}

/* exit() calls this library's destructor, and what on_exit() noted. What was noted first comes
 * last. So if the library was there at the start, all destructors come before at_exit: those of the
 * program's libraries and objects may still call MPI. If it was loaded later, at_exit comes first,
 * and the library's destructor after those of its users. The second of the two is the end. */
static int exit_status, ends;

static void one_end(void)
{
    if (++ends == 2)
        end(exit_status);
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    exit_status = status;
    one_end();
}

__attribute__((destructor)) static void unload(void)
{
    one_end();
}

static void at_quick_end(void)
{
    end(exit_status);
}

__attribute__((constructor)) static void note_ends(void)
{
    if (on_exit(at_exit, NULL) != 0)
        ends = 1;
    at_quick_exit(at_quick_end);
}

__attribute__((visibility("default"), noreturn)) void quick_exit(int status)
{
    void (*real)(int) __attribute__((noreturn));
    *(void **)&real = dlsym(RTLD_NEXT, "quick_exit");
    exit_status = status;
    real(status);
}

/* Some shells end with this call. */
__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    end(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
    _exit(status);
}
