/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-numbers.c: numbers of threads.
 *
 * A thread's number is in the words of all objects that it makes. So it must not depend on which of
 * several threads calls MPI first, nor on which of several threads creates another one first. It
 * follows from the thread's creator, and from how many threads that one had created. Number 0 is
 * the thread that calls MPI first. If that is not the initial thread, the two exchange their
 * numbers. Threads that never call MPI leave gaps. */

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "lib/record/functions.h"
#include "recorder.h"
#include "thread-birth.h"

static _Atomic uint32_t created; /* number of threads that the application has created */
static _Atomic uint32_t unseen;  /* number of threads whose creation was not seen */
/* A recording without this says nothing of it, and a replay counts threads (threads_by_count). */
static _Atomic bool by_creator;
/* the birth of the thread that has number 0 */
static _Atomic uint32_t first;
#define TLS static __thread __attribute__((tls_model("initial-exec")))
/* 0: the initial thread, or its creation was not seen */
TLS uint32_t created_as;
TLS uint32_t created_by_it;
/* the number that a proxy gives to the thread that it creates next; 0: none */
TLS uint32_t given;
/* a thread of MPI or of Wend */
TLS bool not_counted;

static bool counting;
static pthread_t initial;
static bool initial_known;

void thread_numbers_open(void)
{
    counting = true;
    initial = pthread_self();
    initial_known = gettid() == getpid();
}

static void note_created(void)
{
    State *s = state();
    if (atomic_exchange(&s->threaded, true))
        return;
    state_order_threads();
}

/* Counts the thread that CREATOR creates as its N-th one, and returns its number. */
static uint32_t number_for(uint32_t creator, uint32_t n)
{
    uint32_t count = atomic_fetch_add(&created, 1) + 1;
    note_created();
    if (state()->threads_by_count)
        return count;
    uint32_t number = given ? given : thread_birth(creator, n);
    given = 0;
    if (number != count)
        atomic_store(&by_creator, true);
    return number ? number : THREADS_MOST - 1;
}

static uint32_t number_unseen(void)
{
    return number_for(CREATOR_UNKNOWN, atomic_fetch_add(&unseen, 1) + 1);
}

/* The number of the next thread that the calling thread creates. */
static uint32_t next_number(void)
{
    uint32_t birth, n = ++created_by_it;
    thread_number_birth(&birth);
    return thread_birth(birth, n) ? number_for(birth, n) : number_unseen();
}

bool thread_number_birth(uint32_t *birth)
{
    if (created_as == 0 && !not_counted && gettid() != getpid())
        /* made by clone, or by a module that bypasses Wend */
        created_as = number_unseen();
    *birth = created_as;
    return !not_counted;
}

uint32_t thread_number_of(uint32_t birth)
{
    uint32_t zero = atomic_load_explicit(&first, memory_order_relaxed);
    return birth == zero ? 0 : birth == 0 ? zero : birth;
}

uint32_t thread_number_new(bool is_first)
{
    uint32_t birth;
    if (!thread_number_birth(&birth) && created_as == 0)
        /* a callback of the application in a thread of MPI */
        birth = created_as = number_unseen();
    if (is_first)
        atomic_store(&first, birth);
    return thread_number_of(birth);
}

bool thread_numbers_by_creator(void)
{
    return by_creator;
}

/* Threads that are not joined yet, by the C library's identifier. */
typedef struct {
    pthread_t thread;
    uint32_t birth;
} Created;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static struct {
    Created *at;
    size_t n, cap;
    size_t coming; /* threads that will be added */
} unjoined;

/* The place of THREAD in the list; as many as there are: it is not in it. */
static size_t find(pthread_t thread)
{
    size_t i = unjoined.n;
    while (i > 0 && !pthread_equal(unjoined.at[i - 1].thread, thread))
        i--;
    return i > 0 ? i - 1 : unjoined.n;
}

/* Makes room for a thread, which cannot do so itself (STARTED). */
static void expect(void)
{
    pthread_mutex_lock(&lock);
    unjoined.coming++;
    if (unjoined.n + unjoined.coming > unjoined.cap) {
        size_t cap = 2 * unjoined.cap + 16;
        Created *grown = realloc(unjoined.at, cap * sizeof *grown);
        if (grown) {
            unjoined.at = grown;
            unjoined.cap = cap;
        }
    }
    pthread_mutex_unlock(&lock);
}

static void add(pthread_t thread, uint32_t birth)
{
    size_t at = find(thread); /* an earlier thread was detached, and its identifier is used again */
    unjoined.coming--;
    if (at == unjoined.cap)
        return;
    unjoined.at[at] = (Created){thread, birth};
    unjoined.n += at == unjoined.n;
}

static void take_out(size_t at)
{
    if (at < unjoined.n)
        unjoined.at[at] = unjoined.at[--unjoined.n];
}

/* The birth of THREAD, which is not joined yet. False: it is no thread of the application. */
static bool birth_of(pthread_t thread, uint32_t *birth)
{
    *birth = 0;
    if (initial_known && pthread_equal(thread, initial))
        return true;
    pthread_mutex_lock(&lock);
    size_t at = find(thread);
    bool found = at < unjoined.n;
    if (found)
        *birth = unjoined.at[at].birth;
    pthread_mutex_unlock(&lock);
    return found;
}

/* THREAD is joined, and its identifier may already be that of another thread. */
static void forget(pthread_t thread, uint32_t birth)
{
    pthread_mutex_lock(&lock);
    size_t at = find(thread);
    if (at < unjoined.n && unjoined.at[at].birth == birth)
        take_out(at);
    pthread_mutex_unlock(&lock);
}

/* Records the start or end of a thread, if threads may call MPI. The calls in between are then
 * ordered with those of its creator. */
static void tell(int function, int64_t word)
{
    if (state()->thread_level >= MPI_THREAD_SERIALIZED && !state()->finished)
        call_pseudo(function, &word, 1, NULL, 0);
}

typedef struct ThreadStart {
    struct ThreadStart *next;
    void *(*function)(void *);
    int (*c11_function)(void *); /* NULL: FUNCTION */
    void *argument;
    uint32_t birth;    /* 0: not a thread of the application */
    bool listed;       /* in UNJOINED, or it was */
    _Atomic int users; /* the thread, and its creator */
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

/* Lists the thread before its function runs and before its creator goes on: then both of these may
 * tell others of it, which join it. */
static void list(ThreadStart *s, pthread_t thread)
{
    pthread_mutex_lock(&lock);
    if (s->birth == 0)
        take_out(find(thread)); /* its identifier was that of a thread that was detached */
    else if (!s->listed)
        add(thread, s->birth);
    s->listed = true;
    pthread_mutex_unlock(&lock);
}

static void begin(ThreadStart *s)
{
    created_as = s->birth;
    not_counted = s->birth == 0;
    list(s, pthread_self());
    if (atomic_fetch_sub(&s->users, 1) == 1) {
        s->next = atomic_load(&started);
        while (!atomic_compare_exchange_weak(&started, &s->next, s))
            ;
    }
}

static void *start(void *p)
{
    const ThreadStart *s = p;
    void *(*function)(void *) = s->function, *argument = s->argument;
    begin(p);
    return function(argument);
}

static int start_c11(void *p)
{
    const ThreadStart *s = p;
    int (*function)(void *) = s->c11_function;
    void *argument = s->argument;
    begin(p);
    return function(argument);
}

/* Whether the thread is not the application's: a thread of MPI or Wend, or a thread that such a
 * thread or a constructor of a library creates (UCX has one). Wend's constructor is among the last,
 * and the program begins after it. */
static bool is_own(uintptr_t function)
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
        _end[] __attribute__((visibility("hidden")));
    return !counting || not_counted || (this_thread && this_thread->inside)
           || (function >= (uintptr_t)__ehdr_start && function < (uintptr_t)_end);
}

/* The data of a thread that is created next. NULL: there is no memory. */
static ThreadStart *before_creation(ThreadStart data)
{
    free_started();
    ThreadStart *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    *s = data;
    atomic_init(&s->users, 2);
    if (!is_own(s->function ? (uintptr_t)s->function : (uintptr_t)s->c11_function)) {
        s->birth = next_number();
        expect();
        tell(WEND_FN_wend_start, thread_number_of(s->birth));
    }
    return s;
}

static void after_creation(ThreadStart *s, pthread_t thread, bool succeeded)
{
    if (succeeded) {
        list(s, thread);
    } else if (s->birth != 0) {
        pthread_mutex_lock(&lock);
        unjoined.coming--;
        pthread_mutex_unlock(&lock);
    }
    if (!succeeded || atomic_fetch_sub(&s->users, 1) == 1)
        free(s);
}

static void *next_function(const char *name, void *_Atomic *known)
{
    if (!*known)
        *known = dlsym(RTLD_NEXT, name);
    return *known;
}

#define INTERPOSED __attribute__((visibility("default")))

INTERPOSED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*function)(void *), void *argument)
{
    static void *_Atomic known;
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))next_function(
            "pthread_create", &known);
    ThreadStart *s = before_creation((ThreadStart){.function = function, .argument = argument});
    if (!s)
        return real(thread, attributes, function, argument);
    int rc = real(thread, attributes, start, s);
    after_creation(s, rc == 0 ? *thread : initial, rc == 0);
    return rc;
}

INTERPOSED int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    static void *_Atomic known;
    int (*real)(thrd_t *, thrd_start_t, void *) =
        (int (*)(thrd_t *, thrd_start_t, void *))next_function("thrd_create", &known);
    ThreadStart *s =
        state()->threads_by_count
            ? NULL
            : before_creation((ThreadStart){.c11_function = function, .argument = argument});
    if (!s)
        return real(thread, function, argument);
    if (s->birth != 0)
        atomic_store(&by_creator, true);
    int rc = real(thread, start_c11, s);
    after_creation(s, rc == thrd_success ? *thread : initial, rc == thrd_success);
    return rc;
}

/* A thread that may be joined next. */
typedef struct {
    pthread_t thread;
    uint32_t birth;
    bool known;
    bool plain; /* pthread_join */
} Joining;

static Joining before_join(pthread_t thread)
{
    Joining j = {.thread = thread};
    j.known = birth_of(thread, &j.birth);
    return j;
}

static int after_join(const Joining *j, int rc)
{
    if (rc != 0 || !j->known)
        return rc;
    uint32_t number = thread_number_of(j->birth);
    bool counted = j->plain && j->birth != 0;
    forget(j->thread, j->birth);
    if (!counted || number != j->birth)
        atomic_store(&by_creator, true);
    if (!state()->threads_by_count)
        tell(WEND_FN_wend_join, number);
    else if (counted)
        tell(WEND_FN_wend_join, j->birth);
    return rc;
}

INTERPOSED int pthread_join(pthread_t thread, void **result)
{
    static void *_Atomic known;
    int (*real)(pthread_t, void **) =
        (int (*)(pthread_t, void **))next_function("pthread_join", &known);
    Joining j = before_join(thread);
    j.plain = true;
    return after_join(&j, real(thread, result));
}

INTERPOSED int pthread_tryjoin_np(pthread_t thread, void **result)
{
    static void *_Atomic known;
    int (*real)(pthread_t, void **) =
        (int (*)(pthread_t, void **))next_function("pthread_tryjoin_np", &known);
    Joining j = before_join(thread);
    return after_join(&j, real(thread, result));
}

INTERPOSED int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    static void *_Atomic known;
    int (*real)(pthread_t, void **, const struct timespec *) =
        (int (*)(pthread_t, void **, const struct timespec *))next_function("pthread_timedjoin_np",
                                                                            &known);
    Joining j = before_join(thread);
    return after_join(&j, real(thread, result, until));
}

/* of glibc 2.31 */
int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                         const struct timespec *until);
INTERPOSED int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                                    const struct timespec *until)
{
    static void *_Atomic known;
    int (*real)(pthread_t, void **, clockid_t, const struct timespec *) =
        (int (*)(pthread_t, void **, clockid_t, const struct timespec *))next_function(
            "pthread_clockjoin_np", &known);
    Joining j = before_join(thread);
    return after_join(&j, real(thread, result, clock, until));
}

INTERPOSED int thrd_join(thrd_t thread, int *result)
{
    static void *_Atomic known;
    int (*real)(thrd_t, int *) = (int (*)(thrd_t, int *))next_function("thrd_join", &known);
    Joining j = before_join(thread);
    int rc = real(thread, result);
    after_join(&j, rc == thrd_success ? 0 : 1);
    return rc;
}

/* -- what a proxy says, by weak references -- */

/* The calling thread creates the thread with that number next. */
INTERPOSED void wend_proxy_creates(int number);
void wend_proxy_creates(int number)
{
    given = number > 0 && (uint32_t)number < THREADS_MOST ? (uint32_t)number : 0;
}

/* The application joined the thread with number 0 here. In the proxy it is the main thread. */
INTERPOSED void wend_proxy_joins_main(void);
void wend_proxy_joins_main(void)
{
    atomic_store(&by_creator, true);
    tell(WEND_FN_wend_join, 0);
}
