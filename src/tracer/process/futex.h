/* SPDX-License-Identifier: BSD-3-Clause */
/* futex.h: waits for a change of a word in memory, by system calls alone. Signal handlers and the
 * watcher may not call functions that take a lock of the C library. */
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

/* Waits while *WORD is VALUE, for at most NS nanoseconds; without limit if NS is negative. It may
 * return early. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
    struct timespec t = futex_span(ns);
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns >= 0 ? &t : NULL, NULL, 0);
}

static inline void futex_wake_one(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* The same for a word that several processes have mapped. */
static inline void futex_wait_shared(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
    struct timespec t = futex_span(ns);
    syscall(SYS_futex, word, FUTEX_WAIT, value, ns >= 0 ? &t : NULL, NULL, 0);
}

static inline void futex_wake_shared(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#endif
