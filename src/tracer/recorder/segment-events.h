/* SPDX-License-Identifier: BSD-3-Clause */
/* segment-events.h: what the recorder notes of segments of memory, for who knows them. It knows
 * nothing of MPI, so that tests and benchmarks can have the memory by itself, with events of their
 * own. */
#ifndef WEND_SEGMENT_EVENTS_H
#define WEND_SEGMENT_EVENTS_H

#include <stdint.h>

/* What a thread has made, or named, and another has freed: whether that was in time for the next
 * thing that the first one makes is not the program's doing. So a number that another thread gave
 * back does not come again before its maker has made so many more of its kind. A thread that is
 * further behind leaves its mark. */
enum { WEND_LAG = 16 };

/* Number of the calling thread as in its handles' ids, whatever callback it is in. -1: it has none
 * yet, and gets none by this. */
int64_t thread_number(void);

/* A used segment is freed: wend_free(segment) is appended to the sequence that this thread's calls
 * go to now; nothing if the thread has none. Called within the application's free or realloc. */
void segment_event_free(int64_t segment);

/* A block of CUDA's memory has got this name: appended likewise, before the call that is being put
 * together. DEVICE: -1, not known. */
enum memory_place { MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_PINNED };
void segment_event_name(int64_t segment, enum memory_place place, int device);

#endif
