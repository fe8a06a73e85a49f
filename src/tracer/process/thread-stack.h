/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-stack.h: where the stack of a thread is. A thread may also run on memory that the program
 * has made a stack, as coroutines and handlers of signals do. */
#ifndef WEND_THREAD_STACK_H
#define WEND_THREAD_STACK_H

#include <stdint.h>

typedef struct {
    uintptr_t low, high; /* from LOW up to HIGH; both 0: not known */
} ThreadStack;

/* The stack of the calling thread, which libc is asked for once. */
const ThreadStack *thread_stack(void);

#endif
