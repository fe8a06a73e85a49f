/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h: the memory that the control groups of this process allow. Batch systems and containers
 * give a job less memory than the machine has, and the kernel kills a job that takes more. Uses
 * system calls alone, without malloc.
 *
 * It reads both versions of control groups, because a machine may have both. The limit is the
 * smallest of those of the process's group and of all groups around it that are visible. A
 * container sees its own group, and in version 1 the smallest limit of the groups around it. */
#ifndef WEND_CGROUP_H
#define WEND_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CGROUP_PATH = 4096 };

/* The folder of the process's own group, for each version; "" if there is none. Its first TOP bytes
 * are the folder of the outermost visible group. */
typedef struct {
    struct {
        char folder[CGROUP_PATH];
        size_t top;
    } of[2];
} Cgroups;

/* Finds the groups of this process, by /proc/self/cgroup and /proc/self/mountinfo. ROOT is
 * prepended to all file names: "", or a folder of a test. */
void cgroup_find(Cgroups *groups, const char *root);

/* The smallest limit in bytes; with LEFT, the smallest unused amount. Cached files that the kernel
 * would drop do not count as used, since the group of a job that reads much is full of them.
 * UINT64_MAX: there is no limit. */
uint64_t cgroup_memory(const Cgroups *groups, bool left);

#endif
