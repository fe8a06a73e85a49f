/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-numbers.c: numbers of threads.
 *
 * A thread's number is in the words of all objects that it makes. So it must not depend on which of
 * several threads calls MPI first. Threads are counted as the application creates them: usually one
 * thread creates the others, in an order that the program determines. Number 0 is the thread that
 * calls MPI first. Threads that never call MPI leave gaps. */
#include "thread-numbers.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "functions.gen.h"
#include "recorder.h"

static _Atomic uint32_t created; /* number of threads that the application has created */
/* the count of the thread that has number 0 */
static uint32_t first;
/* 0: the initial thread, or its creation was not seen */
static __thread __attribute__((tls_model("initial-exec"))) uint32_t created_as;
/* a thread of MPI or of Wend */
static __thread __attribute__((tls_model("initial-exec"))) bool not_counted;

static bool counting;

void thread_numbers_open(void)
{
    counting = true;
}

static void note_created(void)
{
    State *s = state();
    if (atomic_exchange(&s->threaded, true))
        return;
    state_order_threads();
}

bool thread_number_birth(uint32_t *birth)
{
    if (created_as == 0 && gettid() != getpid()) {
        /* made by the C library's own thrd_create, or by clone */
        created_as = atomic_fetch_add(&created, 1) + 1;
        note_created();
    }
    *birth = created_as;
    return !not_counted;
}

uint32_t thread_number_of(uint32_t birth)
{
    return birth == first ? 0 : birth == 0 ? first : birth;
}

uint32_t thread_number_new(bool is_first)
{
    uint32_t birth;
    thread_number_birth(&birth);
    if (is_first)
        first = birth;
    return thread_number_of(birth);
}

/* Threads that are not joined yet, by the C library's identifier. */
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

/* Removes THREAD, and returns its number; 0 if it is not in the list. */
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
    take(thread); /* an earlier thread was detached, and its identifier is used again */
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

/* Records the start or end of a thread, if threads may call MPI. The calls in between are then
 * ordered with those of its creator. */
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
    uint32_t number; /* 0: not a thread of the application */
} ThreadStart;

/* Data of threads that run. A thread does not free its own: its first free() makes the C library
 * reserve 64 MB of addresses. The creator of the next thread frees it. */
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

/* Whether the thread is not the application's: a thread of MPI or Wend, or a thread that such a
 * thread or a constructor of a library creates (UCX has one). Wend's constructor is among the last,
 * and the program begins after it. */
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
    if (number != 0)
        note_created();
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
