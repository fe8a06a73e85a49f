/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-start.h: what a thread has before its first call is recorded. */
#ifndef WEND_THREAD_START_H
#define WEND_THREAD_START_H

struct Thread;
/* State's thread_new. NULL: no memory, and recording has stopped; or there is nothing to record
 * here. */
struct Thread *thread_start(void);

#endif
