/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h: how much memory the control groups of this process allow. Batch systems and containers
 * give a job less than the machine has; beyond that the kernel kills. By system calls alone,
 * without malloc.
 *
 * Both versions of the kernel's groups are looked at, for a machine may have both. The limit is the
 * least of those of the process's group and of the groups around it, as far as they can be seen:
 * a container sees its own, and in version 1 the least of those around it. */
#ifndef WEND_CGROUP_H
#define WEND_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CGROUP_PATH = 4096 };

/* Where the groups' files are, for each version: the folder of the process's own group, "" if there
 * is none. Its first TOP bytes lead to the outermost group that can be seen. */
typedef struct {
    struct {
        char folder[CGROUP_PATH];
        size_t top;
    } of[2];
} Cgroups;

/* Finds the groups of this process, by /proc/self/cgroup and /proc/self/mountinfo. ROOT is put
 * before the names of all files: "", and for tests a folder with files of theirs. */
void cgroup_find(Cgroups *groups, const char *root);

/* The least limit, in bytes; with LEFT, the least of what is not used of each. Files that the
 * kernel keeps for a group and would drop are not counted as used: a job that reads much has its
 * group full of them. UINT64_MAX: there is no limit. */
uint64_t cgroup_memory(const Cgroups *groups, bool left);

#endif
