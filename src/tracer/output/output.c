/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c: the name and directory of the recording. A directory that is not empty is refused; with
 * WEND_FORCE, one that has other files than those of a recording (output.h). */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/record/record.h"
#include "process/settings.h"
#include "process/launcher.h"

static char *directory;
static bool made; /* by this process */
static char *world_file;
/* the folder for parts, made to claim the directory for this job */
static char *claimed;

static char *format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *pattern, ...)
{
    char *s = NULL;
    va_list args;
    va_start(args, pattern);
    if (vasprintf(&s, pattern, args) < 0)
        s = NULL;
    va_end(args);
    return s;
}

const char *output_job(void)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID",    "LSB_JOBID",
                                            "JOB_ID",       "COBALT_JOBID", "FLUX_JOB_ID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *job = getenv(variables[i]);
        if (job && *job)
            return job;
    }
    return NULL;
}

char *output_default_name(void)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    const char *job = output_job();
    char *name = job ? format(OUTPUT_PREFIX "%s-%s-%s", program_invocation_short_name, job, stamp)
                     : format(OUTPUT_PREFIX "%s-%ld-%s", program_invocation_short_name,
                              (long)getpid(), stamp);
    for (char *p = name; p && *p; p++)
        if (*p == '/')
            *p = '_';
    return name;
}

/* Makes the path absolute, because the application may change its directory. */
static char *absolute(char *name)
{
    if (!name || *name == '/')
        return name;
    char *here = getcwd(NULL, 0);
    char *path = here ? format("%s/%s", here, name) : NULL;
    free(here);
    free(name);
    return path;
}

static bool make_parents(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
        *p = '/';
        if (!ok)
            return false;
    }
    return true;
}

static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return false;
    const struct dirent *e;
    bool empty = true;
    while (empty && (e = readdir(d)))
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    closedir(d);
    return empty;
}

/* Whether NAME is the archive of a further world, or remains of a run that died. */
static bool is_of_recording(const char *name)
{
    size_t n = strlen(name), suffix = strlen(WEND_CHECKPOINT_SUFFIX);
    return strncmp(name, WORLD_FILE_PREFIX, strlen(WORLD_FILE_PREFIX)) == 0
           || (n > suffix && strcmp(name + n - suffix, WEND_CHECKPOINT_SUFFIX) == 0);
}

/* -- several jobs under one wend trace: a script runs mpirun twice, one after the other or at once.
 * Each job has a recording of its own: DIR, DIR-2, DIR-3. -- */

/* Whether NAME belongs to a recording. The marker does, too: it is the first file. */
static bool is_ours(const char *name)
{
    return strcmp(name, MARKER_FILE) == 0 || strcmp(name, "trace" WORLD_FILE_SUFFIX) == 0
           || is_of_recording(name);
}

static bool has_entry(const char *path, bool (*wanted)(const char *name))
{
    DIR *d = opendir(path);
    const struct dirent *e;
    bool found = false;
    while (d && !found && (e = readdir(d)))
        found = wanted(e->d_name);
    if (d)
        closedir(d);
    return found;
}

/* Whether the recording at PATH was made under this wend trace, which began at the last number of
 * WEND_TOP, in nanoseconds since the epoch. */
static bool is_recording_of_this_trace(const char *path)
{
    const char *top = getenv("WEND_TOP");
    long long since;
    struct stat info;
    return top && sscanf(top, "%*d:%*d:%lld", &since) == 1 && stat(path, &info) == 0
           && info.st_mtim.tv_sec * 1000000000LL + info.st_mtim.tv_nsec >= since
           && has_entry(path, is_ours);
}

/* Whether another job has claimed PATH. Two jobs may choose one name at the same time: the job that
 * makes the folder of parts has it. */
static bool is_claimed_by_another(const char *path)
{
    claimed = format("%s/" WEND_CHECKPOINT_FOLDER, path);
    if (!claimed || mkdir(claimed, 0777) == 0)
        return false;
    bool taken = errno == EEXIST;
    free(claimed);
    claimed = NULL;
    return taken;
}

static bool is_there(const char *directory, const char *world, const char *suffix)
{
    char *path = format("%s/" WORLD_FILE_PREFIX "%s%s", directory, world, suffix);
    bool there = !path || access(path, F_OK) == 0;
    free(path);
    return there;
}

/* Lists the archive and the folder of parts of this world in the marker. If that fails, a later
 * --force does not remove them. */
static void mark_world(void)
{
    size_t n = strlen(world_file) - strlen(WORLD_FILE_SUFFIX);
    char *parts = format("%.*s" WEND_CHECKPOINT_SUFFIX, (int)n, world_file);
    if (parts)
        marker_add(directory, parts);
    marker_add(directory, world_file);
    free(parts);
}

/* Prepares the archive beside that of the world that started this one. Its name is the one that the
 * starting world gave, or else one that sorts by time. */
static bool open_spawned(const char *path)
{
    struct timespec now;
    if (mkdir(path, 0777) == 0)
        made = true;
    else if (errno != EEXIST)
        return false;
    const char *name = launcher_world();
    clock_gettime(CLOCK_REALTIME, &now);
    if (name && !is_there(path, name, WORLD_FILE_SUFFIX)
        && !is_there(path, name, WEND_CHECKPOINT_SUFFIX))
        world_file = format(WORLD_FILE_PREFIX "%s" WORLD_FILE_SUFFIX, name);
    else
        world_file = format(WORLD_FILE_PREFIX "%lld.%09ld-%ld" WORLD_FILE_SUFFIX,
                            (long long)now.tv_sec, now.tv_nsec, (long)getpid());
    directory = world_file ? strdup(path) : NULL;
    if (directory)
        mark_world();
    return directory != NULL;
}

/* Makes the directory at PATH, for the first world. Returns false on failure, with the reason in
 * *PROBLEM (NULL: no memory). */
static bool open_first(const char *path, char **problem)
{
    struct stat info;
    const char *taken = "exists: give another name, or --force to replace it";
    char *foreign = NULL;
    int unreadable = 0;
    if (mkdir(path, 0777) == 0)
        made = true;
    else if (errno != EEXIST)
        *problem = format("%s: %s", path, strerror(errno));
    else if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        *problem = format("%s: exists and is not a directory", path);
    else if (!settings()->force && !is_empty(path))
        *problem = format("%s: %s", path, taken);
    else if ((foreign = marker_foreign(path, &unreadable)))
        *problem = format("%s: " MARKER_REFUSAL, path, foreign);
    else if (unreadable)
        *problem = format("%s: %s", path, strerror(unreadable));
    else if (access(path, W_OK | X_OK) != 0)
        *problem = format("%s: %s", path, strerror(errno));
    free(foreign);
    if (*problem)
        return false;
    if (!made && settings()->force)
        marker_remove(path);
    marker_add(path, WEND_CHECKPOINT_FOLDER);
    marker_add(path, "trace" WORLD_FILE_SUFFIX);
    if (is_claimed_by_another(path)) { /* the other job has the same names in the marker */
        made = false;
        *problem = format("%s: %s", path, taken);
        return false;
    }
    return (directory = strdup(path)) != NULL;
}

char *output_open(bool spawned, char **problem)
{
    const char *given = settings()->output;
    char *path = absolute(given ? strdup(given) : output_default_name());
    *problem = NULL;
    if (!path)
        return NULL;
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    if (!make_parents(path) || (spawned && given && !open_spawned(path)))
        *problem = format("%s: %s", path, strerror(errno));
    bool searching = !directory && !*problem;
    for (int job = 1; searching; job++) {
        char *name = job == 1 ? strdup(path) : format("%s" OUTPUT_NEXT "%d", path, job);
        searching =
            name
            && (is_recording_of_this_trace(name)
                || (!open_first(name, problem) && *problem && is_recording_of_this_trace(name)));
        if (searching) { /* another job has taken the name, perhaps just now */
            free(*problem);
            *problem = NULL;
        }
        free(name);
    }
    free(path);
    return directory;
}

static bool is_other(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, MARKER_FILE) != 0;
}

void output_abandon(void)
{
    if (claimed)
        rmdir(claimed);
    if (!directory || !made)
        return;
    char *marker = format("%s/" MARKER_FILE, directory);
    if (rmdir(directory) != 0 && marker && !has_entry(directory, is_other)) {
        unlink(marker);
        rmdir(directory);
    }
    free(marker);
}

bool output_is_claimed(void)
{
    return claimed != NULL;
}

const char *output_file(void)
{
    return world_file;
}

const char *output_directory(void)
{
    return directory;
}
