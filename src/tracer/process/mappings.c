/* SPDX-License-Identifier: BSD-3-Clause */
/* mappings.c: see system.h. */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Parses lines "low-high perms …" in ascending order, with lower-case hexadecimal numbers. Reads a
 * page of the file at a time, without allocation. */
bool mappings_find(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    *low = *high = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    enum { LOW, HIGH, REST } part = LOW;
    uintptr_t bounds[2] = {0, 0};
    bool found = false, passed = false;
    char page[4096];
    ssize_t n;
    while (!found && !passed
           && ((n = read(fd, page, sizeof page)) > 0 || (n < 0 && errno == EINTR)))
        for (ssize_t i = 0; i < n && !found && !passed; i++) {
            char c = page[i];
            if (c == '\n') {
                part = LOW;
                bounds[0] = bounds[1] = 0;
            } else if (part == LOW && c == '-') {
                part = HIGH;
                passed = address < bounds[0];
            } else if (part == HIGH && c == ' ') {
                part = REST;
                found = address < bounds[1];
                *low = found ? bounds[0] : bounds[1];
            } else if (part != REST) {
                bounds[part] = bounds[part] << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
            }
        }
    close(fd);
    /* after the last mapping no gap is known */
    *high = found ? bounds[1] : passed ? bounds[0] : *low;
    return found;
}

/* -- the stack of a thread -- */

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
