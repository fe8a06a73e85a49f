/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-stack.c: see thread-stack.h. */
#include "thread-stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static ThreadStack ask(void)
{
    pthread_attr_t a;
    void *low;
    size_t size;
    ThreadStack stack = {0, 0};
    int saved = errno;
    if (pthread_getattr_np(pthread_self(), &a) == 0) {
        if (pthread_attr_getstack(&a, &low, &size) == 0)
            stack = (ThreadStack){(uintptr_t)low, (uintptr_t)low + size};
        pthread_attr_destroy(&a);
    }
    errno = saved;
    return stack;
}

const ThreadStack *thread_stack(void)
{
    static __thread ThreadStack mine;
    static __thread bool asked;
    if (__builtin_expect(!asked, 0)) {
        asked = true;
        mine = ask();
    }
    return &mine;
}
