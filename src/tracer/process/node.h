/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h: the processes of this node that were started with this one, by /proc. C11 and libc
 * alone. */
#ifndef WEND_NODE_H
#define WEND_NODE_H

#include <stdbool.h>

/* Of the watcher's thread: top shows it, and other ranks see by it that a process runs under
 * Wend. */
#define NODE_WATCHER_NAME "wend watcher"

/* This node's ranks of this job: how many run under Wend, the first of them, and the first that
 * does not; -1: there is none. LIBRARY: libwend.so's file. False: nothing is known. */
typedef struct {
    int with, first_with, first_without;
} NodeRanks;
bool node_ranks(const char *library, NodeRanks *node);

/* The process that started this node's ranks, which they have in common; -1: not known. */
long node_launcher(void);

#endif
