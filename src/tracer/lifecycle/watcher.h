/* SPDX-License-Identifier: BSD-3-Clause */
/* watcher.h: a thread of Wend that saves this rank's part (parts.h): each WEND_CHECKPOINT seconds,
 * when this process is about to end, and when another process of this host announces its end. */
#ifndef WEND_WATCHER_H
#define WEND_WATCHER_H

#include <stdbool.h>

void watcher_open(void);  /* once, after MPI_Init, when rank 0 has its directory */
void watcher_quiet(void); /* no more checkpoints, because the merge begins */
/* shows the other ranks of the host that this one is at its end (node.h) */
void watcher_at_end(void);
/* ends the thread, because the recording is closed. A program may end with its last thread */
void watcher_close(void);
void watcher_in_child(void); /* after a fork: the child has no watcher */

/* Saves the part, with the way in which the process ends ("": in MPI_Finalize), and waits for that,
 * for some seconds at most. ALL: the host's other ranks save their parts, too, because the launcher
 * is likely to kill them next. May be called in signal handlers. Returns false if the part is not
 * saved. */
bool watcher_save(const char *ended, bool all);

/* The printable directory, if this process is the one that prints it for all ranks. NULL if there
 * is none, or another rank has printed it. May be called in signal handlers. */
const char *watcher_news(void);

#endif
