/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-start.h: prepares a thread before its first call is recorded. */
#ifndef WEND_THREAD_START_H
#define WEND_THREAD_START_H

struct Thread;
/* The function for thread_new of State. Returns NULL if nothing is to be recorded here, or if
 * memory is short, in which case recording has stopped. */
struct Thread *thread_start(void);

#endif
