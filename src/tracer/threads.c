/* threads.c: numbers of threads.
 *
 * A thread's number is in the words of all that it makes, so it must not depend on which of several threads happens to call MPI first. Threads are
 * counted as the application creates them: one thread usually creates the others, and its order is the program's. 0 is the thread
 * that calls MPI first. Threads that never call MPI leave gaps. */
#include "threads.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "call.h"

static _Atomic uint32_t created;                  /* by the application, so far */
static uint32_t first;                            /* what the thread that has number 0 was created as */
static __thread __attribute__((tls_model("initial-exec"))) uint32_t created_as; /* 0: the initial thread, or it was not seen */

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

typedef struct { void *(*function)(void *); void *argument; uint32_t number; } Start;

static void *start(void *p)
{
    Start s = *(Start *)p;
    free(p);
    created_as = s.number;
    return s.function(s.argument);
}

/* Threads of MPI's and of Wend's own are not the application's. */
static bool is_own(void *(*function)(void *))
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));
    return (wend_thread && wend_thread->inside) || ((uintptr_t)function >= (uintptr_t)__ehdr_start && (uintptr_t)function < (uintptr_t)_end);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
    static int (*_Atomic real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    Start *s = is_own(function) ? NULL : malloc(sizeof *s);
    if (!s)
        return real(thread, attributes, function, argument);
    *s = (Start){function, argument, atomic_fetch_add(&created, 1) + 1};
    int rc = real(thread, attributes, start, s);
    if (rc != 0)
        free(s);
    return rc;
}
