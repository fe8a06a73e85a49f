/* SPDX-License-Identifier: BSD-3-Clause */
/* segment-events.h: notes of the recorder about segments of memory. The interface does not depend
 * on MPI, so tests and benchmarks can use the memory code with events of their own. */
#ifndef WEND_SEGMENT_EVENTS_H
#define WEND_SEGMENT_EVENTS_H

#include <stdint.h>

/* How many objects of a kind a thread makes before a number that another thread gave back is used
 * again. Whether that free came before the next object is made does not depend on the program. Only
 * a thread that is further behind than this changes the recording. */
enum { WEND_LAG = 16 };

/* The number of the calling thread, as in the ids of its handles, in whatever callback it is. -1 if
 * it has none; it gets none by this call. */
int64_t thread_number(void);

/* Records that a used segment is freed: appends wend_free(segment) to the current sequence of this
 * thread, if it has one. Called within the application's free or realloc. */
void segment_event_free(int64_t segment);

/* Records that a block of CUDA's memory got this name: appends a note before the call that is being
 * encoded. DEVICE is -1 if unknown. */
enum memory_place { MEMORY_DEVICE, MEMORY_MANAGED, MEMORY_PINNED };
void segment_event_name(int64_t segment, enum memory_place place, int device);

/* Notes how many modules have been unloaded so far. Other code may be where they were. */
void segment_event_unloaded(unsigned long long modules);

#endif
