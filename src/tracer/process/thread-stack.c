/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-stack.c: see thread-stack.h. */
#include "thread-stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mappings.h"

static __thread ThreadStack mine;

/* Extends the stack down to the mapping of ADDRESS if no gap is between the two. The program may
 * have divided the stack's mapping by other permissions. */
static void extend(uintptr_t address)
{
    uintptr_t low, high, next_low, next_high;
    if (!mappings_find(address, &low, &high))
        return;
    while (high < mine.low && mappings_find(high, &next_low, &next_high))
        high = next_high;
    if (high >= mine.low)
        mine.low = low;
    else
        mine.least = high;
}

/* The main thread's stack is what is mapped below its beginning. */
static void ask_mappings(void)
{
    uintptr_t low, high;
    mine.low = mine.high;
    while (mappings_find(mine.low - 1, &low, &high))
        mine.low = low;
    mine.least = low; /* where the gap begins */
}

static void ask(void)
{
    pthread_attr_t a;
    void *low;
    size_t size;
    int saved = errno;
    if (pthread_getattr_np(pthread_self(), &a) == 0) {
        if (pthread_attr_getstack(&a, &low, &size) == 0)
            mine = (ThreadStack){(uintptr_t)low, (uintptr_t)low + size, /* least */ (uintptr_t)low};
        pthread_attr_destroy(&a);
    }
    if (mine.high != 0 && syscall(SYS_gettid) == getpid())
        ask_mappings();
    errno = saved;
}

const ThreadStack *thread_stack(void)
{
    static __thread bool asked;
    if (__builtin_expect(!asked, 0)) {
        asked = true;
        ask();
    }
    return &mine;
}

const ThreadStack *thread_stack_down_to(uintptr_t address)
{
    const ThreadStack *stack = thread_stack();
    if (address < stack->low && address >= stack->least) {
        int saved = errno;
        extend(address);
        errno = saved;
    }
    return stack;
}
