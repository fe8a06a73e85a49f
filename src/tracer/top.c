/* top.c: a program under "wend trace" that never started MPI: one line at its end, for else nobody would know why there is no recording. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ending.h"
#include "settings.h"
#include "state.h"

/* WEND_TOP: the process that wend trace became, whatever it has exec'ed since (its children are others), and how many page faults
 * those had that it waited for before. */
static bool is_top(long *faults)
{
    const char *top = getenv("WEND_TOP");
    long pid;
    return top && sscanf(top, "%ld:%ld", &pid, faults) == 2 && pid == (long)getpid();
}

/* Of several processes that a launcher started, the first speaks. */
static bool speaks(void)
{
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID",
                                        "FLUX_TASK_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *rank = getenv(ranks[i]);
        if (rank)
            return atol(rank) == 0;
    }
    return true;
}

/* A script or a launcher: what it ran may have been recorded. */
static bool had_children(long faults)
{
    struct rusage children;
    return getrusage(RUSAGE_CHILDREN, &children) != 0 || children.ru_minflt + children.ru_majflt > faults;
}

static bool has_recording(const char *directory)
{
    char path[4096];
    struct stat info;
    int n = snprintf(path, sizeof path, "%s/trace.tar.zst", directory);
    return n < 0 || (size_t)n >= sizeof path || stat(path, &info) == 0;
}

/* Many programs close standard error as the last thing that they do (all of GNU's), before libraries are told of the end. */
static int standard_error = -1;

/* A child that goes on after its parent must not hold a pipe open that somebody reads to its end. */
static void in_child(void)
{
    if (standard_error >= 0)
        close(standard_error);
    standard_error = -1;
}

__attribute__((constructor)) static void keep_standard_error(void)
{
    int saved = errno;
    long faults;
    if (is_top(&faults) && speaks()) {
        standard_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 200); /* not among the numbers that programs count on */
        pthread_atfork(NULL, NULL, in_child);
    }
    errno = saved;
}

__attribute__((destructor)) static void say_nothing_recorded(void)
{
    long faults;
    if (standard_error < 0 || state()->started || !is_top(&faults))
        return;
    /* With a name of the tracer's own choice there is no telling where children have left a recording. */
    if (had_children(faults) && (!settings()->output || has_recording(settings()->output)))
        return;
    dprintf(standard_error, "wend: %s did not start MPI: nothing was recorded\n", program_invocation_short_name);
}

/* Some shells end so. */
__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    ending_exit(status);
    say_nothing_recorded();
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status) { _exit(status); }
