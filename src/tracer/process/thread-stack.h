/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-stack.h: where the stack of a thread is. A thread may also run on memory that the program
 * has made a stack, as coroutines and handlers of signals do.
 *
 * The stack of the main thread grows down, as far as its limit and other mappings allow. Without a
 * limit (ulimit -s unlimited) it could reach the heap. So it is what is mapped, which has all
 * variables that exist, and is looked at again when it may have grown. */
#ifndef WEND_THREAD_STACK_H
#define WEND_THREAD_STACK_H

#include <stdint.h>

typedef struct {
    uintptr_t low, high; /* from LOW up to HIGH; both 0: not known */
    uintptr_t least;     /* it cannot grow below this address */
} ThreadStack;

/* The stack of the calling thread, which libc is asked for once. */
const ThreadStack *thread_stack(void);

/* The same, after a look at the mappings if ADDRESS is where the stack may have grown to. */
const ThreadStack *thread_stack_down_to(uintptr_t address);

#endif
