/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h: lets MPI make progress without communication, where Wend waits for what other
 * processes do. They may need this one to complete their operations. */
#ifndef WEND_PROGRESS_H
#define WEND_PROGRESS_H

/* Any thread may call it while MPI runs. Returns at once if another thread does the same. */
void progress_make(void);
/* When the application has made its last call, and MPI still runs. */
void progress_close(void);

#endif
