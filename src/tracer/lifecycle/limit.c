/* limit.c: how much memory the recording of this process may hold, and the merge may take, and what happens then.
 *
 * The recording stops, in all threads: the call that wanted more is the first that is not in it, as with a shortage of the system's. What there is is merged and
 * written at MPI_Finalize, with the fact that it ends there. */
#include "lifecycle.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/budget.h"
#include "lib/saved.h"
#include "process/process.h"
#include "shared/shared.h"

enum { SHARE = 16 };                  /* of the machine's memory, for all of its ranks: one part in so many. The merge takes about five times what is recorded */
static const uint64_t LEAST = UINT64_C(64) << 20;
/* a merge of no more than that is no matter, whatever the machine says that it has left: a limit
 * is another thing */
static const uint64_t SMALL = UINT64_C(16) << 20;
/* Addresses that the recorder leaves to others, if there is a limit. MPI maps 4 to 8 MB (MPICH with
 * UCX) when it makes a communicator, and was seen to hang with 50 MB left. */
static const uint64_t OTHERS = UINT64_C(64) << 20;

static void reached(void)
{
    state_break(WEND_ENDED_MEMORY);
}

/* What the kernel says in a file, which is short, as text. No malloc: this is asked when there
 * is nothing left. */
enum { TEXT_ROOM = 8 << 10 };
static bool read_text(const char *path, char text[TEXT_ROOM])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t more = 0;
    while (fd >= 0 && n < TEXT_ROOM - 1 && (more = read(fd, text + n, TEXT_ROOM - 1 - n)) > 0)
        n += (size_t)more;
    if (fd >= 0)
        close(fd);
    text[n] = '\0';
    return fd >= 0 && more >= 0;
}

static bool number_at(const char *text, uint64_t *n)
{
    char *end;
    text += strspn(text, " \t");
    *n = strtoull(text, &end, 10);
    return end > text;
}

/* The number that a file begins with; MOST where there is none ("max"), or it is higher. */
static uint64_t number_in(const char *path, uint64_t most)
{
    char text[TEXT_ROOM];
    uint64_t n;
    return read_text(path, text) && number_at(text, &n) && n < most ? n : most;
}

/* The number that KEY has in a file of lines "KEY 123" or "KEY: 123 kB"; OTHERWISE: it is not there. */
static uint64_t number_of(const char *path, const char *key, uint64_t otherwise)
{
    char text[TEXT_ROOM];
    size_t length = strlen(key);
    uint64_t n;
    if (!read_text(path, text))
        return otherwise;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == '\t')
            && number_at(line + length, &n))
            return n;
    }
    return otherwise;
}

/* What a control group uses, but for files that the kernel keeps for it and would drop: a job that reads much has its group full of them. */
static uint64_t used_by_group(const char *folder, bool unified)
{
    char path[4096 + 128];
    snprintf(path, sizeof path, unified ? "%s/memory.current" : "%s/memory.usage_in_bytes", folder);
    uint64_t used = number_in(path, UINT64_MAX), files;
    if (used == UINT64_MAX)
        return 0;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    files = number_of(path, unified ? "inactive_file" : "total_inactive_file", 0) + number_of(path, unified ? "active_file" : "total_active_file", 0);
    return used > files ? used - files : 0;
}

/* Batch systems and containers give a job less than the machine has: the control group of this process, or one around it (both versions of the kernel's). LEFT: what is not used of it. */
static uint64_t of_groups(uint64_t most, bool left)
{
    char text[TEXT_ROOM], folder[4096 + 64], path[4096 + 128];
    if (!read_text("/proc/self/cgroup", text))
        return most;
    /* "0::/some/group", or "4:memory:/some/group" */
    for (char *line = text, *rest; *line; line = rest) {
        rest = line + strcspn(line, "\n");
        if (*rest)
            *rest++ = '\0';
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        bool unified = names[1] == '\0';
        if (!unified && strcmp(names + 1, "memory") != 0)
            continue;
        for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
            *end = '\0';
            snprintf(folder, sizeof folder, unified ? "/sys/fs/cgroup%s" : "/sys/fs/cgroup/memory%s", group);
            snprintf(path, sizeof path, unified ? "%s/memory.max" : "%s/memory.limit_in_bytes", folder);
            uint64_t all = number_in(path, UINT64_MAX), used = left && all < UINT64_MAX ? used_by_group(folder, unified) : 0;
            used = used < all ? used : all;
            most = all - used < most ? all - used : most;
        }
    }
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

/* Bytes; UINT64_MAX: there is no limit. */
static uint64_t addresses_left(void)
{
    struct rlimit own;
    uint64_t pages;
    if (getrlimit(RLIMIT_AS, &own) != 0 || own.rlim_cur == RLIM_INFINITY
        || (pages = number_in("/proc/self/statm", UINT64_MAX)) == UINT64_MAX)
        return UINT64_MAX;
    uint64_t mine = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return own.rlim_cur > mine ? own.rlim_cur - mine : 0;
}

bool limit_has_addresses(void)
{
    return addresses_left() >= OTHERS;
}

/* What the rank has recorded can be saved whatever comes: a part, and what it takes to write it,
 * is less than twice what is held. The last addresses are the application's, and MPI's. */
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
    uint64_t most = given < 0 ? share() : given > 0 ? (uint64_t)given : SIZE_MAX;
    wend_budget_limit(most < SIZE_MAX ? (size_t)most : SIZE_MAX, reached);
    secure_part(0);
    wend_budget_beside(secure_part);
}

/* A limit that holds for this process and others: half of what is left of it, and of that what
 * is this one's while so many take some. */
static uint64_t part_of(uint64_t left, int64_t step)
{
    uint64_t takers = step > 0 ? local_ranks() / (2 * (uint64_t)step) : local_ranks();
    return left / 2 / (takers > 1 ? takers : 1);
}

uint64_t limit_room(int64_t step)
{
    uint64_t kilobytes = number_of("/proc/meminfo", "MemAvailable:", UINT64_MAX >> 10);
    uint64_t room = part_of(kilobytes << 10, step);
    uint64_t of_group = part_of(of_groups(UINT64_MAX, true), step);
    uint64_t addresses = addresses_left() / 2;
    room = room > SMALL ? room : SMALL;
    room = of_group < room ? of_group : room;
    return addresses < room ? addresses : room;
}
