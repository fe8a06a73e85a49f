/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-birth.h: the birth of a thread, which is the number that it has by its creation.
 *
 * It follows from the birth of its creator, and from how many threads that one had created. So it
 * is the same in each run, in whatever order several threads create others. The births of the first
 * 999 threads of the initial thread are 1 to 999, in the order of their creation. All others are
 * from 1,000 on: these enumerate the pairs (creator, n), by the product of the two. Few creators
 * may have many threads then, and many creators a few. */
#ifndef WEND_THREAD_BIRTH_H
#define WEND_THREAD_BIRTH_H

#include <stdbool.h>
#include <stdint.h>

/* Births, and so the numbers of threads, are below this (FIRST_CALLBACK_TID). */
#define THREADS_MOST (UINT32_C(1) << 24)
/* The creator of threads whose creation was not seen: they count as they call MPI first. */
#define CREATOR_UNKNOWN UINT32_MAX

/* The birth of the N-th thread, from 1, that the thread with birth CREATOR creates. 0: it would
 * be too large. */
uint32_t thread_birth(uint32_t creator, uint32_t n);

#endif
