/* limit.c: how much memory the recording of this process may hold, and what happens then.
 *
 * The recording stops, in all threads: the call that wanted more is the first that is not in it, as with a shortage of the system's. What there is is merged and
 * written at MPI_Finalize, with the fact that it ends there. */
#include "control.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../lib/budget.h"
#include "../../lib/saved.h"
#include "launcher.h"
#include "settings.h"

enum { SHARE = 16 };                  /* of the machine's memory, for all of its ranks: one part in so many. The merge takes about five times what is recorded */
static const uint64_t LEAST = UINT64_C(64) << 20;

static void reached(void)
{
    state_break(WEND_ENDED_MEMORY);
}

/* The number in the first line of a file; MOST where there is none ("max"), or it is higher. */
static uint64_t number_in(const char *path, uint64_t most)
{
    unsigned long long n;
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%llu", &n) == 1 && n < most)
        most = n;
    if (f)
        fclose(f);
    return most;
}

/* Batch systems and containers give a job less than the machine has: the control group of this process, or one around it (both versions of the kernel's). */
static uint64_t of_groups(uint64_t most)
{
    char line[4096], path[4096 + 64];
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) { /* "0::/some/group", or "4:memory:/some/group" */
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        bool unified = names[1] == '\0';
        if (!unified && strcmp(names + 1, "memory") != 0)
            continue;
        for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
            *end = '\0';
            snprintf(path, sizeof path, unified ? "/sys/fs/cgroup%s/memory.max" : "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", group);
            most = number_in(path, most);
        }
    }
    if (f)
        fclose(f);
    return most;
}

static uint64_t share(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE), processors = sysconf(_SC_NPROCESSORS_ONLN);
    long ranks = launcher_local_size();
    if (ranks <= 0)
        ranks = state()->world_size > 0 && state()->world_size < processors ? state()->world_size : processors;
    uint64_t all = of_groups(pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX), mine = all / SHARE / (uint64_t)(ranks > 0 ? ranks : 1);
    struct rlimit own;
    if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY && own.rlim_cur / SHARE < mine)
        mine = own.rlim_cur / SHARE;
    return mine > LEAST ? mine : LEAST;
}

void limit_open(void)
{
    long given = settings()->max_memory;
    uint64_t most = given < 0 ? share() : given > 0 ? (uint64_t)given : SIZE_MAX;
    wend_budget_limit(most < SIZE_MAX ? (size_t)most : SIZE_MAX, reached);
}
