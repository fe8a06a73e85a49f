/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-numbers.c: numbers of threads.
 *
 * A thread's number is in the words of all that it makes, so it must not depend on which of several
 * threads happens to call MPI first. Threads are counted as the application creates them: one
 * thread usually creates the others, and its order is the program's. 0 is the thread that calls MPI
 * first. Threads that never call MPI leave gaps. */
#include "thread-numbers.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "functions.gen.h"
#include "recorder.h"

static _Atomic uint32_t created; /* by the application, so far */
/* what the thread that has number 0 was created as */
static uint32_t first;
/* 0: the initial thread, or it was not seen */
static __thread __attribute__((tls_model("initial-exec"))) uint32_t created_as;
/* a thread of MPI's or of Wend's own */
static __thread __attribute__((tls_model("initial-exec"))) bool not_counted;

static bool counting;

void threads_open(void)
{
    counting = true;
}

uint32_t thread_number_new(bool is_first)
{
    uint32_t number = created_as;
    if (number == 0 && gettid() != getpid())
        number = atomic_fetch_add(&created, 1) + 1; /* the C library's own thrd_create, or clone */
    if (is_first) {
        first = number;
        return 0;
    }
    return number == 0 ? first : number;
}

/* Those that are not joined yet, by what the C library calls them. */
typedef struct {
    pthread_t thread;
    uint32_t number;
} Created;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static struct {
    Created *at;
    size_t n, cap;
} unjoined;

static bool same_thread(size_t i, pthread_t thread)
{
    return pthread_equal(unjoined.at[i].thread, thread);
}

/* Takes out THREAD; 0: it is not there. */
static uint32_t take(pthread_t thread)
{
    for (size_t i = unjoined.n; i-- > 0;)
        if (same_thread(i, thread)) {
            uint32_t number = unjoined.at[i].number;
            unjoined.at[i] = unjoined.at[--unjoined.n];
            return number;
        }
    return 0;
}

static void remember(pthread_t thread, uint32_t number)
{
    pthread_mutex_lock(&lock);
    take(thread); /* detached, and its name is given again */
    if (unjoined.n == unjoined.cap) {
        size_t cap = unjoined.cap ? 2 * unjoined.cap : 16;
        Created *grown = realloc(unjoined.at, cap * sizeof *grown);
        if (grown) {
            unjoined.at = grown;
            unjoined.cap = cap;
        }
    }
    if (unjoined.n < unjoined.cap)
        unjoined.at[unjoined.n++] = (Created){thread, number};
    pthread_mutex_unlock(&lock);
}

/* Where threads may call MPI, readers learn when they begin and end: what they do in between is in
 * an order with what their creator does. */
static void tell(int function, uint32_t number)
{
    int64_t word = number;
    if (number != 0 && state()->thread_level >= MPI_THREAD_SERIALIZED && !state()->finished)
        call_pseudo(function, &word, 1, NULL, 0);
}

typedef struct ThreadStart {
    struct ThreadStart *next;
    void *(*function)(void *);
    void *argument;
    uint32_t number; /* 0: it is not the application's */
} ThreadStart;

/* Of threads that run. A free() of theirs may be the thread's first, for which the C library sets
 * 64 MB of addresses aside: who creates the next one frees them. */
static ThreadStart *_Atomic started;

static void free_started(void)
{
    for (ThreadStart *s = atomic_exchange(&started, NULL), *next; s; s = next) {
        next = s->next;
        free(s);
    }
}

static void *start(void *p)
{
    ThreadStart s = *(ThreadStart *)p, *own = p;
    own->next = atomic_load(&started);
    while (!atomic_compare_exchange_weak(&started, &own->next, own))
        ;
    created_as = s.number;
    not_counted = s.number == 0;
    return s.function(s.argument);
}

/* Threads of MPI's and of Wend's own are not the application's, nor are those that they create, nor
 * those of libraries' constructors (UCX has one there): Wend's own is among the last, that of the
 * program comes after it. */
static bool is_own(void *(*function)(void *))
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
        _end[] __attribute__((visibility("hidden")));
    return !counting || not_counted || (wend_thread && wend_thread->inside)
           || ((uintptr_t)function >= (uintptr_t)__ehdr_start
               && (uintptr_t)function < (uintptr_t)_end);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*function)(void *), void *argument)
{
    static int (*_Atomic real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    free_started();
    ThreadStart *s = malloc(sizeof *s);
    if (!s)
        return real(thread, attributes, function, argument);
    uint32_t number = is_own(function) ? 0 : atomic_fetch_add(&created, 1) + 1;
    *s = (ThreadStart){NULL, function, argument, number};
    tell(WEND_FN_wend_start, number);
    int rc = real(thread, attributes, start, s);
    if (rc != 0)
        free(s);
    else if (number != 0)
        remember(*thread, number);
    return rc;
}

__attribute__((visibility("default"))) int pthread_join(pthread_t thread, void **result)
{
    static int (*_Atomic real)(pthread_t, void **);
    if (!real)
        real = (int (*)(pthread_t, void **))dlsym(RTLD_NEXT, "pthread_join");
    int rc = real(thread, result);
    if (rc == 0) {
        pthread_mutex_lock(&lock);
        uint32_t number = take(thread);
        pthread_mutex_unlock(&lock);
        tell(WEND_FN_wend_join, number);
    }
    return rc;
}
