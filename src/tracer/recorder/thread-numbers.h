/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-numbers.h: numbers of threads. */
#ifndef WEND_THREAD_NUMBERS_H
#define WEND_THREAD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Counts threads that are created from now on, which may be the application's. Call it when the
 * library is loaded. */
void thread_numbers_open(void);
/* The number of the calling thread. Call it once for a thread, with threads_lock held. IS_FIRST: it
 * is the first thread of the process that calls MPI. */
uint32_t thread_number_new(bool is_first);
/* The number of the calling thread by its creation (thread-birth.h); 0: the initial
 * thread. A signal handler may ask. False: it is no thread of the application. */
bool thread_number_birth(uint32_t *birth);
/* The number of the thread with that birth, as it is known so far. */
uint32_t thread_number_of(uint32_t birth);
/* Whether some thread has another number than by the count of all threads, or was created or joined
 * by another function than pthread_create and pthread_join, or its number in a join is not that of
 * its creation. A replay knows no more than these if the recording does not say so. */
bool thread_numbers_by_creator(void);

#endif
