/* top.c: a program under "wend trace" that never started MPI: one line at its end, for else nobody would know why there is no recording. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "settings.h"
#include "state.h"

/* The process that wend trace became, whatever it has exec'ed since; its children are others. */
static bool is_top(void)
{
    const char *top = getenv("WEND_TOP");
    return top && atol(top) == (long)getpid();
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
static bool had_children(void)
{
    struct rusage children;
    return getrusage(RUSAGE_CHILDREN, &children) != 0 || children.ru_minflt + children.ru_majflt > 0;
}

static bool has_recording(const char *directory)
{
    char path[4096];
    struct stat info;
    int n = snprintf(path, sizeof path, "%s/trace.tar.zst", directory);
    return n < 0 || (size_t)n >= sizeof path || stat(path, &info) == 0;
}

__attribute__((destructor)) static void say_nothing_recorded(void)
{
    if (state()->started || !is_top() || !speaks())
        return;
    /* With a name of the tracer's own choice there is no telling where children have left a recording. */
    if (had_children() && (!settings()->output || has_recording(settings()->output)))
        return;
    state_say("%s did not start MPI: nothing was recorded", program_invocation_short_name);
}
