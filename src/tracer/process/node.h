/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h: the processes of this node that were started together with this one, by /proc. C11 and
 * libc alone. */
#ifndef WEND_NODE_H
#define WEND_NODE_H

#include <stdbool.h>
#include <stddef.h>

/* The name of the watcher's thread. top shows it, and other ranks find processes under Wend by
 * it. */
#define NODE_WATCHER_NAME "wend watcher"
/* and of a rank that is at its end, and does not hear of the others (watcher_at_end) */
#define NODE_WATCHER_AT_END "wend at its end"

/* Counts this node's ranks of this job that have a process, those that run under Wend, and those
 * of the latter that are at their end or have no watcher. Finds the first rank that runs under Wend
 * and the first that does not (-1: none). LIBRARY is the file of
 * libwend.so. Returns false if it cannot be determined. The first call, of this or of
 * node_launcher, is for a thread that may read the environment. */
typedef struct {
    int all, with, at_end, first_with, first_without;
} NodeRanks;
bool node_ranks(const char *library, NodeRanks *node);

/* The process that started this node's ranks, which they have in common. -1 if unknown. */
long node_launcher(void);

/* What the launcher calls this job on all its hosts, into ROOM bytes at NAME. Empty: that is not
 * known. For a thread that may read the environment. */
void node_job(char *name, size_t room);

#endif
