/* SPDX-License-Identifier: BSD-3-Clause */
/* hold.c: stops the recorder while the watcher reads the recording, and raises signals that came
 * while a thread was in the recorder. recorder.h has the inline part. */
#include <errno.h>
#include <linux/membarrier.h>

#include "process/process.h"
#include "recorder.h"
#include "sequence.h"

#define SECOND INT64_C(1000000000)
#define HOLD_LIMIT SECOND /* time for threads to leave the recorder */

void recorder_wait(Thread *t)
{
    int saved = errno;
    while (atomic_load(&state()->hold)) {
        atomic_store(&t->busy, false);
        futex_wait(&state()->hold, 1, -1);
        atomic_store(&t->busy, true);
    }
    errno = saved;
}

/* Makes all processors see each other's writes. If the kernel cannot do this, they do so by
 * themselves in much less than this time. */
static void barrier(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0
        && syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) {
        struct timespec t = futex_span(SECOND / 100);
        syscall(SYS_nanosleep, &t, NULL);
    }
}

void recorder_release(void)
{
    atomic_store(&state()->hold, 0);
    futex_wake(&state()->hold);
}

bool recorder_hold(void)
{
    State *s = state();
    int64_t end = (int64_t)clock_nanoseconds() + HOLD_LIMIT;
    atomic_store(&s->hold, 1);
    barrier();
    for (const CallSequence *q = __atomic_load_n(&s->sequences, __ATOMIC_ACQUIRE); q;
         q = __atomic_load_n(&q->next, __ATOMIC_ACQUIRE)) {
        const Thread *t = __atomic_load_n(&q->owner, __ATOMIC_ACQUIRE);
        while (t && atomic_load_explicit(&t->busy, memory_order_acquire)) {
            if ((int64_t)clock_nanoseconds() > end) {
                recorder_release();
                return false; /* the thread has crashed there */
            }
            struct timespec pause = futex_span(20000);
            syscall(SYS_nanosleep, &pause, NULL);
        }
    }
    return true;
}

void recorder_postponed(Thread *t)
{
    int saved = errno, number = atomic_exchange(&t->postponed, 0);
    if (number)
        syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
    errno = saved;
}
