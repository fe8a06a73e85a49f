/* SPDX-License-Identifier: BSD-3-Clause */
/* futex.h: to wait for a word of memory to change, by system calls alone: handlers of signals, and
 * the watcher, may not call what takes a lock of the C library's. */
#ifndef WEND_FUTEX_H
#define WEND_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline struct timespec futex_span(int64_t ns)
{
    return (struct timespec){ns / INT64_C(1000000000), ns % INT64_C(1000000000)};
}

/* While *WORD is VALUE, for NS nanoseconds at most; negative: for ever. It may return earlier. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
    struct timespec t = futex_span(ns);
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns >= 0 ? &t : NULL, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

#endif
