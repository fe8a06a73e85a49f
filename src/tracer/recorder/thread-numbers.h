/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-numbers.h: numbers of threads. */
#ifndef WEND_THREAD_NUMBERS_H
#define WEND_THREAD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* When the library is loaded: threads that are created from now on may be the application's. */
void threads_open(void);
/* Of the calling thread, once, with threads_lock held. IS_FIRST: it is the first of the process
 * that calls MPI. */
uint32_t thread_number_new(bool is_first);

#endif
