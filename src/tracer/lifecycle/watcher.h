/* SPDX-License-Identifier: BSD-3-Clause */
/* watcher.h: a thread of Wend's own that saves this rank's part (parts.h): each WEND_CHECKPOINT
 * seconds, when this process is about to end, and when another one of this host says that it is. */
#ifndef WEND_WATCHER_H
#define WEND_WATCHER_H

#include <stdbool.h>

void watcher_open(void);  /* after MPI_Init, when rank 0 has its directory; once */
void watcher_quiet(void); /* the merge begins: no more checkpoints */
/* the recording is closed: the thread ends. A program may end with its last thread */
void watcher_close(void);
void watcher_in_child(void); /* after a fork: the child has none */

/* Has the part saved, with how the process ends ("": in MPI_Finalize), and waits for it for some
 * seconds at most. ALL: the host's other ranks save theirs too, for what starts them is likely to
 * kill them next. For signal handlers as well. False: it is not saved. */
bool watcher_save(const char *ended, bool all);

/* For this process to tell the user, once for all ranks: the directory as it may be printed; NULL:
 * there is none, or another rank has said it. Also in handlers. */
const char *watcher_news(void);

#endif
