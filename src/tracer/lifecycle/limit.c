/* SPDX-License-Identifier: BSD-3-Clause */
/* limit.c: the memory that the recording of this process and the merge may take, and the end of
 * recording at that limit.
 *
 * At the limit, recording stops in all threads. The call that needs more memory is the first that
 * is not recorded, as if the system had no memory. The recording up to there is merged and written
 * in MPI_Finalize, with the fact that it ends there. */
#include "lifecycle.h"

#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/budget.h"
#include "lib/record/checkpoint-file.h"
#include "process/process.h"
#include "process/settings.h"
#include "process/launcher.h"

/* All ranks of a machine together may take one part in SHARE of its memory. The merge takes about
 * five times the size of the recording. */
enum { SHARE = 16 };
static const uint64_t LEAST = UINT64_C(64) << 20;
/* A merge of at most this size is allowed however much memory the machine has left. Limits still
 * apply. */
static const uint64_t SMALL = UINT64_C(16) << 20;

static void reached(void)
{
    state_break(WEND_ENDED_MEMORY);
}

static Cgroups groups;

/* The number of the job's ranks on this machine, at least 1. */
static uint64_t local_ranks(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN), ranks = launcher_local_size();
    if (ranks <= 0)
        ranks = state()->world_size > 0 && state()->world_size < processors ? state()->world_size
                                                                            : processors;
    return ranks > 0 ? (uint64_t)ranks : 1;
}

static uint64_t share(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    uint64_t of_groups = cgroup_memory(&groups, false);
    uint64_t mine = (of_groups < all ? of_groups : all) / SHARE / local_ranks();
    struct rlimit own;
    if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY
        && own.rlim_cur / SHARE < mine)
        mine = own.rlim_cur / SHARE;
    return mine > LEAST ? mine : LEAST;
}

/* Bytes of address space; UINT64_MAX if there is no limit. */
static uint64_t addresses_left(void)
{
    struct rlimit own;
    uint64_t pages;
    if (getrlimit(RLIMIT_AS, &own) != 0 || own.rlim_cur == RLIM_INFINITY
        || (pages = kernel_number("/proc/self/statm", UINT64_MAX)) == UINT64_MAX)
        return UINT64_MAX;
    uint64_t mine = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return own.rlim_cur > mine ? own.rlim_cur - mine : 0;
}

bool limit_has_addresses(void)
{
    return addresses_left() >= (uint64_t)LIMIT_ADDRESSES_MB << 20;
}

/* Reserves memory to save the recording: a part, and the memory to write it, are less than twice
 * the recording's size. Returns the size of the recording up to which this holds, or 0 if recording
 * must stop, since the last addresses are for the application and MPI. */
static size_t secure_part(size_t held)
{
    enum { FIRST = 1 << 20 };
    if (!limit_has_addresses())
        return 0;
    size_t ahead = held < FIRST ? FIRST : 2 * held;
    if (scratch_reserve(2 * ahead + FIRST))
        return ahead;
    return scratch_reserve(2 * held + FIRST) ? held : 0;
}

void limit_open(void)
{
    long given = settings()->max_memory;
    cgroup_find(&groups, "");
    uint64_t most = given < 0 ? share() : given > 0 ? (uint64_t)given : SIZE_MAX;
    budget_limit(most < SIZE_MAX ? (size_t)most : SIZE_MAX, reached);
    secure_part(0);
    budget_beside(secure_part);
}

/* This process's part of a limit that several processes share. Half of the remaining memory is
 * used, divided by the number of processes that take some in this step. */
static uint64_t part_of(uint64_t left, int64_t step)
{
    uint64_t takers = step > 0 ? local_ranks() / (2 * (uint64_t)step) : local_ranks();
    return left / 2 / (takers > 1 ? takers : 1);
}

uint64_t limit_room(int64_t step)
{
    uint64_t kilobytes = kernel_number_of("/proc/meminfo", "MemAvailable:", UINT64_MAX >> 10);
    uint64_t room = part_of(kilobytes << 10, step);
    uint64_t of_group = part_of(cgroup_memory(&groups, true), step);
    uint64_t addresses = addresses_left() / 2;
    room = room > SMALL ? room : SMALL;
    room = of_group < room ? of_group : room;
    return addresses < room ? addresses : room;
}
