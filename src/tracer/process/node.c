/* SPDX-License-Identifier: BSD-3-Clause */
/* node.c: see process.h. */
#include "process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

/* Whether a file could not be read for want of memory or file descriptors. Then the result is
 * unknown. */
static bool unreadable;

static void note_failure(void)
{
    unreadable |= errno == ENOMEM || errno == EMFILE || errno == ENFILE;
}

/* /proc/PID/NAME as a whole, with a 0 after it. NULL: the process has ended, is not readable, or
 * resources are short. */
static char *read_proc(long pid, const char *name, size_t *len)
{
    char path[64], *text = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        note_failure();
    *len = 0;
    while (fd >= 0) {
        if (room - *len < 4096) {
            char *more = realloc(text, room = room * 2 + 8192);
            if (!more) {
                unreadable = true;
                break;
            }
            text = more;
        }
        ssize_t n = read(fd, text + *len, room - *len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            close(fd);
            if (n == 0) {
                text[*len] = '\0';
                return text;
            }
            fd = -1;
            break;
        }
        *len += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    free(text);
    return NULL;
}

/* The environment with which a process was started. */
typedef struct {
    char *text;
    size_t len;
} Environment;

static Environment environment_of(long pid)
{
    Environment e;
    e.text = read_proc(pid, "environ", &e.len);
    return e;
}

/* The value of VARIABLE in it; NULL if it is not set. */
static const char *value_in(const Environment *e, const char *variable)
{
    size_t n = strlen(variable);
    for (const char *p = e->text; p && p < e->text + e->len; p += strlen(p) + 1)
        if (strncmp(p, variable, n) == 0 && p[n] == '=')
            return p + n + 1;
    return NULL;
}

/* -1 if there is none. */
static long rank_in(const Environment *e, const char *variable)
{
    const char *value = value_in(e, variable);
    return value ? strtol(value, NULL, 10) : -1;
}

static long rank_of(long pid, const char *variable)
{
    Environment e = environment_of(pid);
    long rank = rank_in(&e, variable);
    free(e.text);
    return rank;
}

/* What the environment says of this process. The application may change its environment while
 * another thread asks, so it is read once. The strings are those that the process began with. */
typedef struct {
    bool read;
    const char *variable;  /* the one that has the rank; NULL: the launcher is not known */
    const char *namespace; /* of PMIx; NULL: it has none */
    const char *world;     /* the name that Wend gave the job; NULL: it has none */
} OwnJob;

static const OwnJob *own_job(void)
{
    static OwnJob job;
    if (!job.read)
        job = (OwnJob){true, launcher_rank_variable(), getenv("PMIX_NAMESPACE"),
                       getenv(LAUNCHER_WORLD)};
    return &job;
}

/* Whether it is the environment of a process of this job. Processes that the application starts
 * (MPI_Comm_spawn) have ranks of their own from 0 on. PMIx, or else Wend, has given them the name
 * of their job. */
static bool is_of_job(const Environment *e)
{
    const char *namespace = own_job()->namespace, *own = namespace ? namespace : own_job()->world;
    const char *its = value_in(e, namespace ? "PMIX_NAMESPACE" : LAUNCHER_WORLD);
    /* the first world has no name */
    return its ? own && strcmp(its, own) == 0 : namespace || !own;
}

/* The state (a letter) and the parent of a process; 0 and 0 if it has ended. */
static void status_of(long pid, char *state, long *parent)
{
    size_t len;
    char *stat = read_proc(pid, "stat", &len);
    /* the program's name may contain any characters */
    const char *after = stat ? strrchr(stat, ')') : NULL;
    if (!after || sscanf(after, ") %c %ld", state, parent) != 2) {
        *state = 0;
        *parent = 0;
    }
    free(stat);
}

/* The process that started the rank of PID: the first without a rank, from PID upwards. */
static long launcher_from(long pid, const char *variable)
{
    char state;
    while (pid > 1 && rank_of(pid, variable) >= 0)
        status_of(pid, &state, &pid);
    return pid;
}

static bool has_mapped(long pid, const char *library)
{
    size_t len;
    char *maps = read_proc(pid, "maps", &len);
    bool found = maps && strstr(maps, library);
    free(maps);
    return found;
}

static bool is_name(const char *text, ssize_t n, const char *name)
{
    return n == (ssize_t)strlen(name) + 1 && strncmp(text, name, strlen(name)) == 0;
}

/* Whether the process has a watcher thread; AT_END is whether that one says so. All ranks of a node
 * ask about all others, and the kernel takes a quarter of a millisecond to list a process's
 * mappings. To list its threads takes a tenth of that, and Wend's is among the first. */
static bool has_watcher(long pid, bool *at_end)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", pid);
    DIR *tasks = opendir(path);
    bool found = false;
    const struct dirent *e;
    if (!tasks)
        note_failure();
    while (tasks && !found && (e = readdir(tasks))) {
        char name[32];
        snprintf(path, sizeof path, "%.20s/comm", e->d_name);
        int fd = isdigit((unsigned char)e->d_name[0])
                     ? openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC)
                     : -1;
        if (fd < 0)
            continue;
        ssize_t n = read(fd, name, sizeof name);
        *at_end = is_name(name, n, NODE_WATCHER_AT_END);
        found = *at_end || is_name(name, n, NODE_WATCHER_NAME);
        close(fd);
    }
    if (tasks)
        closedir(tasks);
    return found;
}

typedef struct {
    long rank;
    bool with, at_end;
} Seen;

/* The rank of PID, if LAUNCHER started it together with this process and it is alive; else -1. */
static long rank_with(long pid, const char *variable, long launcher)
{
    Environment e = environment_of(pid);
    long rank = rank_in(&e, variable), parent;
    char state;
    bool of_job = rank >= 0 && rank <= INT_MAX && is_of_job(&e);
    free(e.text);
    if (!of_job)
        return -1;
    status_of(pid, &state, &parent);
    if (state == 0 || state == 'Z' || state == 'X')
        return -1;
    return parent == launcher || launcher_from(parent, variable) == launcher ? rank : -1;
}

/* Notes a process of a rank. A rank may have several processes (shells, the program): one with the
 * library is enough. */
static bool note(Seen **seen, size_t *n, Seen process)
{
    for (size_t i = 0; i < *n; i++) {
        if ((*seen)[i].rank == process.rank) {
            (*seen)[i].with |= process.with;
            (*seen)[i].at_end |= process.at_end;
            return true;
        }
    }
    Seen *more = realloc(*seen, (*n + 1) * sizeof **seen);
    if (!more)
        return false;
    *seen = more;
    more[(*n)++] = process;
    return true;
}

long node_launcher(void)
{
    const char *variable = own_job()->variable;
    long pid = variable ? launcher_from(getpid(), variable) : -1;
    return pid > 1 ? pid : -1;
}

/* Hydra's process on each host is told where the launcher listens, in its arguments. */
static void hydra_job(char *name, size_t room)
{
    static const char option[] = "--control-port";
    size_t n;
    long pid = node_launcher();
    char *arguments = pid > 0 ? read_proc(pid, "cmdline", &n) : NULL;
    for (const char *p = arguments; p && p < arguments + n; p += strlen(p) + 1)
        if (strcmp(p, option) == 0 && p + sizeof option < arguments + n)
            snprintf(name, room, "%s", p + sizeof option);
    free(arguments);
}

void node_job(char *name, size_t room)
{
    const OwnJob *job = own_job();
    *name = '\0';
    if (job->namespace)
        snprintf(name, room, "%s", job->namespace);
    else if (job->variable)
        hydra_job(name, room);
}

bool node_ranks(const char *library, NodeRanks *node)
{
    const char *variable = own_job()->variable;
    const char *slash = library ? strrchr(library, '/') : NULL;
    unreadable = false;
    DIR *proc = variable && slash ? opendir("/proc") : NULL;
    if (!proc)
        return false;
    Seen *seen = NULL;
    size_t n = 0;
    long own = launcher_from(getpid(), variable);
    bool ok = own > 1;
    const struct dirent *e;
    while (ok && (e = readdir(proc))) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        long pid = atol(e->d_name), rank = rank_with(pid, variable, own);
        bool at_end = false, watched = rank >= 0 && has_watcher(pid, &at_end),
             with = watched || (rank >= 0 && has_mapped(pid, slash));
        if (rank >= 0)
            ok = note(&seen, &n, (Seen){rank, with, with && (at_end || !watched)});
    }
    closedir(proc);
    *node = (NodeRanks){.all = (int)n, .first_with = -1, .first_without = -1};
    for (size_t i = 0; i < n; i++) {
        int *first = seen[i].with ? &node->first_with : &node->first_without;
        node->with += seen[i].with;
        node->at_end += seen[i].at_end;
        if (*first < 0 || seen[i].rank < *first)
            *first = (int)seen[i].rank;
    }
    free(seen);
    return ok && !unreadable;
}
