/* SPDX-License-Identifier: BSD-3-Clause */
/* memory-files.c: see system.h. */
#include "system.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the open files belong to a process of this user. Root can read those of others, who may
 * cut a file that is mapped. */
static bool are_own(DIR *files)
{
    struct stat info;
    return fstat(dirfd(files), &info) == 0 && info.st_uid == geteuid();
}

static void look_at_process(const char *pid, const char *prefix, MemoryFileFound found)
{
    static const char kind[] = "/memfd:";
    const size_t before = sizeof kind - 1, length = before + strlen(prefix);
    char path[320], name[128];
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *files = opendir(path);
    if (!files)
        return; /* the process belongs to another user, or has ended */
    bool own = are_own(files);
    for (struct dirent *d; own && (d = readdir(files)) != NULL;) {
        ssize_t n = readlinkat(dirfd(files), d->d_name, name, sizeof name - 1);
        if (n <= (ssize_t)length)
            continue;
        name[n] = '\0';
        if (strncmp(name, kind, before) == 0 && strncmp(name + before, prefix, length - before) == 0
            && isdigit((unsigned char)name[length]))
            found(strtoul(name + length, NULL, 10), dirfd(files), d->d_name);
    }
    closedir(files);
}

void memory_files_find(const char *prefix, MemoryFileFound found)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    for (struct dirent *d; (d = readdir(proc)) != NULL;)
        if (isdigit((unsigned char)d->d_name[0]))
            look_at_process(d->d_name, prefix, found);
    closedir(proc);
}
