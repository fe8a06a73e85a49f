/* limit.c: how much memory the recording of this process may hold, and the merge may take, and what happens then.
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

/* Batch systems and containers give a job less than the machine has: the control group of this process, or one around it (both versions of the kernel's). LEFT: what is not used of it
 * yet, the files that the kernel has read for it counted as used. */
static uint64_t of_groups(uint64_t most, bool left)
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
            uint64_t all = number_in(path, UINT64_MAX), used = 0;
            snprintf(path, sizeof path, unified ? "/sys/fs/cgroup%s/memory.current" : "/sys/fs/cgroup/memory%s/memory.usage_in_bytes", group);
            if (left && all < UINT64_MAX)
                used = number_in(path, all);
            most = all - used < most ? all - used : most;
        }
    }
    if (f)
        fclose(f);
    return most;
}

/* Of the job, on this machine; at least 1. */
static uint64_t local_ranks(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN), ranks = launcher_local_size();
    if (ranks <= 0)
        ranks = state()->world_size > 0 && state()->world_size < processors ? state()->world_size : processors;
    return ranks > 0 ? (uint64_t)ranks : 1;
}

static uint64_t share(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t all = of_groups(pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX, false), mine = all / SHARE / local_ranks();
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

/* What KEY of a file of lines "KEY: N kB" says, in bytes; UINT64_MAX: nothing. */
static uint64_t bytes_of(const char *path, const char *key)
{
    char line[256];
    unsigned long long kilobytes = 0;
    bool found = false;
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), ": %llu kB", &kilobytes) == 1;
    if (f)
        fclose(f);
    return found ? (uint64_t)kilobytes << 10 : UINT64_MAX;
}

uint64_t limit_room(int64_t step)
{
    uint64_t left = of_groups(bytes_of("/proc/meminfo", "MemAvailable"), true), takers = local_ranks() / (2 * (uint64_t)(step > 0 ? step : 1));
    if (step == 0)
        takers = local_ranks();
    left /= takers > 1 ? takers : 1;
    struct rlimit own;
    uint64_t mine = bytes_of("/proc/self/status", "VmSize");
    if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY && mine < UINT64_MAX) {
        uint64_t rest = own.rlim_cur > mine ? own.rlim_cur - mine : 0;
        left = rest < left ? rest : left;
    }
    return left == UINT64_MAX ? left : left / 2; /* the application may want some, and so may others */
}
